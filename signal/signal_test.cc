// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/signal/signal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/hash/hash_testing.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/atomic.h"
#include "rouse/future/block_on.h"
#include "rouse/future/stream.h"
#include "rouse/reactor/background.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/signal/ctrl_c.h"
#include "rouse/signal/shutdown_signal.h"
#include "rouse/signal/signal_handler.h"
#include "rouse/signal/signal_kind.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using reactor::Reactor;

class SignalTest : public testing::Test {
 protected:
  SignalTest() : reactor_(Reactor::Create().value()) {}

  Signal Listen(int number) {
    return Signal::Create(number, reactor_.handle()).value();
  }

  void Turn() { ASSERT_TRUE(reactor_.Turn(absl::ZeroDuration()).ok()); }

  // Returns whether a signal has arrived.
  bool IsDue(Signal& signal) {
    Turn();
    auto recv = signal.Recv();
    const auto result = looker_.Poll(recv);
    return result.IsReady() && result->ok();
  }

  CountingWaker task_, other_, looker_;
  Reactor reactor_;
};

TEST_F(SignalTest, WakesAWaitingTask) {
  Signal signal = Listen(SIGUSR1);
  auto recv = signal.Recv();
  ASSERT_TRUE(task_.Poll(recv).IsPending());
  Turn();
  const int wakes = task_.wakes();
  ASSERT_TRUE(task_.Poll(recv).IsPending());
  ASSERT_EQ(raise(SIGUSR1), 0);
  Turn();
  EXPECT_EQ(task_.wakes(), wakes + 1);
  const auto result = task_.Poll(recv);
  ASSERT_TRUE(result.IsReady());
  EXPECT_TRUE(result->ok());
}

static_assert(Stream<Signal>);

TEST_F(SignalTest, IsAStreamOfItsNumber) {
  Signal signal = Listen(SIGUSR1);
  {
    auto next = Next(signal);
    ASSERT_TRUE(task_.Poll(next).IsPending());
  }
  EXPECT_EQ(task_.live(), 0);
  ASSERT_TRUE(task_.PollNext(signal).IsPending());
  ASSERT_EQ(raise(SIGUSR1), 0);
  Turn();
  EXPECT_EQ(task_.PollNext(signal).value(), SIGUSR1);
  ASSERT_TRUE(task_.PollNext(signal).IsPending());
  reactor_.Shutdown();
  EXPECT_EQ(task_.PollNext(signal).value(), std::nullopt);
}

TEST_F(SignalTest, EveryListenerIsNotified) {
  Signal first = Listen(SIGUSR1);
  Signal second = Listen(SIGUSR1);
  Reactor reactor = Reactor::Create().value();
  Signal elsewhere = Signal::Create(SIGUSR1, reactor.handle()).value();
  ASSERT_EQ(raise(SIGUSR1), 0);
  EXPECT_TRUE(IsDue(first));
  EXPECT_TRUE(IsDue(second));
  ASSERT_TRUE(reactor.Turn(absl::ZeroDuration()).ok());
  EXPECT_TRUE(IsDue(elsewhere));
  EXPECT_FALSE(IsDue(first));
}

TEST_F(SignalTest, OtherSignalsDoNotWake) {
  Signal signal = Listen(SIGUSR1);
  Signal other = Listen(SIGUSR2);
  ASSERT_EQ(raise(SIGUSR2), 0);
  EXPECT_FALSE(IsDue(signal));
  EXPECT_TRUE(IsDue(other));
}

TEST_F(SignalTest, SignalsWithoutAWaiterAreKeptOnce) {
  Signal signal = Listen(SIGUSR1);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(raise(SIGUSR1), 0);
  EXPECT_TRUE(IsDue(signal));
  EXPECT_FALSE(IsDue(signal));
  ASSERT_EQ(raise(SIGUSR1), 0);
  EXPECT_TRUE(IsDue(signal));
}

TEST_F(SignalTest, EarlierSignalsAreNotReported) {
  {
    const Signal signal = Listen(SIGUSR1);
    ASSERT_EQ(raise(SIGUSR1), 0);
  }
  Signal signal = Listen(SIGUSR1);
  EXPECT_FALSE(IsDue(signal));
}

TEST_F(SignalTest, ADestroyedRecvLosesNoSignal) {
  Signal signal = Listen(SIGUSR1);
  {
    auto recv = signal.Recv();
    ASSERT_TRUE(task_.Poll(recv).IsPending());
    ASSERT_EQ(raise(SIGUSR1), 0);
    Turn();
  }
  EXPECT_TRUE(IsDue(signal));
}

TEST_F(SignalTest, AMovedSignalKeepsListening) {
  Signal signal = Listen(SIGUSR1);
  ASSERT_EQ(raise(SIGUSR1), 0);
  Signal moved = std::move(signal);
  EXPECT_TRUE(IsDue(moved));
  EXPECT_EQ(moved.number(), SIGUSR1);
}

TEST_F(SignalTest, PollRecvWorksWithoutAFuture) {
  Signal signal = Listen(SIGUSR1);
  ASSERT_EQ(raise(SIGUSR1), 0);
  Turn();
  Context cx(task_.waker());
  EXPECT_TRUE(signal.PollRecv(cx).IsReady());
  EXPECT_TRUE(signal.PollRecv(cx).IsPending());
}

TEST_F(SignalTest, AnUnreceivableSignalIsInvalid) {
  for (const int number :
       {-1, 0, NSIG, SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        Signal::Create(number, reactor_.handle()).status()))
        << number;
  }
}

Atomic<int> handled{0};
void HandleBefore(int /*number*/) {
  // Relaxed: the handler runs on this thread, so nothing needs an order.
  handled.fetch_add(1, std::memory_order_relaxed);
  errno = EDOM;
}

TEST_F(SignalTest, ThePreviousHandlerIsStillCalled) {
  struct sigaction before = {};
  before.sa_handler = &HandleBefore;
  ASSERT_EQ(sigaction(SIGWINCH, &before, nullptr), 0);
  Signal signal = Listen(SIGWINCH);
  errno = 0;
  ASSERT_EQ(raise(SIGWINCH), 0);
  EXPECT_EQ(errno, 0) << "a handler must not be noticed";
  // Relaxed: raise() has returned after the handler.
  EXPECT_EQ(handled.load(std::memory_order_relaxed), 1);
  EXPECT_TRUE(IsDue(signal));
}

TEST_F(SignalTest, APreviousHandlerGetsItsArguments) {
  static Atomic<int> sender{0};
  struct sigaction before = {};
  before.sa_flags = SA_SIGINFO;
  before.sa_sigaction = [](int, siginfo_t* info, void*) {
    // Relaxed: the thread that raises the signal reads the value afterwards, so
    // nothing needs an order.
    sender.store(info->si_pid, std::memory_order_relaxed);
  };
  ASSERT_EQ(sigaction(SIGURG, &before, nullptr), 0);
  Signal signal = Listen(SIGURG);
  ASSERT_EQ(raise(SIGURG), 0);
  // Relaxed for the same reason as in the handler.
  EXPECT_EQ(sender.load(std::memory_order_relaxed), getpid());
  EXPECT_TRUE(IsDue(signal));
}

// The number must not be used by another test, because the handler stays.
TEST_F(SignalTest, AResetHandlerIsNotCalled) {
  struct sigaction action;
  ASSERT_EQ(sigaction(SIGIO, nullptr, &action), 0);
  action.sa_handler = SIG_IGN;
  // A previous handler with an argument had set the flag.
  action.sa_flags |= SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGIO, &action, nullptr), 0);
  Signal signal = Listen(SIGIO);
  ASSERT_EQ(raise(SIGIO), 0);
  EXPECT_TRUE(IsDue(signal));
}

TEST_F(SignalTest, ThePreviousHandlerIsCalledWithItsFlags) {
  static volatile sig_atomic_t blocked = -1;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, nullptr, &now);
    blocked = sigismember(&now, SIGTERM);
  };
  sigaddset(&action.sa_mask, SIGTERM);
  action.sa_flags = SA_ONSTACK;
  ASSERT_EQ(sigaction(SIGPWR, &action, nullptr), 0);
  Signal signal = Listen(SIGPWR);
  ASSERT_EQ(raise(SIGPWR), 0);
  EXPECT_TRUE(IsDue(signal));
  EXPECT_EQ(blocked, 1);
  ASSERT_EQ(sigaction(SIGPWR, nullptr, &action), 0);
  EXPECT_NE(action.sa_flags & SA_ONSTACK, 0);
}

// The handler cleans up, and then relies on the signal's default action.
TEST_F(SignalTest, AOneShotHandlerIsCalledOnce) {
  static volatile sig_atomic_t calls = 0;
  struct sigaction action = {};
  action.sa_handler = [](int number) {
    calls = calls + 1;
    if (calls < 3) raise(number);
  };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ASSERT_EQ(sigaction(SIGVTALRM, &action, nullptr), 0);
  Signal signal = Listen(SIGVTALRM);
  ASSERT_EQ(raise(SIGVTALRM), 0);
  EXPECT_TRUE(IsDue(signal));
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(raise(SIGVTALRM), 0);
  EXPECT_TRUE(IsDue(signal));
  EXPECT_EQ(calls, 1);
}

TEST_F(SignalTest, SystemCallsAreInterruptedAsBefore) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGXCPU, &action, nullptr), 0);
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGXFSZ, &action, nullptr), 0);
  const std::pair<int, bool> restarted[] = {
      {SIGXCPU, false}, {SIGXFSZ, true}, {SIGUSR1, true}};
  for (const auto& [number, is_restarted] : restarted) {
    const Signal signal = Listen(number);
    ASSERT_EQ(sigaction(number, nullptr, &action), 0);
    EXPECT_EQ((action.sa_flags & SA_RESTART) != 0, is_restarted) << number;
  }
}

// Otherwise the signal would have no effect any more, and no listener would
// exist.
TEST_F(SignalTest, AFailedCreateChangesNothing) {
  const auto expect_default = [] {
    struct sigaction action;
    ASSERT_EQ(sigaction(SIGTTOU, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, SIG_DFL);
  };
  const size_t fds = reactor::CountOpenFds();
  // Skipped on a system without system call filters.
  static_cast<void>(reactor::WithFailingCalls({SYS_fcntl}, EMFILE, [&] {
    EXPECT_TRUE(absl::IsResourceExhausted(
        Signal::Create(SIGTTOU, reactor_.handle()).status()));
  }));
  expect_default();
  EXPECT_EQ(reactor::CountOpenFds(), fds);
  {
    Reactor gone = Reactor::Create().value();
    gone.Shutdown();
    EXPECT_TRUE(
        absl::IsUnavailable(Signal::Create(SIGTTOU, gone.handle()).status()));
  }
  expect_default();
  EXPECT_EQ(reactor::CountOpenFds(), fds);
  Signal signal = Listen(SIGTTOU);
  ASSERT_EQ(raise(SIGTTOU), 0);
  EXPECT_TRUE(IsDue(signal));
}

// Another thread installs the handler while this thread joins its own
// descriptor, which then never becomes readable. The number must not be used by
// another test, because the handler stays.
TEST_F(SignalTest, TheSlowerOfTwoFirstListenersJoinsAgain) {
  std::vector<OwnedFd> joined;
  std::optional<Signal> faster;
  const absl::Status status = internal::ListenTo(SIGTSTP, [&](OwnedFd fd) {
    joined.push_back(std::move(fd));
    if (joined.size() == 1) faster.emplace(Listen(SIGTSTP));
    return absl::OkStatus();
  });
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(joined.size(), 2u);
  ASSERT_EQ(raise(SIGTSTP), 0);
  EXPECT_TRUE(IsDue(*faster));
  pollfd events[] = {{joined[0].get(), POLLIN, 0},
                     {joined[1].get(), POLLIN, 0}};
  EXPECT_EQ(poll(events, 2, /*timeout=*/0), 1);
  EXPECT_EQ(events[1].revents, POLLIN);
}

TEST_F(SignalTest, AReactorShutdownIsUnavailable) {
  Signal signal = Listen(SIGUSR1);
  auto recv = signal.Recv();
  ASSERT_TRUE(task_.Poll(recv).IsPending());
  reactor_.Shutdown();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(absl::IsUnavailable(*task_.Poll(recv)));
  EXPECT_TRUE(
      absl::IsUnavailable(Signal::Create(SIGUSR1, reactor_.handle()).status()));
}

TEST_F(SignalTest, LeavesNoDescriptorBehind) {
  {
    const Signal signal = Listen(SIGUSR1);
  }
  const size_t before = reactor::CountOpenFds();
  for (int i = 0; i < 3; ++i) {
    const Signal signal = Listen(SIGUSR1);
    EXPECT_EQ(reactor::CountOpenFds(), before + 1);
  }
  EXPECT_EQ(reactor::CountOpenFds(), before);
}

TEST_F(SignalTest, OutOfDescriptorsIsResourceExhausted) {
  const size_t before = reactor::CountOpenFds();
  for (const int call : {SYS_eventfd2, SYS_fcntl}) {
    // The eventfd is made once for each number.
    const int number = call == SYS_eventfd2 ? SIGTTIN : SIGUSR1;
    {
      const Signal open = Listen(SIGUSR1);
    }
    const size_t open_before = reactor::CountOpenFds();
    if (!reactor::WithFailingCalls({call}, EMFILE, [&] {
          EXPECT_TRUE(absl::IsResourceExhausted(
              Signal::Create(number, reactor_.handle()).status()));
        })) {
      GTEST_SKIP() << "no filters of system calls here";
    }
    EXPECT_EQ(reactor::CountOpenFds(), open_before);
  }
  EXPECT_GE(reactor::CountOpenFds(), before);
  // The call can be tried again.
  Signal signal = Listen(SIGTTIN);
  ASSERT_EQ(raise(SIGTTIN), 0);
  EXPECT_TRUE(IsDue(signal));
}

TEST_F(SignalTest, CtrlCIsSIGINT) {
  auto ctrl_c = CtrlC(reactor_.handle());
  // The wait begins with the call, not only with the first poll.
  ASSERT_EQ(raise(SIGINT), 0);
  Turn();
  const auto result = task_.Poll(ctrl_c);
  ASSERT_TRUE(result.IsReady());
  EXPECT_TRUE(result->ok());
}

TEST_F(SignalTest, CtrlCReturnsWhyItCannotWait) {
  reactor_.Shutdown();
  auto ctrl_c = CtrlC(reactor_.handle());
  const auto result = task_.Poll(ctrl_c);
  ASSERT_TRUE(result.IsReady());
  EXPECT_TRUE(absl::IsUnavailable(*result));
}

TEST_F(SignalTest, ShutdownSignalIsSIGINTOrSIGTERM) {
  for (int number : {SIGINT, SIGTERM}) {
    auto shutdown = ShutdownSignal(reactor_.handle());
    EXPECT_TRUE(task_.Poll(shutdown).IsPending());
    const int wakes = task_.wakes();
    ASSERT_EQ(raise(number), 0);
    Turn();
    EXPECT_GT(task_.wakes(), wakes);
    const auto result = task_.Poll(shutdown);
    ASSERT_TRUE(result.IsReady());
    EXPECT_TRUE(result->ok()) << *result;
  }
}

TEST_F(SignalTest, ShutdownSignalWaitsFromTheTimeOfTheCall) {
  auto shutdown = ShutdownSignal(reactor_.handle());
  ASSERT_EQ(raise(SIGTERM), 0);
  Turn();
  auto moved = std::move(shutdown);
  const auto result = task_.Poll(moved);
  ASSERT_TRUE(result.IsReady());
  EXPECT_TRUE(result->ok());
}

TEST_F(SignalTest, ShutdownSignalReturnsWhyItCannotWait) {
  reactor_.Shutdown();
  auto shutdown = ShutdownSignal(reactor_.handle());
  const auto result = task_.Poll(shutdown);
  ASSERT_TRUE(result.IsReady());
  EXPECT_TRUE(absl::IsUnavailable(*result));
  EXPECT_PANIC((void)task_.Poll(shutdown), "ShutdownSignal() was polled after");
}

// Each side waits for the other: a lost signal would end the test here.
TEST_F(SignalTest, NoSignalIsLost) {
  constexpr int kRounds = 500;
  const reactor::Background background =
      reactor::Background::Start(std::move(reactor_)).value();
  Signal signal = Signal::Create(SIGUSR1, background.handle()).value();
  Atomic<int> answered{0};
  std::thread waiting([&] {
    for (int round = 1; round <= kRounds; ++round) {
      ASSERT_TRUE(BlockOn(signal.Recv()).ok());
      // Release pairs with the acquire below: the next signal is sent after all
      // that was done about this signal.
      answered.store(round, std::memory_order_release);
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    ASSERT_EQ(kill(getpid(), SIGUSR1), 0);
    // Acquire pairs with the release above.
    while (answered.load(std::memory_order_acquire) < round) {
      std::this_thread::yield();
    }
  }
  waiting.join();
}

TEST_F(SignalTest, AFinishedFutureThatIsPolledIsAPanic) {
  Signal signal = Listen(SIGUSR1);
  auto ctrl_c = CtrlC(reactor_.handle());
  ASSERT_EQ(raise(SIGUSR1), 0);
  ASSERT_EQ(raise(SIGINT), 0);
  Turn();
  auto recv = signal.Recv();
  ASSERT_TRUE(task_.Poll(recv).IsReady());
  EXPECT_PANIC((void)task_.Poll(recv), "Signal::Recv() was polled after");
  ASSERT_TRUE(task_.Poll(ctrl_c).IsReady());
  EXPECT_PANIC((void)task_.Poll(ctrl_c), "CtrlC() was polled after");
}

TEST(SignalKindTest, HasTheSystemsNumber) {
  EXPECT_EQ(SignalKind::Alarm().number(), SIGALRM);
  EXPECT_EQ(SignalKind::Child().number(), SIGCHLD);
  EXPECT_EQ(SignalKind::Hangup().number(), SIGHUP);
  EXPECT_EQ(SignalKind::Interrupt().number(), SIGINT);
  EXPECT_EQ(SignalKind::Io().number(), SIGIO);
  EXPECT_EQ(SignalKind::Pipe().number(), SIGPIPE);
  EXPECT_EQ(SignalKind::Quit().number(), SIGQUIT);
  EXPECT_EQ(SignalKind::Terminate().number(), SIGTERM);
  EXPECT_EQ(SignalKind::UserDefined1().number(), SIGUSR1);
  EXPECT_EQ(SignalKind::UserDefined2().number(), SIGUSR2);
  EXPECT_EQ(SignalKind::WindowChange().number(), SIGWINCH);
  EXPECT_EQ(SignalKind(SIGTERM), SignalKind::Terminate());
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {SignalKind::Hangup(), SignalKind::Terminate(), SignalKind(34)}));
}

TEST(SignalKindTest, IsPrinted) {
  EXPECT_EQ(absl::StrCat(SignalKind::Alarm(), " ", SignalKind::Child(), " ",
                         SignalKind::Hangup(), " ", SignalKind::Interrupt(),
                         " ", SignalKind::Io(), " ", SignalKind::Pipe()),
            "SIGALRM SIGCHLD SIGHUP SIGINT SIGIO SIGPIPE");
  EXPECT_EQ(
      absl::StrCat(SignalKind::Quit(), " ", SignalKind::Terminate(), " ",
                   SignalKind::UserDefined1(), " ", SignalKind::UserDefined2(),
                   " ", SignalKind::WindowChange(), " ", SignalKind(34)),
      "SIGQUIT SIGTERM SIGUSR1 SIGUSR2 SIGWINCH signal 34");
}

TEST_F(SignalTest, IsMadeOfAKind) {
  Signal signal =
      Signal::Create(SignalKind::UserDefined1(), reactor_.handle()).value();
  EXPECT_EQ(signal.kind(), SignalKind::UserDefined1());
  EXPECT_EQ(signal.number(), SIGUSR1);
  EXPECT_EQ(absl::StrCat(signal), "SIGUSR1");
  EXPECT_FALSE(IsDue(signal));
  ASSERT_EQ(raise(SIGUSR1), 0);
  EXPECT_TRUE(IsDue(signal));
  EXPECT_TRUE(absl::IsInvalidArgument(
      Signal::Create(SignalKind(SIGKILL), reactor_.handle()).status()));
}

}  // namespace
}  // namespace rouse
