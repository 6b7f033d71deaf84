// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/poll_evented.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/registry.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/reactor_fixture.h"
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

class PollEventedTest : public ReactorTest {
 protected:
  PollEvented<Io> Make(OwnedFd fd) {
    return PollEvented<Io>::Create(Io(std::move(fd)), Interest::kReadable,
                                   reactor_.handle())
        .value();
  }
};

TEST_F(PollEventedTest, IsWokenForItsDescriptor) {
  auto [a, b] = MakeSocketPair();
  const PollEvented<Io> evented = Make(std::move(a));
  CountingWaker task;
  Context cx(task.waker());
  ASSERT_TRUE(
      evented.registration().PollReady(Direction::kRead, cx).IsPending());
  WriteTo(b.get(), "x");
  ASSERT_TRUE(reactor_.Turn(absl::ZeroDuration()).ok());
  EXPECT_EQ(task.wakes(), 1);
}

TEST_F(PollEventedTest, TheInterestCanBeChanged) {
  auto [a, b] = MakeSocketPair();
  PollEvented<Io> evented = Make(std::move(a));
  EXPECT_EQ(Turn(), 0u);
  ASSERT_TRUE(evented.Reregister(Interest::kWritable).ok());
  EXPECT_EQ(Turn(), 1u);
  WriteTo(b.get(), "x");
  EXPECT_EQ(Turn(), 0u);
}

// If the descriptor were closed first, deregistering would fail, and the queue
// would continue to report the duplicate.
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

TEST_F(PollEventedTest, ReleasesItsSource) {
  auto [a, b] = MakeSocketPair();
  const int fd = a.get();
  PollEvented<Io> evented = Make(std::move(a));
  const Io io = std::move(evented).IntoInner();
  EXPECT_EQ(io.fd(), fd);
  EXPECT_TRUE(reactor_.IsIdle());
}

// A `Source` of two descriptors: one to be read from, one to be written to.
class TwoSockets {
 public:
  TwoSockets(OwnedFd in, OwnedFd out)
      : in_(std::move(in)), out_(std::move(out)) {}

  int in() const { return in_.get(); }

  absl::Status Register(const Registry& registry, Token token,
                        Interest /*interest*/) {
    FdSource in(in_.get());
    FdSource out(out_.get());
    absl::Status status = registry.Register(in, token, Interest::kReadable);
    if (!status.ok()) return status;
    status = registry.Register(out, token, Interest::kWritable);
    if (!status.ok()) registry.Deregister(in).IgnoreError();
    return status;
  }

  absl::Status Reregister(const Registry& registry, Token token,
                          Interest interest) {
    interests_.push_back(interest);
    FdSource in(in_.get());
    FdSource out(out_.get());
    absl::Status status = registry.Reregister(in, token, Interest::kReadable);
    if (!status.ok()) return status;
    return registry.Reregister(out, token, Interest::kWritable);
  }

  // The interests of all calls of `Reregister()`.
  const std::vector<Interest>& interests() const { return interests_; }

  absl::Status Deregister(const Registry& registry) {
    FdSource in(in_.get());
    FdSource out(out_.get());
    absl::Status status = registry.Deregister(in);
    status.Update(registry.Deregister(out));
    return status;
  }

 private:
  OwnedFd in_;
  OwnedFd out_;
  std::vector<Interest> interests_;
};

// A fixture for a `T` of two descriptors.
class PollEventedSourceTest : public ReactorTest {
 protected:
  PollEventedSourceTest() {
    std::tie(in_, peer_) = MakeSocketPair();
    std::tie(out_, reader_) = MakeSocketPair();
  }

  absl::StatusOr<PollEvented<TwoSockets>> Make() {
    return PollEvented<TwoSockets>::Create(
        TwoSockets(std::move(in_), std::move(out_)),
        Interest::kReadable | Interest::kWritable, reactor_.handle());
  }

  bool IsReady(const PollEvented<TwoSockets>& evented, Direction direction) {
    Context cx(task_.waker());
    Waiter waiter;
    return evented.registration().PollReady(direction, cx, &waiter).IsReady();
  }

  OwnedFd in_, peer_;
  OwnedFd out_, reader_;
};

TEST_F(PollEventedSourceTest, EachDescriptorMakesItsDirectionReady) {
  const auto evented = Make();
  ASSERT_TRUE(evented.ok()) << evented.status();
  EXPECT_FALSE(IsReady(*evented, Direction::kWrite));
  EXPECT_EQ(Turn(), 1u);
  EXPECT_TRUE(IsReady(*evented, Direction::kWrite));
  EXPECT_FALSE(IsReady(*evented, Direction::kRead));
  WriteTo(peer_.get(), "x");
  EXPECT_EQ(Turn(), 1u);
  EXPECT_TRUE(IsReady(*evented, Direction::kRead));
}

TEST_F(PollEventedSourceTest, AChangeOfInterestReachesTheSource) {
  auto evented = Make();
  ASSERT_TRUE(evented.ok()) << evented.status();
  EXPECT_EQ(Turn(), 1u);
  EXPECT_EQ(Turn(), 0u);
  ASSERT_TRUE(evented->Reregister(Interest::kWritable).ok());
  EXPECT_EQ(evented->io().interests(),
            std::vector<Interest>({Interest::kWritable}));
  // The token is the same: what holds already reaches the registration.
  EXPECT_EQ(Turn(), 1u);
  EXPECT_TRUE(IsReady(*evented, Direction::kWrite));
}

TEST_F(PollEventedSourceTest, ARegistrationAloneCannotChangeTheInterest) {
  const auto evented = Make();
  ASSERT_TRUE(evented.ok()) << evented.status();
  const absl::Status status =
      evented->registration().Reregister(Interest::kReadable);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("Reregister(source"));
}

// If a descriptor were closed first, the queue would continue to report its
// duplicate.
TEST_F(PollEventedSourceTest, DeregistersBothBeforeItClosesThem) {
  const OwnedFd in(fcntl(in_.get(), F_DUPFD_CLOEXEC, 0));
  const OwnedFd out(fcntl(out_.get(), F_DUPFD_CLOEXEC, 0));
  {
    const auto evented = Make();
    ASSERT_TRUE(evented.ok()) << evented.status();
  }
  EXPECT_TRUE(reactor_.IsIdle());
  WriteTo(peer_.get(), "x");
  EXPECT_EQ(Turn(), 0u);
}

TEST_F(PollEventedSourceTest, MovingItMovesTheRegistration) {
  auto evented = Make();
  ASSERT_TRUE(evented.ok()) << evented.status();
  const OwnedFd in(fcntl(evented->io().in(), F_DUPFD_CLOEXEC, 0));
  {
    PollEvented<TwoSockets> moved = *std::move(evented);
    EXPECT_EQ(Turn(), 1u);
    EXPECT_TRUE(IsReady(moved, Direction::kWrite));
    auto [a, b] = MakeSocketPair();
    moved =
        PollEvented<TwoSockets>::Create(TwoSockets(std::move(a), std::move(b)),
                                        Interest::kReadable, reactor_.handle())
            .value();
    WriteTo(peer_.get(), "x");
    EXPECT_EQ(Turn(), 1u);  // the second pair is writable
    EXPECT_FALSE(reactor_.IsIdle());
  }
  EXPECT_TRUE(reactor_.IsIdle());
}

TEST_F(PollEventedSourceTest, ReleasesItsSource) {
  auto evented = Make();
  ASSERT_TRUE(evented.ok()) << evented.status();
  const TwoSockets sockets = (*std::move(evented)).IntoInner();
  EXPECT_TRUE(reactor_.IsIdle());
  WriteTo(peer_.get(), "x");
  EXPECT_EQ(Turn(), 0u);
}

TEST_F(PollEventedSourceTest, ARefusedSourceIsNotRegistered) {
  out_.Reset();
  EXPECT_EQ(Make().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(reactor_.IsIdle());
}

// A `Source` that is refused after one of its descriptors has had an event.
class RefusedAfterAnEvent {
 public:
  RefusedAfterAnEvent(int fd, Reactor& reactor) : fd_(fd), reactor_(&reactor) {}

  absl::Status Register(const Registry& registry, Token token,
                        Interest interest) {
    FdSource source(fd_);
    absl::Status status = registry.Register(source, token, interest);
    if (!status.ok()) return status;
    EXPECT_EQ(reactor_->Turn(absl::ZeroDuration()).value(), 1u);
    registry.Deregister(source).IgnoreError();
    return absl::UnavailableError("refused");
  }
  absl::Status Reregister(const Registry&, Token, Interest) {
    return absl::OkStatus();
  }
  absl::Status Deregister(const Registry&) { return absl::OkStatus(); }

 private:
  int fd_;
  Reactor* reactor_;
};

TEST_F(PollEventedSourceTest, EventsOfARefusedSourceReachNoOtherSource) {
  WriteTo(peer_.get(), "x");
  RefusedAfterAnEvent refused(in_.get(), reactor_);
  EXPECT_EQ(
      Registration::Create(refused, Interest::kReadable, reactor_.handle())
          .status()
          .code(),
      absl::StatusCode::kUnavailable);
  // The new source gets the slot of the refused source.
  const auto other = Registration::Create(reader_.get(), Interest::kReadable,
                                          reactor_.handle());
  ASSERT_TRUE(other.ok()) << other.status();
  Context cx(task_.waker());
  Waiter waiter;
  EXPECT_TRUE(other->PollReady(Direction::kRead, cx, &waiter).IsPending());
}

TEST_F(PollEventedSourceTest, ARegistrationCanBeEndedWithItsSource) {
  TwoSockets sockets(std::move(in_), std::move(out_));
  auto registration = Registration::Create(
      sockets, Interest::kReadable | Interest::kWritable, reactor_.handle());
  ASSERT_TRUE(registration.ok()) << registration.status();
  EXPECT_EQ(Turn(), 1u);
  EXPECT_TRUE(registration->Deregister(sockets).ok());
  EXPECT_FALSE(registration->IsRegistered());
  WriteTo(peer_.get(), "x");
  EXPECT_EQ(Turn(), 0u);
}

TEST_F(PollEventedSourceTest,
       ARegistrationThatOutlivesItsSourceReportsAnError) {
  TwoSockets sockets(std::move(in_), std::move(out_));
  auto registration = Registration::Create(
      sockets, Interest::kReadable | Interest::kWritable, reactor_.handle());
  ASSERT_TRUE(registration.ok()) << registration.status();
  const absl::Status status = registration->Deregister();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("Deregister(source)"));
  EXPECT_TRUE(reactor_.IsIdle());
  // Events occur, but reach nobody.
  auto next = Registration::Create(reader_.get(), Interest::kReadable,
                                   reactor_.handle());
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(Turn(), 1u);
  Context cx(task_.waker());
  EXPECT_TRUE(next->PollReady(Direction::kWrite, cx).IsPending());
}

TEST_F(PollEventedTest, ADescriptorThatCannotBeRegisteredIsClosed) {
  auto [a, b] = MakeSocketPair();
  reactor_.Shutdown();
  const auto evented = PollEvented<Io>::Create(
      Io(std::move(a)), Interest::kReadable, reactor_.handle());
  EXPECT_EQ(evented.status().code(), absl::StatusCode::kUnavailable);
  char byte;
  EXPECT_EQ(recv(b.get(), &byte, 1, 0), 0);
}

TEST_F(PollEventedTest, TryCreateKeepsTheSourceOnFailure) {
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
