// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the examples of docs/guide/reactor.md. reactor_quotes_test compares
// that page with this file.

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/background.h"
#include "rouse/reactor/event_waker.h"
#include "rouse/reactor/events.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll_evented.h"
#include "rouse/reactor/poller.h"
#include "rouse/reactor/reactor.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/ready_guard.h"
#include "rouse/reactor/registry.h"
#include "rouse/reactor/source.h"
#include "rouse/reactor/token.h"
#include "rouse/reactor/user_source.h"
#include "rouse/rouse.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace {

using rouse::OwnedFd;
using rouse::reactor::AsyncFd;
using rouse::reactor::Background;
using rouse::reactor::Direction;
using rouse::reactor::Event;
using rouse::reactor::Events;
using rouse::reactor::EventWaker;
using rouse::reactor::FdSource;
using rouse::reactor::Interest;
using rouse::reactor::Poller;
using rouse::reactor::PollEvented;
using rouse::reactor::Reactor;
using rouse::reactor::Ready;
using rouse::reactor::ReadyFuture;
using rouse::reactor::ReadyGuard;
using rouse::reactor::Registry;
using rouse::reactor::SetReadiness;
using rouse::reactor::Token;
using rouse::reactor::UserSource;

std::pair<OwnedFd, OwnedFd> MakePair() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
      0);
  return {OwnedFd(fds[0]), OwnedFd(fds[1])};
}

// A loop of your own.

constexpr Token kStop(0);
constexpr Token kInput(1);

absl::Status Loop(Poller& poller, int input, std::string& received) {
  Events events(128);
  for (;;) {
    absl::Status status = poller.Poll(events, absl::InfiniteDuration());
    if (!status.ok()) return status;
    for (const Event& event : events) {
      if (event.token() == kStop) return absl::OkStatus();
      // Reads until a read would block: unread bytes cause no further event.
      char buffer[16];
      ssize_t size;
      while ((size = read(input, buffer, sizeof buffer)) > 0) {
        received.append(buffer, static_cast<size_t>(size));
      }
    }
  }
}

TEST(Examples, ACustomLoop) {
  auto [a, b] = MakePair();
  Poller poller = Poller::Create().value();
  FdSource source(a.get());
  absl::Status status =
      poller.registry().Register(source, kInput, Interest::kReadable);
  ASSERT_TRUE(status.ok()) << status;
  EventWaker waker = EventWaker::Create(poller.registry(), kStop).value();
  std::string received;
  std::thread loop(
      [&, fd = a.get()] { EXPECT_TRUE(Loop(poller, fd, received).ok()); });
  ASSERT_EQ(write(b.get(), "hello", 5), 5);
  ASSERT_TRUE(waker.Wake().ok());
  loop.join();
  // The loop may have seen the wake before the input.
  EXPECT_TRUE(received.empty() || received == "hello") << received;
}

// Two descriptors that are one source.
class Channel {
 public:
  Channel(OwnedFd in, OwnedFd out)
      : in_fd_(std::move(in)),
        out_fd_(std::move(out)),
        in_(in_fd_.get()),
        out_(out_fd_.get()) {}

  absl::Status Register(const Registry& registry, Token token, Interest) {
    absl::Status status = registry.Register(in_, token, Interest::kReadable);
    if (!status.ok()) return status;
    status = registry.Register(out_, token, Interest::kWritable);
    if (!status.ok()) registry.Deregister(in_).IgnoreError();
    return status;
  }
  absl::Status Reregister(const Registry& registry, Token token, Interest) {
    absl::Status status = registry.Reregister(in_, token, Interest::kReadable);
    status.Update(registry.Reregister(out_, token, Interest::kWritable));
    return status;
  }
  absl::Status Deregister(const Registry& registry) {
    absl::Status status = registry.Deregister(in_);
    status.Update(registry.Deregister(out_));
    return status;
  }

 private:
  OwnedFd in_fd_, out_fd_;
  FdSource in_, out_;
};

static_assert(rouse::reactor::Source<Channel>);

TEST(Examples, ASourceOfSeveralDescriptors) {
  auto [a, b] = MakePair();
  auto [c, d] = MakePair();
  Poller poller = Poller::Create().value();
  Channel channel(std::move(a), std::move(c));
  const Registry& registry = poller.registry();
  ASSERT_TRUE(registry.Register(channel, Token(5), Interest::kReadable).ok());
  ASSERT_TRUE(registry.Reregister(channel, Token(6), Interest::kReadable).ok());
  Events events(8);
  ASSERT_TRUE(poller.Poll(events, absl::ZeroDuration()).ok());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].token(), Token(6));
  EXPECT_TRUE(events[0].IsWritable());
  EXPECT_TRUE(registry.Deregister(channel).ok());
}

// Tasks.

rouse::Co<absl::StatusOr<uint64_t>> NextCount(const AsyncFd<OwnedFd>& counter) {
  uint64_t count = 0;
  auto io = counter.Io(Direction::kRead, "read of the counter", [&] {
    return read(counter.fd(), &count, sizeof count);
  });
  co_await rouse::OrReturn(io);
  co_return count;
}

TEST(Examples, TasksAndARuntime) {
  absl::StatusOr<rouse::Runtime> runtime =
      rouse::Builder::CurrentThread().Build();
  ASSERT_TRUE(runtime.ok());
  const auto guard = runtime->handle().Enter();
  const auto counter =
      AsyncFd<OwnedFd>::Create(OwnedFd(eventfd(3, EFD_CLOEXEC | EFD_NONBLOCK)),
                               Interest::kReadable)
          .value();
  EXPECT_EQ(runtime->BlockOn(NextCount(counter)).value(), 3u);
}

// A library that reads by itself, and reports when it must wait.
constexpr int kLibraryWouldBlock = -2;
int LibraryRead(int fd, char* byte) {
  const ssize_t size = read(fd, byte, 1);
  return size < 0 && errno == EAGAIN ? kLibraryWouldBlock
                                     : static_cast<int>(size);
}

rouse::Co<absl::StatusOr<char>> ReadByLibrary(const AsyncFd<FdSource>& io) {
  for (;;) {
    auto readable = io.Readable();
    const ReadyGuard guard = co_await rouse::OrReturn(readable);
    char byte = 0;
    if (LibraryRead(io.fd(), &byte) != kLibraryWouldBlock) co_return byte;
    guard.ClearReady();
  }
}

TEST(Examples, ALibraryThatReadsByItself) {
  auto [a, b] = MakePair();
  Background background = Background::Start(Reactor::Create().value()).value();
  {
    const auto io =
        AsyncFd<FdSource>::Create(FdSource(a.get()), Interest::kReadable,
                                  background.handle())
            .value();
    std::thread peer([fd = b.get()] { ASSERT_EQ(write(fd, "x", 1), 1); });
    EXPECT_EQ(rouse::BlockOn(ReadByLibrary(io)).value(), 'x');
    peer.join();
  }
  rouse::BlockOn(std::move(background).ShutdownOnIdle());
}

// A source of the program.

// Stands for a queue that another library fills.
class Mailbox {
 public:
  void Put(char letter) {
    const absl::MutexLock lock(&mu_);
    letters_ += letter;
  }
  std::string TakeAll() {
    const absl::MutexLock lock(&mu_);
    return std::exchange(letters_, "");
  }

 private:
  absl::Mutex mu_;
  std::string letters_ ABSL_GUARDED_BY(mu_);
};

absl::Status Deliver(Mailbox& mailbox, const SetReadiness& readiness,
                     char letter) {
  mailbox.Put(letter);
  return readiness.Set(Ready::kReadable);
}

rouse::Co<absl::Status> Consume(const PollEvented<UserSource>& source,
                                Mailbox& mailbox, std::string& received) {
  while (received != "hello") {
    auto readable = ReadyFuture(source.registration(), Interest::kReadable);
    const ReadyGuard guard = co_await rouse::OrReturn(readable);
    std::string letters = mailbox.TakeAll();
    if (letters.empty()) guard.ClearReady();
    received += letters;
  }
  co_return absl::OkStatus();
}

TEST(Examples, ASourceOfTheProgram) {
  auto [source, readiness] = UserSource::Create().value();
  Mailbox mailbox;
  std::thread library([&mailbox, readiness = readiness] {
    for (const char letter : std::string_view("hello")) {
      EXPECT_TRUE(Deliver(mailbox, readiness, letter).ok());
    }
  });
  auto runtime = rouse::Builder::CurrentThread().Build();
  ASSERT_TRUE(runtime.ok());
  std::string received;
  {
    const auto entered = runtime->Enter();
    auto evented =
        PollEvented<UserSource>::Create(std::move(source), Interest::kReadable);
    ASSERT_TRUE(evented.ok()) << evented.status();
    EXPECT_TRUE(runtime->BlockOn(Consume(*evented, mailbox, received)).ok());
  }
  library.join();
  EXPECT_EQ(received, "hello");
}

// A reactor without a runtime.

template <class F>
auto RunAlone(Reactor& reactor, F future) {
  // Not every wake is an event: a task that yields also wakes itself.
  const rouse::Waker waker = rouse::Waker::FromCallable(
      [unparker = reactor.unparker()] { unparker.Unpark(); });
  for (;;) {
    rouse::Context cx(waker);
    auto result = future.Poll(cx);
    if (result.IsReady()) return *std::move(result);
    reactor.Park();
  }
}

rouse::Co<absl::Status> YieldAndWait(const AsyncFd<OwnedFd>& io) {
  co_await rouse::Yield();
  auto readable = io.Readable();
  const absl::StatusOr<ReadyGuard> guard = co_await readable;
  co_await rouse::Yield();
  co_return guard.status();
}

TEST(Examples, AReactorAlone) {
  auto [a, b] = MakePair();
  Reactor reactor = Reactor::Create().value();
  const auto io = AsyncFd<OwnedFd>::Create(std::move(a), Interest::kReadable,
                                           reactor.handle())
                      .value();
  ASSERT_EQ(write(b.get(), "x", 1), 1);
  EXPECT_TRUE(RunAlone(reactor, YieldAndWait(io)).ok());
}

template <class F>
auto RunInAPollLoop(Reactor& reactor, int own, int& served, F future) {
  const rouse::Waker waker = rouse::Waker::FromCallable(
      [unparker = reactor.unparker()] { unparker.Unpark(); });
  for (;;) {
    rouse::Context cx(waker);
    auto result = future.Poll(cx);
    if (result.IsReady()) return *std::move(result);
    pollfd fds[] = {{reactor.fd(), POLLIN, 0}, {own, POLLIN, 0}};
    // From here until the turn, an unpark makes fd() readable.
    poll(fds, 2, /*timeout=*/reactor.PrepareToWait() ? -1 : 0);
    char byte;
    if ((fds[1].revents & POLLIN) != 0 && read(own, &byte, 1) == 1) ++served;
    reactor.Turn(absl::ZeroDuration()).IgnoreError();
  }
}

TEST(Examples, AReactorInAPollLoop) {
  auto [a, b] = MakePair();
  auto [own, peer] = MakePair();
  Reactor reactor = Reactor::Create().value();
  const auto io = AsyncFd<OwnedFd>::Create(std::move(a), Interest::kReadable,
                                           reactor.handle())
                      .value();
  ASSERT_EQ(write(peer.get(), "y", 1), 1);
  ASSERT_EQ(write(b.get(), "x", 1), 1);
  int served = 0;
  EXPECT_TRUE(
      RunInAPollLoop(reactor, own.get(), served, YieldAndWait(io)).ok());
  EXPECT_EQ(served, 1);
}

TEST(Examples, AThreadInTheBackground) {
  auto [a, b] = MakePair();
  absl::StatusOr<Reactor> reactor = Reactor::Create();
  ASSERT_TRUE(reactor.ok());
  absl::StatusOr<Background> background =
      Background::Start(*std::move(reactor));
  ASSERT_TRUE(background.ok());
  {
    auto io = AsyncFd<OwnedFd>::Create(std::move(a), Interest::kWritable,
                                       background->handle());
    ASSERT_TRUE(io.ok());
    EXPECT_TRUE(rouse::BlockOn(io->Writable()).ok());
  }
  // Ends the thread when no source is registered, which is now.
  rouse::BlockOn(std::move(*background).ShutdownOnIdle());
}

// Signals and children.

rouse::Co<absl::Status> UntilHangup(rouse::Signal& hangup, int& reloads) {
  while (reloads < 2) {
    auto recv = hangup.Recv();
    co_await rouse::OrReturn(recv);
    ++reloads;  // read the configuration again
    raise(SIGHUP);
  }
  co_return absl::OkStatus();
}

TEST(Examples, Signals) {
  absl::StatusOr<rouse::Runtime> runtime =
      rouse::Builder::CurrentThread().Build();
  ASSERT_TRUE(runtime.ok());
  const auto guard = runtime->handle().Enter();
  rouse::Signal hangup = rouse::Signal::Create(SIGHUP).value();
  raise(SIGHUP);
  int reloads = 0;
  EXPECT_TRUE(runtime->BlockOn(UntilHangup(hangup, reloads)).ok());
  EXPECT_EQ(reloads, 2);
}

rouse::Co<absl::StatusOr<std::string>> Sort(std::string_view lines) {
  rouse::Command command("sort");
  command.Stdin(rouse::Stdio::Piped())
      .Stdout(rouse::Stdio::Piped())
      .KillOnDrop();
  rouse::Child child = co_await rouse::OrReturn(command.Spawn());
  std::optional<rouse::ChildStdin> input = child.TakeStdin();
  auto write = input->WriteAll(lines);
  co_await rouse::OrReturn(write);
  input.reset();  // the end of the input
  rouse::Co<absl::StatusOr<rouse::ProcessOutput>> rest =
      std::move(child).WaitWithOutput();
  rouse::ProcessOutput output = co_await rouse::OrReturn(rest);
  if (!output.status.IsSuccess()) co_return absl::InternalError("sort failed");
  co_return std::move(output.out);
}

TEST(Examples, Children) {
  absl::StatusOr<rouse::Runtime> runtime =
      rouse::Builder::CurrentThread().Build();
  ASSERT_TRUE(runtime.ok());
  EXPECT_EQ(runtime->BlockOn(Sort("b\na\n")).value(), "a\nb\n");
}

}  // namespace
