// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// core_paths PATH COUNT: performs one core path COUNT times, on one thread.
// core_paths: prints the names of all paths.
//
// For check.py, which counts the instructions of two runs that differ only in
// COUNT. The difference of the counts, divided by the
// difference of COUNT, is the cost of one operation, whatever the start of the
// program costs.

#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "rouse/base/frame_pool.h"
#include "rouse/benchmarks/echo.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/ready.h"
#include "rouse/future/select.h"
#include "rouse/future/yield.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/fork.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/broadcast.h"
#include "rouse/sync/mpmc.h"
#include "rouse/sync/mpsc.h"
#include "rouse/sync/mutex.h"
#include "rouse/sync/notify.h"
#include "rouse/sync/oneshot.h"
#include "rouse/sync/semaphore.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// Keeps the compiler from removing the computation of `value`.
template <class T>
void KeepAlive(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

Co<int> Seven() { co_return 7; }

Co<> SpawnAndJoin(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    JoinHandle<int> handle = Spawn(Seven());
    CHECK_EQ(*(co_await handle), 7);
  }
}

// A task that spawns many tasks before it joins any, as `spawn_join_worker`
// does. All but the first have ended when they are joined.
Co<> SpawnAllAndJoin(int64_t count) {
  auto spawns = [count]() -> Co<> {
    constexpr int64_t kTasks = 1'000;
    std::vector<JoinHandle<int>> handles;
    handles.reserve(kTasks);
    for (int64_t left = count; left > 0; left -= kTasks) {
      for (int64_t i = 0; i < std::min(left, kTasks); ++i) {
        handles.push_back(Spawn(Seven()));
      }
      for (JoinHandle<int>& handle : handles) CHECK_EQ(*(co_await handle), 7);
      handles.clear();
    }
  };
  JoinHandle<void> task = Spawn(std::move(spawns));
  (void)co_await task;
}

Co<> YieldTimes(int64_t count) {
  for (int64_t i = 0; i < count; ++i) co_await Yield();
}

// Yields in many tasks at once, so that few of the yields check for events.
Co<> YieldInTasks(int64_t count) {
  constexpr int64_t kTasks = 200;
  std::vector<JoinHandle<void>> handles;
  for (int64_t i = 0; i < kTasks; ++i) {
    handles.push_back(Spawn(YieldTimes(count / kTasks)));
  }
  for (JoinHandle<void>& handle : handles) (void)co_await handle;
}

Co<> YieldInTask(int64_t count) {
  auto yields = [count]() -> Co<> {
    for (int64_t i = 0; i < count; ++i) co_await Yield();
  };
  JoinHandle<void> task = Spawn(std::move(yields));
  (void)co_await task;
}

Co<> CallCoroutine(int64_t count) {
  for (int64_t i = 0; i < count; ++i) CHECK_EQ(co_await Seven(), 7);
}

// Returns `forks` + 1, after that many forks.
Co<int64_t> ForkTree(int64_t forks) {
  if (forks == 0) co_return 1;
  const int64_t left = (forks - 1) / 2;
  const auto [a, b] = co_await Fork(ForkTree(left), ForkTree(forks - 1 - left));
  co_return a + b;
}

Co<> ForkOfTwo(int64_t count) { CHECK_EQ(co_await ForkTree(count), count + 1); }

Co<> AllocateFrame(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    void* const frame = FramePool::Allocate(256);
    KeepAlive(frame);
    FramePool::Free(frame, 256);
  }
  co_return;
}

Co<> RegisterAndWake(int64_t count) {
  AtomicWaker cell;
  const Waker waker;
  for (int64_t i = 0; i < count; ++i) {
    cell.Register(waker);
    cell.Wake();
  }
  co_return;
}

Co<> BoundedChannel(int64_t count) {
  auto [sender, receiver] = mpsc::Channel<int64_t>(16);
  for (int64_t i = 0; i < count; ++i) {
    CHECK((co_await sender.Send(i)).ok());
    CHECK_EQ(*(co_await receiver.Receive()), i);
  }
}

Co<> UnboundedChannel(int64_t count) {
  auto [sender, receiver] = mpsc::UnboundedChannel<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    CHECK(sender.Send(i).ok());
    CHECK_EQ(*(co_await receiver.Receive()), i);
  }
}

Co<> BoundedMpmcChannel(int64_t count) {
  auto [sender, receiver] = mpmc::Channel<int64_t>(16);
  for (int64_t i = 0; i < count; ++i) {
    CHECK((co_await sender.Send(i)).ok());
    CHECK_EQ(*(co_await receiver.Receive()), i);
  }
}

Co<> UnboundedMpmcChannel(int64_t count) {
  auto [sender, receiver] = mpmc::UnboundedChannel<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    CHECK(sender.Send(i).ok());
    CHECK_EQ(*(co_await receiver.Receive()), i);
  }
}

Co<> OneshotChannel(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    auto [sender, receiver] = oneshot::Channel<int64_t>();
    (void)std::move(sender).Send(i);
    CHECK_EQ(*(co_await receiver), i);
  }
}

Co<> BroadcastChannel(int64_t count) {
  broadcast::Sender<int64_t> sender(16);
  broadcast::Receiver<int64_t> receiver = sender.Subscribe();
  for (int64_t i = 0; i < count; ++i) {
    (void)sender.Send(i);
    CHECK_EQ(*(co_await receiver.Receive()), i);
  }
}

Co<> LockMutex(int64_t count) {
  Mutex<int64_t> mutex(0);
  for (int64_t i = 0; i < count; ++i) ++*(co_await mutex.Lock());
}

Co<> AcquirePermit(int64_t count) {
  Semaphore semaphore(1);
  for (int64_t i = 0; i < count; ++i) {
    KeepAlive(co_await semaphore.Acquire());
  }
}

Co<> NotifyOne(int64_t count) {
  Notify notify;
  for (int64_t i = 0; i < count; ++i) {
    notify.NotifyOne();
    co_await notify.Notified();
  }
}

Co<> SelectOfTwo(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    KeepAlive(co_await Select(Ready(1), Ready(2)));
  }
}

Co<> JoinOfTwo(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    KeepAlive(co_await Join(Ready(1), Ready(2)));
  }
}

// Polls once, which arms the timer, and cancels the timer.
Co<> ArmAndCancelSleep(int64_t count) {
  const Waker waker;
  for (int64_t i = 0; i < count; ++i) {
    Context cx(waker);
    Sleep sleep(absl::Seconds(60));
    CHECK(sleep.Poll(cx).IsPending());
  }
  co_return;
}

Co<> ResetSleep(int64_t count) {
  const Waker waker;
  Context cx(waker);
  Sleep sleep(absl::Seconds(60));
  CHECK(sleep.Poll(cx).IsPending());
  for (int64_t i = 0; i < count; ++i) sleep.Reset(absl::Seconds(60 + i));
  co_return;
}

// Sends a byte through a socket pair, waits until the byte can be read, and
// reads it: the dispatch of one event.
Co<> DispatchReadiness(int64_t count) {
  int fds[2];
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  const OwnedFd writer(fds[0]);
  absl::StatusOr<reactor::AsyncFd<OwnedFd>> reader =
      reactor::AsyncFd<OwnedFd>::Create(OwnedFd(fds[1]),
                                        reactor::Interest::kReadable);
  CHECK(reader.ok());
  char byte = 0;
  const auto receive = [&] { return recv(reader->fd(), &byte, 1, 0); };
  for (int64_t i = 0; i < count; ++i) {
    // The first attempt finds nothing, and clears the readiness.
    auto read = reader->Io(reactor::Direction::kRead, "recv", receive);
    const Waker waker;
    Context cx(waker);
    CHECK(read.Poll(cx).IsPending());
    CHECK_EQ(send(writer.get(), &byte, 1, 0), 1);
    CHECK((co_await read).ok());
  }
}

// Sends requests over 64 connections, one at a time over each, and receives the
// echoes. The clients use bare system calls, and cost little beside the server.
Co<> EchoRequests(int64_t count) {
  constexpr int64_t kConnections = 64;
  absl::StatusOr<TcpListener> listener =
      TcpListener::Bind(SocketAddr::Localhost(0));
  CHECK_OK(listener);
  const SocketAddr addr = *listener->local_addr();
  std::vector<OwnedFd> clients;
  for (int64_t i = 0; i < kConnections; ++i) {
    OwnedFd& client = clients.emplace_back(socket(AF_INET, SOCK_STREAM, 0));
    CHECK_EQ(connect(client.get(), addr.data(), addr.size()), 0);
    Spawn(bench::Echo(std::move((co_await listener->Accept())->stream)));
  }
  char request[64] = {};
  char reply[64];
  while (count > 0) {
    // The last round may need only some of the clients.
    clients.resize(std::min(count, kConnections));
    count -= static_cast<int64_t>(clients.size());
    for (const OwnedFd& client : clients) {
      CHECK_EQ(send(client.get(), request, sizeof request, 0),
               static_cast<ssize_t>(sizeof request));
    }
    for (const OwnedFd& client : clients) {
      ssize_t size;
      while ((size = recv(client.get(), reply, sizeof reply, MSG_DONTWAIT)) <
             0) {
        CHECK_EQ(errno, EAGAIN);
        co_await Yield();
      }
      CHECK_EQ(size, static_cast<ssize_t>(sizeof request));
    }
  }
}

struct Path {
  const char* name;
  Co<> (*run)(int64_t count);
};

constexpr Path kPaths[] = {
    {"allocate_frame", &AllocateFrame},
    {"arm_and_cancel_sleep", &ArmAndCancelSleep},
    {"bounded_channel", &BoundedChannel},
    {"bounded_mpmc_channel", &BoundedMpmcChannel},
    {"broadcast_channel", &BroadcastChannel},
    {"call_coroutine", &CallCoroutine},
    {"dispatch_readiness", &DispatchReadiness},
    {"echo", &EchoRequests},
    {"fork_of_two", &ForkOfTwo},
    {"join_of_two", &JoinOfTwo},
    {"lock_mutex", &LockMutex},
    {"notify_one", &NotifyOne},
    {"oneshot_channel", &OneshotChannel},
    {"register_and_wake", &RegisterAndWake},
    {"reset_sleep", &ResetSleep},
    {"acquire_permit", &AcquirePermit},
    {"select_of_two", &SelectOfTwo},
    {"spawn_all_and_join", &SpawnAllAndJoin},
    {"spawn_and_join", &SpawnAndJoin},
    {"unbounded_channel", &UnboundedChannel},
    {"unbounded_mpmc_channel", &UnboundedMpmcChannel},
    {"yield", &YieldInTask},
    {"yield_in_tasks", &YieldInTasks},
};

int Main(const std::vector<std::string_view>& args) {
  if (args.empty()) {
    for (const Path& path : kPaths) std::puts(path.name);
    return 0;
  }
  int64_t count;
  if (args.size() == 2 && absl::SimpleAtoi(args[1], &count) && count >= 0) {
    for (const Path& path : kPaths) {
      if (path.name != args[0]) continue;
      Runtime runtime = Builder::CurrentThread().Build().value();
      runtime.BlockOn(path.run(count));
      return 0;
    }
  }
  std::fputs(
      "usage: core_paths [PATH COUNT]; without arguments it lists the "
      "paths\n",
      stderr);
  return 2;
}

}  // namespace
}  // namespace rouse

int main(int argc, char** argv) { return rouse::Main({argv + 1, argv + argc}); }
