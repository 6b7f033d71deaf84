// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The two ends of a channel: one end sends, closes, waits, moves to another
// task or is just destroyed while the other end does the same. The first seven
// models have the names of Tokio's models.

#include <atomic>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/future/block_on.h"
#include "rouse/future/poll_fn.h"
#include "rouse/sync/oneshot/oneshot.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using model::Require;
using model::Task;
using model::Thread;
using oneshot::Channel;
using oneshot::Receiver;
using oneshot::Sender;

// Counts the live instances, so that a message that is destroyed twice, or
// never, is found.
class Message {
 public:
  explicit Message(Atomic<int>* live) : live_(live) { Add(1); }
  Message(Message&& other) noexcept
      : live_(std::exchange(other.live_, nullptr)) {}
  Message& operator=(Message&& other) noexcept {
    std::swap(live_, other.live_);
    return *this;
  }
  ~Message() { Add(-1); }

  bool IsWhole() const { return live_ != nullptr; }

 private:
  void Add(int count) {
    if (live_ != nullptr) live_->fetch_add(count, std::memory_order_relaxed);
  }

  Atomic<int>* live_;
};

// Polls for the end of the receiver without a future, which would take the
// waker back.
bool PollClosed(Task& task, Sender<int>& tx) {
  auto poll = [&tx](Context& cx) { return tx.PollClosed(cx); };
  return task.Poll(PollFn(poll)).IsReady();
}

// For a thread: calls `f` with the end, and then destroys the end.
template <class End, class F>
auto With(End end, F f) {
  return [end = std::optional<End>(std::move(end)), f]() mutable {
    f(*end);
    end.reset();
  };
}

MODEL_TEST(Oneshot, Smoke) {
  auto [tx, rx] = Channel<int>();
  Thread sending(With(std::move(tx), [](auto& tx) { Require(tx.Send(1)); }));
  const absl::StatusOr<int> value = BlockOn(rx);
  Require(value.ok() && *value == 1);
}

MODEL_TEST(Oneshot, ChangingRxTask, .spurious_failures = 0) {
  Task first;
  Task second;
  auto [tx, rx] = Channel<int>();
  Thread sending(With(std::move(tx), [](auto& tx) { Require(tx.Send(1)); }));
  if (first.Poll(rx).IsReady() || second.Poll(rx).IsReady()) return;
  sending.Join();
  Require(second.woken());
  const absl::StatusOr<int> value = rx.TryReceive();
  Require(value.ok() && *value == 1);
}

// Trap C6.
MODEL_TEST(Oneshot, TryRecvClose) {
  auto [tx, rx] = Channel<int>();
  bool sent = false;
  Thread sending(With(std::move(tx), [&sent](auto& tx) { sent = tx.Send(1); }));
  rx.Close();
  const absl::StatusOr<int> value = rx.TryReceive();
  sending.Join();
  Require(sent == value.ok());
  if (!sent) {
    Require(value.status().code() == absl::StatusCode::kCancelled);
  }
}

MODEL_TEST(Oneshot, RecvClosed) {
  auto [tx, rx] = Channel<int>();
  Thread going(With(std::move(tx), [](auto&) {}));
  const absl::StatusOr<int> value = BlockOn(rx);
  Require(value.status().code() == absl::StatusCode::kCancelled);
}

MODEL_TEST(Oneshot, ChangingTxTask, .spurious_failures = 0) {
  Task first;
  Task second;
  Cell<int> data(0);
  auto [tx, rx] = Channel<int>();
  Thread going(With(std::move(rx), [&data](auto&) { data.Write() = 1; }));
  if (!PollClosed(first, tx) && !PollClosed(second, tx)) {
    going.Join();
    Require(second.woken());
    Require(PollClosed(second, tx));
  }
  Require(data.Read() == 1);
}

// Trap C6: the message is destroyed with the receiver, or is given back.
MODEL_TEST(Oneshot, CheckingTxSendOkNotDrop) {
  Atomic<int> live(0);
  {
    auto [tx, rx] = Channel<Message>();
    Thread going(With(std::move(rx), [](auto&) {}));
    Message message(&live);
    if (tx.Send(std::move(message))) {
      going.Join();
      Require(live.load(std::memory_order_relaxed) == 0);
    } else {
      // NOLINTNEXTLINE(bugprone-use-after-move): it is what it was
      Require(message.IsWhole());
    }
  }
  Require(live.load(std::memory_order_relaxed) == 0);
}

MODEL_TEST(Oneshot, DropRxAfterPoll) {
  Task task;
  Atomic<int> live(0);
  {
    auto [tx, rx] = Channel<Message>();
    Thread sending(With(std::move(tx), [&live](auto& tx) {
      static_cast<void>(tx.Send(Message(&live)));
    }));
    Receiver<Message> going = std::move(rx);
    static_cast<void>(task.Poll(going));
  }
  Require(live.load(std::memory_order_relaxed) == 0);
}

MODEL_TEST(Oneshot, AReceivedValueIsNeverTorn) {
  Cell<int> data(0);
  auto [tx, rx] = Channel<int>();
  Thread sending(With(std::move(tx), [&data](auto& tx) {
    data.Write() = 1;
    Require(tx.Send(1));
  }));
  if (rx.TryReceive().ok()) Require(data.Read() == 1);
}

MODEL_TEST(Oneshot, TheDestructionOfTheSenderIsSeenOrWakes) {
  Task task;
  Cell<int> data(0);
  auto [tx, rx] = Channel<int>();
  Thread going(With(std::move(tx), [&data](auto&) { data.Write() = 1; }));
  if (task.Poll(rx).IsPending()) {
    going.Join();
    Require(task.woken());
    Require(task.Poll(rx).IsReady());
  }
  Require(data.Read() == 1);
}

// Each end has a waker in the channel, and both ends are destroyed at once.
MODEL_TEST(Oneshot, BothEndsWaitAndAreDestroyed) {
  Task sender;
  Task receiver;
  auto [tx, rx] = Channel<int>();
  Require(!PollClosed(sender, tx));
  Require(receiver.Poll(rx).IsPending());
  Thread going(With(std::move(tx), [](auto&) {}));
  {
    const Receiver<int> dropped = std::move(rx);
  }
  going.Join();
  Require(sender.woken() != receiver.woken());
}

MODEL_TEST(Oneshot, BothEndsWaitAtOnce) {
  Task sender;
  Task receiver;
  auto [tx, rx] = Channel<int>();
  Thread waiting(With(std::move(tx), [&sender](auto& tx) {
    Require(!PollClosed(sender, tx));
    Require(tx.Send(1));
  }));
  const bool ready = receiver.Poll(rx).IsReady();
  waiting.Join();
  Require(ready || receiver.woken());
  Require(!sender.woken());
}

// The waker that is taken back is not called, and is not dropped twice.
MODEL_TEST(Oneshot, AClosedIsCancelledWhileTheReceiverIsDestroyed,
           .spurious_failures = 0) {
  Task task;
  Cell<int> data(0);
  auto [tx, rx] = Channel<int>();
  Thread going(With(std::move(rx), [&data](auto& rx) {
    data.Write() = 1;
    rx.Close();
  }));
  {
    auto closed = tx.Closed();
    static_cast<void>(task.Poll(closed));
  }
  {
    Task next;
    auto closed = tx.Closed();
    if (next.Poll(closed).IsReady()) {
      Require(data.Read() == 1);
    } else {
      going.Join();
      Require(next.woken());
    }
  }
}

// The receiver takes back its first waker after the sender has read the words
// and before the sender's last step.
MODEL_TEST(Oneshot, AWakerIsReplacedWhileTheSenderIsDestroyed) {
  Task first;
  Task second;
  auto [tx, rx] = Channel<int>();
  Require(first.Poll(rx).IsPending());
  Thread going(With(std::move(tx), [](auto&) {}));
  if (second.Poll(rx).IsPending()) {
    going.Join();
    Require(second.woken());
    Require(!first.woken());
  }
}

// Trap C6: a waiting receiver closes while the sender sends.
MODEL_TEST(Oneshot, AWaitingReceiverIsClosedDuringASend) {
  Task task;
  Atomic<int> live(0);
  {
    auto [tx, rx] = Channel<Message>();
    Require(task.Poll(rx).IsPending());
    bool sent = false;
    Thread sending(With(std::move(tx), [&live, &sent](auto& tx) {
      sent = tx.Send(Message(&live));
    }));
    rx.Close();
    const bool received = rx.TryReceive().ok();
    sending.Join();
    Require(sent == received);
    Require(task.woken());
  }
  Require(live.load(std::memory_order_relaxed) == 0);
}

MODEL_TEST(Oneshot, IsClosedShowsWhatTheReceiverDid) {
  Cell<int> data(0);
  auto [tx, rx] = Channel<int>();
  Thread closing(With(std::move(rx), [&data](auto& rx) {
    data.Write() = 1;
    rx.Close();
  }));
  if (tx.IsClosed()) Require(data.Read() == 1);
}

MODEL_MUTANTS(Oneshot, "sync/oneshot/");

}  // namespace
}  // namespace rouse
