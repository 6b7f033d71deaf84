// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/async_fd.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/ready_guard.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/reactor_fixture.h"
#include "rouse/waker/context.h"

namespace rouse::reactor {
namespace {

class AsyncFdTest : public ReactorTest {
 protected:
  AsyncFdTest() { std::tie(a_, b_) = MakeSocketPair(); }

  AsyncFd<OwnedFd> Make(Interest interest = Interest::kReadable |
                                            Interest::kWritable) {
    return AsyncFd<OwnedFd>::Create(std::move(a_), interest, reactor_.handle())
        .value();
  }

  template <class F>
  bool IsPending(F future) {
    return runner_.Poll(future).IsPending();
  }

  OwnedFd a_, b_;
};

TEST_F(AsyncFdTest, WaitsUntilItIsReadable) {
  const auto async = Make();
  auto readable = async.Readable();
  ASSERT_TRUE(task_.Poll(readable).IsPending());
  Turn();
  EXPECT_EQ(task_.wakes(), 0);
  WriteTo(b_.get(), "x");
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  const auto guard = task_.Poll(readable);
  ASSERT_TRUE(guard.IsReady());
  EXPECT_EQ((*guard)->ready(), Ready::kReadable);
}

TEST_F(AsyncFdTest, AnInterestThatIsAddedEndsAWait) {
  auto async = Make(Interest::kReadable);
  auto writable = async.Writable();
  ASSERT_TRUE(task_.Poll(writable).IsPending());
  EXPECT_EQ(Turn(), 0u);
  ASSERT_TRUE(async.Reregister(Interest::kReadable | Interest::kWritable).ok());
  EXPECT_EQ(Turn(), 1u);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(task_.Poll(writable).IsReady());
}

TEST_F(AsyncFdTest, StaysReadyUntilItIsCleared) {
  const auto async = Make();
  Turn();
  auto writable = async.Writable();
  const auto guard = task_.Poll(writable);
  ASSERT_TRUE(guard.IsReady());
  (*guard)->RetainReady();
  EXPECT_FALSE(IsPending(async.Writable()));
  (*guard)->ClearReady();
  EXPECT_TRUE(IsPending(async.Writable()));
}

TEST_F(AsyncFdTest, AGuardDoesNotUndoALaterEvent) {
  const auto async = Make();
  WriteTo(b_.get(), "x");
  Turn();
  auto readable = async.Readable();
  const auto guard = task_.Poll(readable);
  WriteTo(b_.get(), "y");
  Turn();
  (*guard)->ClearReady();
  EXPECT_FALSE(IsPending(async.Readable()));
}

TEST_F(AsyncFdTest, TryIoReturnsTheResultOfTheCall) {
  const auto async = Make();
  WriteTo(b_.get(), "12345");
  Turn();
  auto readable = async.Readable();
  const auto guard = task_.Poll(readable);
  char buffer[8];
  const auto size = (*guard)->TryIo(
      "recv", [&] { return recv(async.fd(), buffer, sizeof buffer, 0); });
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(size->value(), 5u);
  // The read is short, but nothing says that this has a meaning.
  EXPECT_FALSE(IsPending(async.Readable()));
}

TEST_F(AsyncFdTest, TryIoClearsReadinessIfTheCallWouldBlock) {
  const auto async = Make();
  WriteTo(b_.get(), "x");
  Turn();
  auto either = async.Ready(Interest::kReadable | Interest::kWritable);
  const auto guard = task_.Poll(either);
  ASSERT_TRUE(guard.IsReady());
  EXPECT_EQ((*guard)->ready(), Ready::kReadable | Ready::kWritable);
  const auto result = (*guard)->TryIo("this", []() -> ssize_t {
    errno = EAGAIN;
    return -1;
  });
  EXPECT_FALSE(result.has_value());
  EXPECT_TRUE(IsPending(async.Readable()));
  EXPECT_TRUE(IsPending(async.Writable()));
}

TEST_F(AsyncFdTest, TryIoClearsTheGivenDirection) {
  const auto async = Make();
  WriteTo(b_.get(), "x");
  Turn();
  auto either = async.Ready(Interest::kReadable | Interest::kWritable);
  const auto guard = task_.Poll(either);
  const auto result =
      (*guard)->TryIo(Direction::kRead, "this", []() -> ssize_t {
        errno = EAGAIN;
        return -1;
      });
  EXPECT_FALSE(result.has_value());
  EXPECT_TRUE(IsPending(async.Readable()));
  EXPECT_FALSE(IsPending(async.Writable()));
}

TEST_F(AsyncFdTest, TryIoNamesTheCallThatFailed) {
  const auto async = Make();
  Turn();
  auto writable = async.Writable();
  const auto guard = task_.Poll(writable);
  int calls = 0;
  const auto result = (*guard)->TryIo("ioctl of it", [&]() -> ssize_t {
    errno = ++calls == 1 ? EINTR : EPIPE;
    return -1;
  });
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(result->status().message().substr(0, 11), "ioctl of it");
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(IsPending(async.Writable()));
}

TEST_F(AsyncFdTest, EitherDirectionWakesAWaiterForBoth) {
  const auto async = Make();
  Turn();
  {
    auto writable = async.Writable();
    (*task_.Poll(writable))->ClearReady();
  }
  auto either = async.Ready(Interest::kReadable | Interest::kWritable);
  ASSERT_TRUE(task_.Poll(either).IsPending());
  WriteTo(b_.get(), "x");
  Turn();
  EXPECT_GE(task_.wakes(), 1);
  EXPECT_TRUE(task_.Poll(either).IsReady());
}

TEST_F(AsyncFdTest, OneDirectionCanBeCleared) {
  const auto async = Make();
  WriteTo(b_.get(), "x");
  Turn();
  auto either = async.Ready(Interest::kReadable | Interest::kWritable);
  const auto guard = task_.Poll(either);
  (*guard)->ClearReady(Direction::kWrite);
  EXPECT_FALSE(IsPending(async.Readable()));
  EXPECT_TRUE(IsPending(async.Writable()));
}

TEST_F(AsyncFdTest, OutOfBandDataCountsAsReading) {
  const auto async = Make(Interest::kPriority);
  auto priority = async.Ready(Interest::kPriority);
  ASSERT_TRUE(task_.Poll(priority).IsPending());
  WriteTo(b_.get(), "x");  // not part of the interest
  Turn();
  EXPECT_EQ(task_.wakes(), 0);
  b_.Reset();
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_TRUE(task_.Poll(priority).IsReady());
}

TEST_F(AsyncFdTest, TryIoNeedsNoGuard) {
  const auto async = Make();
  char byte = 0;
  int calls = 0;
  const auto receive = [&] {
    ++calls;
    return recv(async.fd(), &byte, 1, 0);
  };
  EXPECT_EQ(async.TryIo(Interest::kReadable, "recv", receive), std::nullopt);
  EXPECT_EQ(calls, 0);
  WriteTo(b_.get(), "x");
  Turn();
  EXPECT_EQ(async.TryIo(Interest::kReadable, "recv", receive)->value(), 1u);
  EXPECT_EQ(async.TryIo(Interest::kReadable, "recv", receive), std::nullopt);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(IsPending(async.Readable()));
}

TEST_F(AsyncFdTest, IoWaitsAndThenMakesTheCall) {
  const auto async = Make();
  char byte = 0;
  int calls = 0;
  auto io = async.Io(Direction::kRead, "recv", [&] {
    ++calls;
    return recv(async.fd(), &byte, 1, 0);
  });
  ASSERT_TRUE(task_.Poll(io).IsPending());
  EXPECT_EQ(calls, 0);
  WriteTo(b_.get(), "x");
  Turn();
  const auto size = task_.Poll(io);
  ASSERT_TRUE(size.IsReady());
  EXPECT_EQ(size->value(), 1u);
  EXPECT_EQ(byte, 'x');
  EXPECT_EQ(calls, 1);
}

TEST_F(AsyncFdTest, IoIsRepeatedAfterASpuriousEvent) {
  const auto async = Make();
  char byte;
  int calls = 0;
  auto io = async.Io(Direction::kRead, "recv", [&] {
    ++calls;
    return recv(async.fd(), &byte, 1, 0);
  });
  ASSERT_TRUE(task_.Poll(io).IsPending());
  WriteTo(b_.get(), "x");
  Turn();
  ASSERT_EQ(recv(async.fd(), &byte, 1, 0), 1);  // another reader was faster
  ASSERT_TRUE(task_.Poll(io).IsPending());
  EXPECT_EQ(calls, 1);
  WriteTo(b_.get(), "y");
  Turn();
  EXPECT_TRUE(task_.Poll(io).IsReady());
  EXPECT_EQ(task_.wakes(), 2);
}

TEST_F(AsyncFdTest, IoNamesTheCallThatFailed) {
  const auto async = Make();
  Turn();
  auto io = async.Io(Direction::kWrite, "write to it", []() -> ssize_t {
    errno = EPIPE;
    return -1;
  });
  const auto result = task_.Poll(io);
  ASSERT_TRUE(result.IsReady());
  EXPECT_EQ(result->status().message().substr(0, 11), "write to it");
}

// An eventfd is not a socket, and is full when its counter is.
TEST_F(AsyncFdTest, ServesDescriptorsThatAreNotSockets) {
  const auto async =
      AsyncFd<OwnedFd>::Create(OwnedFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
                               Interest::kReadable, reactor_.handle())
          .value();
  uint64_t count = 0;
  auto io = async.Io(Direction::kRead, "read of an eventfd",
                     [&] { return read(async.fd(), &count, sizeof count); });
  ASSERT_TRUE(task_.Poll(io).IsPending());
  const uint64_t three = 3;
  ASSERT_EQ(write(async.fd(), &three, sizeof three), 8);
  Turn();
  ASSERT_TRUE(task_.Poll(io).IsReady());
  EXPECT_EQ(count, 3u);
}

TEST_F(AsyncFdTest, BorrowsADescriptor) {
  {
    const auto async = AsyncFd<FdSource>::Create(
        FdSource(a_.get()), Interest::kReadable, reactor_.handle());
    ASSERT_TRUE(async.ok());
  }
  WriteTo(b_.get(), "x");
  char byte;
  EXPECT_EQ(recv(a_.get(), &byte, 1, 0), 1);
}

TEST_F(AsyncFdTest, AnyNumberOfTasksCanWait) {
  const auto async = Make();
  auto first = async.Readable();
  auto second = async.Readable();
  ASSERT_TRUE(task_.Poll(first).IsPending());
  ASSERT_TRUE(other_.Poll(second).IsPending());
  WriteTo(b_.get(), "x");
  Turn();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
}

TEST_F(AsyncFdTest, ADestroyedFutureIsNotWoken) {
  const auto async = Make();
  {
    auto readable = async.Readable();
    ASSERT_TRUE(task_.Poll(readable).IsPending());
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
  WriteTo(b_.get(), "x");
  Turn();
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_FALSE(IsPending(async.Readable()));
}

TEST_F(AsyncFdTest, ReadinessTakesBudget) {
  const auto async = Make();
  Turn();
  Context cx(task_.waker());
  uint32_t ready = 0;
  for (;; ++ready) {
    auto writable = async.Writable();
    if (writable.Poll(cx).IsPending()) break;
  }
  EXPECT_EQ(ready, kBudgetPerPoll);
}

TEST_F(AsyncFdTest, AShutdownOfTheReactorIsUnavailable) {
  const auto async = Make();
  auto readable = async.Readable();
  auto io = async.Io(Direction::kRead, "none", [] { return ssize_t{1}; });
  ASSERT_TRUE(task_.Poll(readable).IsPending());
  ASSERT_TRUE(other_.Poll(io).IsPending());
  reactor_.Shutdown();
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(other_.wakes(), 1);
  EXPECT_TRUE(absl::IsUnavailable(task_.Poll(readable)->status()));
  EXPECT_TRUE(absl::IsUnavailable(other_.Poll(io)->status()));
}

TEST_F(AsyncFdTest, TryCreateKeepsTheDescriptorOnFailure) {
  reactor_.Shutdown();
  const int fd = a_.get();
  const auto async = AsyncFd<OwnedFd>::TryCreate(
      std::move(a_), Interest::kReadable, reactor_.handle());
  EXPECT_TRUE(absl::IsUnavailable(async.status()));
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what this is about
  EXPECT_EQ(a_.get(), fd);
}

TEST_F(AsyncFdTest, ReleasesItsDescriptor) {
  const int fd = a_.get();
  auto async = Make();
  const OwnedFd back = std::move(async).IntoInner();
  EXPECT_EQ(back.get(), fd);
  EXPECT_TRUE(reactor_.IsIdle());
}

TEST_F(AsyncFdTest, PollingACompleteFuturePanics) {
  const auto async = Make();
  Turn();
  auto writable = async.Writable();
  ASSERT_TRUE(task_.Poll(writable).IsReady());
  EXPECT_PANIC((void)task_.Poll(writable), "was polled after");
  auto io = async.Io(Direction::kWrite, "none", [] { return ssize_t{1}; });
  ASSERT_TRUE(task_.Poll(io).IsReady());
  EXPECT_PANIC((void)task_.Poll(io), "AsyncFd::Io() was polled after");
}

}  // namespace
}  // namespace rouse::reactor
