// Pairs of tasks that wait for each other, in each direction.

#include <atomic>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "rouse/benchmarks/harness.h"
#include "rouse/benchmarks/signal.h"
#include "rouse/future/co.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::bench {
namespace {

constexpr size_t kPairs = 1'000;

Co<> Pong(Signal ping, Signal pong) {
  co_await std::move(ping).Wait();
  pong.Send();
}

// Spawns a partner and exchanges two signals with it.
Co<> Ping() {
  const Signal ping;
  Signal pong;
  Spawn(Pong(ping, pong));
  ping.Send();
  co_await std::move(pong).Wait();
}

// The last of `remaining` tasks tells `done`.
Co<> PingAndCount(std::atomic<size_t>& remaining, absl::Notification& done) {
  co_await Ping();
  // Relaxed: the notification orders.
  if (remaining.fetch_sub(1, std::memory_order_relaxed) == 1) done.Notify();
}

Co<> SpawnPairs(std::atomic<size_t>& remaining, absl::Notification& done) {
  for (size_t i = 0; i < kPairs; ++i) Spawn(PingAndCount(remaining, done));
  co_return;
}

Co<> SpawnAndJoinPairs() {
  std::vector<JoinHandle<void>> handles;
  handles.reserve(kPairs);
  for (size_t i = 0; i < kPairs; ++i) handles.push_back(Spawn(Ping()));
  for (JoinHandle<void>& handle : handles) (void)co_await handle;
}

// 1,000 pairs, spawned from a task; an operation is a pair.
void PingPong(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kPairs, [&runtime] {
    std::atomic<size_t> remaining{kPairs};
    absl::Notification done;
    runtime.Spawn(SpawnPairs(remaining, done));
    done.WaitForNotification();
  });
}

// The same pairs, joined.
void CurrentThreadPingPong(const Bench& bench) {
  Runtime runtime = bench.MakeRuntime();
  bench.Measure(kPairs, [&runtime] { runtime.BlockOn(SpawnAndJoinPairs()); });
}

// What stands for the channel of requests: each is the signal that answers it.
// It never holds more than one.
class Requests {
 public:
  class NextFuture {
   public:
    explicit NextFuture(Requests& requests) : requests_(requests) {}

    PollResult<Signal> Poll(Context& cx) {
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      PollResult<Signal> next = requests_.TryTake();
      if (next.IsPending()) {
        requests_.server_.Register(cx.waker());
        next = requests_.TryTake();
      }
      if (next.IsReady()) unit->MadeProgress();
      return next;
    }

   private:
    Requests& requests_;
  };

  void Send(Signal reply) {
    {
      const absl::MutexLock lock(&mu_);
      queue_.push_back(std::move(reply));
    }
    server_.Wake();
  }

  NextFuture Next() { return NextFuture(*this); }

 private:
  PollResult<Signal> TryTake() {
    const absl::MutexLock lock(&mu_);
    if (queue_.empty()) return kPending;
    Signal next = std::move(queue_.front());
    queue_.pop_front();
    return next;
  }

  absl::Mutex mu_;
  std::deque<Signal> queue_ ABSL_GUARDED_BY(mu_);
  AtomicWaker server_;
};

Co<> Serve(Requests& requests) {
  for (;;) {
    const Signal reply = co_await requests.Next();
    reply.Send();
  }
}

Co<> Ask(Requests& requests, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Signal reply;
    requests.Send(reply);
    co_await std::move(reply).Wait();
  }
}

// A task answers 1,000 requests, one after the other, of the thread that is in
// BlockOn; `_worker`: of another task.
void RequestReply(const Bench& bench) {
  constexpr size_t kRequests = 1'000;
  Requests requests;
  Runtime runtime = bench.MakeRuntime();
  runtime.Spawn(Serve(requests));
  bench.Measure(kRequests, [&] {
    if (bench.Is("request_reply_worker")) {
      bench.RunRoot(runtime, Ask(requests, kRequests));
    } else {
      runtime.BlockOn(Ask(requests, kRequests));
    }
  });
}

}  // namespace

bool RunPingPongWorkload(const Bench& bench) {
  if (bench.Is("ping_pong")) {
    PingPong(bench);
  } else if (bench.Is("ct_ping_pong")) {
    CurrentThreadPingPong(bench);
  } else if (bench.Is("request_reply") || bench.Is("request_reply_worker") ||
             bench.Is("request_reply_ct")) {
    RequestReply(bench);
  } else {
    return false;
  }
  return true;
}

}  // namespace rouse::bench
