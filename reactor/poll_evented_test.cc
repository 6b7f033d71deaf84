#include "rouse/reactor/poll_evented.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/test_util.h"
#include "rouse/waker/context.h"

namespace rouse::reactor {
namespace {

class Io {
 public:
  explicit Io(OwnedFd fd) : fd_(std::move(fd)) {}
  int fd() const { return fd_.get(); }

 private:
  OwnedFd fd_;
};

class PollEventedTest : public FdTest {
 protected:
  PollEventedTest() : reactor_(Reactor::Create().value()) {}

  PollEvented<Io> Make(OwnedFd fd) {
    return PollEvented<Io>::Create(Io(std::move(fd)), Interest::kReadable,
                                   reactor_.handle())
        .value();
  }

  Reactor reactor_;
};

TEST_F(PollEventedTest, IsWokenForItsDescriptor) {
  auto [a, b] = MakeSocketPair();
  const PollEvented<Io> evented = Make(std::move(a));
  TestTask task;
  Context cx(task.waker());
  ASSERT_TRUE(
      evented.registration().PollReady(Direction::kRead, cx).IsPending());
  WriteTo(b.get(), "x");
  ASSERT_TRUE(reactor_.Turn(absl::ZeroDuration()).ok());
  EXPECT_EQ(task.wakes(), 1);
}

// Were the descriptor closed first, deregistering would fail and the queue
// would go on to report the duplicate.
TEST_F(PollEventedTest, DeregistersBeforeItCloses) {
  auto [a, b] = MakeSocketPair();
  const OwnedFd duplicate(fcntl(a.get(), F_DUPFD_CLOEXEC, 0));
  {
    const PollEvented<Io> evented = Make(std::move(a));
  }
  WriteTo(b.get(), "x");
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 0u);
}

TEST_F(PollEventedTest, AssignmentDeregistersBeforeItCloses) {
  auto [a, b] = MakeSocketPair();
  auto [c, d] = MakeSocketPair();
  const OwnedFd duplicate(fcntl(a.get(), F_DUPFD_CLOEXEC, 0));
  PollEvented<Io> evented = Make(std::move(a));
  evented = Make(std::move(c));
  WriteTo(b.get(), "x");
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 0u);
  WriteTo(d.get(), "x");
  EXPECT_EQ(reactor_.Turn(absl::ZeroDuration()).value(), 1u);
}

TEST_F(PollEventedTest, GivesBackWhatItHas) {
  auto [a, b] = MakeSocketPair();
  const int fd = a.get();
  PollEvented<Io> evented = Make(std::move(a));
  const Io io = std::move(evented).IntoInner();
  EXPECT_EQ(io.fd(), fd);
  EXPECT_TRUE(reactor_.IsIdle());
}

TEST_F(PollEventedTest, WhatCannotBeRegisteredIsClosed) {
  auto [a, b] = MakeSocketPair();
  reactor_.Shutdown();
  const auto evented = PollEvented<Io>::Create(
      Io(std::move(a)), Interest::kReadable, reactor_.handle());
  EXPECT_EQ(evented.status().code(), absl::StatusCode::kUnavailable);
  char byte;
  EXPECT_EQ(recv(b.get(), &byte, 1, 0), 0);
}

TEST_F(PollEventedTest, WhatIsOnlyTriedIsKeptOnFailure) {
  auto [a, b] = MakeSocketPair();
  reactor_.Shutdown();
  Io io(std::move(a));
  const auto evented = PollEvented<Io>::TryCreate(
      std::move(io), Interest::kReadable, reactor_.handle());
  EXPECT_EQ(evented.status().code(), absl::StatusCode::kUnavailable);
  WriteTo(b.get(), "x");
  char byte;
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what this is about
  EXPECT_EQ(recv(io.fd(), &byte, 1, 0), 1);
}

}  // namespace
}  // namespace rouse::reactor
