// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/ares/ares_lookup.h"

#include <ares.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/ares/ares_channels.h"
#include "rouse/net/ares/ares_options.h"
#include "rouse/net/resolver/host_port.h"
#include "rouse/net/resolver/resolver.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/io_outcome.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/wheel/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

using reactor::Direction;
using reactor::Interest;
using reactor::IoOutcome;
using reactor::Registration;

namespace {

using Result = Resolver::Result;

// The size of the header of a DNS message. The last four bits of the header's
// fourth byte are the response code.
constexpr size_t kHeaderSize = 12;

std::string_view NameOfResponseCode(int code) {
  switch (code) {
    case 1:
      return "FORMERR";
    case 2:
      return "SERVFAIL";
    case 4:
      return "NOTIMP";
    case 5:
      return "REFUSED";
    default:
      return "an error";
  }
}

}  // namespace

// A socket of c-ares. Registered when the lookup first waits for the socket,
// because c-ares also opens sockets that it closes at once, to sort addresses.
struct AresLookup::Socket {
  Socket(int fd, int type, Socket* next) : fd(fd), type(type), next(next) {}

  OwnedFd fd;
  const int type;
  // If not 0, the error with which reads fail: the time of the socket has
  // passed, or a datagram could not be sent.
  int error = 0;
  std::optional<Registration> registration;  // destroyed before `fd`
  reactor::Waiter reader;
  reactor::Waiter writer;
  Socket* next;
};

const ares_socket_functions AresLookup::kFunctions = {
    .asocket =
        [](int family, int type, int protocol, void* lookup) {
          return static_cast<AresLookup*>(lookup)->Open(family, type, protocol);
        },
    .aclose =
        [](ares_socket_t fd, void* lookup) {
          static_cast<AresLookup*>(lookup)->CloseSocket(fd);
          return 0;
        },
    .aconnect =
        [](ares_socket_t fd, const sockaddr* addr, ares_socklen_t size,
           void* lookup) {
          auto* const self = static_cast<AresLookup*>(lookup);
          self->progress_ = true;
          self->RestartTimer();
          return connect(fd, addr, size);
        },
    .arecvfrom =
        [](ares_socket_t fd, void* data, size_t size, int flags, sockaddr* from,
           ares_socklen_t* from_size, void* lookup) {
          return static_cast<AresLookup*>(lookup)->Receive(
              fd, data, size, flags, from, from_size);
        },
    .asendv =
        [](ares_socket_t fd, const iovec* pieces, int count, void* lookup) {
          return static_cast<AresLookup*>(lookup)->Send(fd, pieces, count);
        },
};

AresLookup::AresLookup(std::shared_ptr<AresChannels> channels, std::string name,
                       uint16_t port)
    : channels_(std::move(channels)), name_(std::move(name)), port_(port) {}

AresLookup::~AresLookup() { Close(); }

PollResult<Result> AresLookup::Poll(Context& cx) {
  if (finished_) PanicFinished("AresResolver::Lookup()");
  if (!cx.HasBudget()) return YieldForBudget(cx);
  cx_ = &cx;
  const absl::Cleanup forget_context = [this] { cx_ = nullptr; };
  for (;;) {
    if (channel_.get() == nullptr) {
      TakeUnitIfAny(cx);
      if (absl::Status status = Begin(); !status.ok()) {
        finished_ = true;
        Close();
        return Result(std::move(status));
      }
    }
    absl::StatusOr<bool> ended = Advance(cx);
    if (ended.ok() && !*ended) return kPending;
    if (ended.ok() && ShouldRepeat()) {
      Close();
      ++attempt_;
      continue;
    }
    Result result = ended.ok() ? Answer() : Result(std::move(ended).status());
    Close();
    finished_ = true;
    return result;
  }
}

absl::Status AresLookup::Begin() {
  if (options().timeout <= absl::ZeroDuration() || options().attempts < 1) {
    return Error(absl::StatusCode::kInvalidArgument,
                 "AresOptions::timeout and AresOptions::attempts must be "
                 "positive");
  }
  for (const SocketAddr& server : options().servers) {
    if (server.scope() != 0) {
      return Error(absl::StatusCode::kInvalidArgument,
                   absl::StrCat("the name server ", server,
                                " of AresOptions has a scope; write an address "
                                "that needs none"));
    }
  }
  timers_ = wheel::Handle::TryCurrent();
  if (!timers_.has_value()) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "this thread has no timers; await the lookup in a task or "
                 "inside Runtime::BlockOn");
  }
  timer_.emplace(SleepUntil(*timers_, timers_->clock().Now() + TimeLimit()));
  if (const int status = channels_->Take(channel_); status != ARES_SUCCESS) {
    return ErrorOf(status);
  }
  // A kept channel has called the functions for another lookup.
  ares_set_socket_functions(channel_.get(), &kFunctions, this);

  ares_addrinfo_hints hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  ares_getaddrinfo(
      channel_.get(), name_.c_str(), /*service=*/nullptr, &hints,
      [](void* lookup, int status, int, ares_addrinfo* list) {
        static_cast<AresLookup*>(lookup)->OnAnswer(status, list);
      },
      this);
  return absl::OkStatus();
}

absl::StatusOr<bool> AresLookup::Advance(Context& cx) {
  while (!status_.has_value()) {
    for (Socket* socket = sockets_; socket != nullptr; socket = socket->next) {
      if (socket->registration.has_value()) continue;
      absl::StatusOr<Registration> registration = Registration::Create(
          socket->fd.get(), socket->type == SOCK_STREAM
                                ? Interest::kReadable | Interest::kWritable
                                : Interest::kReadable);
      if (!registration.ok()) {
        return Error(registration.status().code(),
                     registration.status().message());
      }
      socket->registration.emplace(*std::move(registration));
    }
    progress_ = false;
    Process(/*writes=*/true);
    if (status_.has_value()) break;
    // Polling the timer takes budget, of which a flood of datagrams that answer
    // nothing leaves none. The clock is asked first.
    if (!IsTimeUp()) {
      // c-ares reads a connection once, and has sockets that it did not read
      // yet.
      if (progress_) continue;
      PollResult<SleepResult> time = timer_->Poll(cx);
      if (time.IsPending()) return false;
      if (!time->ok()) {
        return Error(absl::StatusCode::kUnavailable,
                     "the runtime is being shut down");
      }
    }
    timed_out_ = true;
    if (sockets_ == nullptr) {
      return Error(absl::StatusCode::kInternal, "c-ares waits for nothing");
    }
    for (Socket* socket = sockets_; socket != nullptr; socket = socket->next) {
      socket->error = ETIMEDOUT;
    }
    RestartTimer();
    Process(/*writes=*/false);
  }
  return true;
}

void AresLookup::Process(bool writes) {
  // c-ares opens and closes sockets meanwhile.
  absl::InlinedVector<ares_socket_t, 4> fds;
  for (Socket* socket = sockets_; socket != nullptr; socket = socket->next) {
    fds.push_back(socket->fd.get());
  }
  for (const ares_socket_t fd : fds) {
    if (status_.has_value()) return;
    ares_process_fd(channel_.get(), fd, writes ? fd : ARES_SOCKET_BAD);
  }
}

void AresLookup::Close() {
  if (HasEndedWell()) {
    channels_->Keep(std::move(channel_));
  } else {
    // Ends the queries, which calls `OnAnswer()`, and closes all sockets.
    Context* const cx = std::exchange(cx_, nullptr);
    channel_.Destroy();
    cx_ = cx;
  }
  status_.reset();
  list_.reset();
  timer_.reset();
  timed_out_ = false;
  socket_failed_ = false;
  open_error_ = 0;
  response_code_ = 0;
}

bool AresLookup::HasEndedWell() const {
  return status_ == ARES_SUCCESS && sockets_ == nullptr && !timed_out_ &&
         !socket_failed_ && response_code_ == 0;
}

bool AresLookup::ShouldRepeat() const {
  return timed_out_ && attempt_ + 1 < options().attempts &&
         (*status_ == ARES_ECONNREFUSED || *status_ == ARES_ETIMEOUT);
}

Result AresLookup::Answer() const {
  if (*status_ != ARES_SUCCESS) return ErrorOf(*status_);
  std::vector<SocketAddr> addrs;
  const ares_addrinfo_node* node = list_ == nullptr ? nullptr : list_->nodes;
  for (; node != nullptr; node = node->ai_next) {
    AppendOnce(addrs, node->ai_addr, node->ai_addrlen, port_);
  }
  if (addrs.empty()) return ErrorOf(ARES_ENODATA);
  return addrs;
}

absl::Status AresLookup::ErrorOf(int status) const {
  switch (status) {
    case ARES_ENODATA:
      // The code of the second answer, which hides a failure of the first.
      if (response_code_ != 0) return NoAnswer();
      [[fallthrough]];
    case ARES_ENOTFOUND:
    case ARES_ENONAME:
      return Error(absl::StatusCode::kNotFound,
                   "the name does not exist or has no address");
    case ARES_ECONNREFUSED:
    case ARES_ETIMEOUT:
    case ARES_ESERVFAIL:
      return NoAnswer();
    case ARES_ENOMEM:
      return Error(absl::StatusCode::kResourceExhausted, "out of memory");
    case ARES_EBADNAME:
    case ARES_EBADSTR:
      return Error(absl::StatusCode::kInvalidArgument,
                   "not a name; the parts between dots have 1 to 63 "
                   "characters");
    default:
      return Error(absl::StatusCode::kInternal,
                   absl::StrCat("a name server or c-ares has failed: ",
                                ares_strerror(status)));
  }
}

absl::Status AresLookup::NoAnswer() const {
  if (open_error_ != 0) {
    const absl::Status error = absl::ErrnoToStatus(open_error_, "socket");
    return Error(error.code(), error.message());
  }
  const std::string servers = options().servers.empty()
                                  ? "the name servers of /etc/resolv.conf"
                                  : channels_->servers();
  if (response_code_ != 0) {
    return Error(absl::StatusCode::kUnavailable,
                 absl::StrCat("no name server can answer (",
                              NameOfResponseCode(response_code_), " from ",
                              servers, "); try again later"));
  }
  return Error(absl::StatusCode::kUnavailable,
               absl::StrCat("no name server answered (", servers,
                            "); check the network, or try again later"));
}

absl::Status AresLookup::Error(absl::StatusCode code,
                               std::string_view message) const {
  return absl::Status(code, absl::StrCat("Lookup(\"", name_, "\"): ", message));
}

absl::Duration AresLookup::TimeLimit() const {
  return options().timeout * (int64_t{1} << std::min(attempt_, 32));
}

void AresLookup::RestartTimer() {
  timer_->ResetAt(timers_->clock().Now() + TimeLimit());
}

bool AresLookup::IsTimeUp() const {
  const std::optional<Instant> deadline = timer_->Deadline();
  return deadline.has_value() && timers_->clock().Now() >= *deadline;
}

// -----------------------------------------------------------------------------
// Called by c-ares
// -----------------------------------------------------------------------------

AresLookup::Socket* AresLookup::Find(ares_socket_t fd) const {
  Socket* socket = sockets_;
  while (socket != nullptr && socket->fd.get() != fd) socket = socket->next;
  return socket;
}

void AresLookup::OnAnswer(int status, ares_addrinfo* list) noexcept {
  status_ = status;
  list_.reset(list);
}

ares_socket_t AresLookup::Open(int family, int type, int protocol) noexcept {
  // The channel is being destroyed: nothing new begins.
  if (cx_ == nullptr) {
    errno = ECANCELED;
    return ARES_SOCKET_BAD;
  }
  const int fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
  if (fd < 0) {
    open_error_ = errno;
    return ARES_SOCKET_BAD;
  }
  OwnedFd owned(fd);
  auto* const made = new (std::nothrow) Socket(-1, type, sockets_);
  if (made == nullptr) {
    errno = open_error_ = ENOMEM;
    return ARES_SOCKET_BAD;
  }
  made->fd = std::move(owned);
  sockets_ = made;
  return fd;
}

void AresLookup::CloseSocket(ares_socket_t fd) noexcept {
  Socket** link = &sockets_;
  while (*link != nullptr && (*link)->fd.get() != fd) link = &(*link)->next;
  if (*link == nullptr) return;
  Socket* const closed = *link;
  *link = closed->next;
  delete closed;
}

ares_ssize_t AresLookup::Receive(ares_socket_t fd, void* data, size_t size,
                                 int flags, sockaddr* from,
                                 ares_socklen_t* from_size) noexcept {
  Socket* const socket = Find(fd);
  if (socket == nullptr) {
    errno = EBADF;
    return -1;
  }
  if (socket->error != 0) {
    errno = socket->error;
    return -1;
  }
  const auto attempt = [=] {
    return recvfrom(fd, data, size, flags, from, from_size);
  };
  const bool is_datagram = socket->type == SOCK_DGRAM;
  ares_ssize_t received = Call(*socket, Direction::kRead, attempt);
  // For c-ares the end of a connection is an error, but an empty datagram is
  // not one. The budget ends the loop.
  while (is_datagram && received == 0) {
    received = Call(*socket, Direction::kRead, attempt);
  }
  if (is_datagram && received >= static_cast<ares_ssize_t>(kHeaderSize)) {
    constexpr int kNameError = 3;
    const int code = static_cast<const uint8_t*>(data)[3] & 15;
    if (code != 0 && code != kNameError) response_code_ = code;
  }
  return received;
}

ares_ssize_t AresLookup::Send(ares_socket_t fd, const iovec* pieces,
                              int count) noexcept {
  Socket* const socket = Find(fd);
  if (socket == nullptr || cx_ == nullptr) {
    errno = EBADF;
    return -1;
  }
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(pieces);
  message.msg_iovlen = static_cast<size_t>(count);
  const auto attempt = [fd, message] {
    return sendmsg(fd, &message, MSG_NOSIGNAL);
  };
  // c-ares does not wait in order to send a datagram, but asks the next server.
  const ares_ssize_t sent = socket->type == SOCK_STREAM
                                ? Call(*socket, Direction::kWrite, attempt)
                                : attempt();
  if (sent >= 0) {
    progress_ = true;
    RestartTimer();
  } else if (socket->type == SOCK_DGRAM) {
    // The system reports only here that no server receives at the address.
    // c-ares gives up this query, but would wait for the query sent before.
    progress_ = true;
    socket_failed_ = true;
    // A full buffer is no failure of the socket.
    if (errno != EAGAIN) socket->error = errno;
  }
  return sent;
}

template <class Attempt>
ares_ssize_t AresLookup::Call(Socket& socket, Direction direction,
                              Attempt attempt) {
  // A socket that was opened just now is registered before the next round.
  if (cx_ == nullptr || !socket.registration.has_value()) {
    errno = EAGAIN;
    return -1;
  }
  const IoOutcome outcome = socket.registration->PollOutcome(
      direction, *cx_,
      direction == Direction::kRead ? &socket.reader : &socket.writer,
      /*full=*/0, attempt);
  if (outcome.IsPending()) {
    errno = EAGAIN;
    return -1;
  }
  if (outcome.IsCount()) {
    progress_ = true;
    return static_cast<ares_ssize_t>(outcome.count());
  }
  socket_failed_ = true;
  // The reactor has been shut down if the call was not made.
  errno = outcome.error() != 0 ? outcome.error() : ESHUTDOWN;
  return -1;
}

}  // namespace rouse::internal
