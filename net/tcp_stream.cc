#include "rouse/net/tcp_stream.h"

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/base/panic.h"
#include "rouse/net/socket.h"
#include "rouse/net/socket_addr.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/reactor/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using internal::Socket;
using reactor::Direction;
using reactor::Interest;

// Priority, since a read stops short of out-of-band data: only who knows that
// there is some knows that such a read has not emptied the socket.
constexpr Interest kInterest =
    Interest::kReadable | Interest::kWritable | Interest::kPriority;

[[noreturn]] void PanicFinished(std::string_view future) {
  Panic(absl::StrCat(future,
                     " was polled after it had given its result; make another "
                     "one"));
}

}  // namespace

absl::StatusOr<TcpStream> TcpStream::FromSocket(Socket socket,
                                                const reactor::Handle& handle) {
  absl::StatusOr<Evented> evented =
      Evented::Create(std::move(socket), kInterest, handle);
  if (!evented.ok()) return std::move(evented).status();
  return TcpStream(*std::move(evented));
}

absl::StatusOr<TcpStream> TcpStream::FromFd(OwnedFd fd,
                                            const reactor::Handle& handle) {
  absl::StatusOr<Socket> socket = Socket::Adopt(std::move(fd));
  if (!socket.ok()) return std::move(socket).status();
  return FromSocket(*std::move(socket), handle);
}

PollResult<absl::StatusOr<size_t>> TcpStream::PollRead(
    Context& cx, absl::Span<char> buffer, reactor::Waiter* waiter) const {
  if (buffer.empty()) return absl::StatusOr<size_t>(0);
  const Socket& socket = io();
  return evented_.registration().PollIo(
      Direction::kRead, cx, waiter, buffer.size(),
      [&] { return socket.Receive(buffer); },
      [&](int error) { return socket.ErrorAtPeer(error, "recv from"); });
}

PollResult<absl::StatusOr<size_t>> TcpStream::PollWrite(
    Context& cx, std::string_view data, reactor::Waiter* waiter) const {
  if (data.empty()) return absl::StatusOr<size_t>(0);
  const Socket& socket = io();
  return evented_.registration().PollIo(
      Direction::kWrite, cx, waiter, data.size(),
      [&] { return socket.Send(data); },
      [&](int error) { return socket.ErrorAtPeer(error, "send to"); });
}

TcpStream::ReadFuture TcpStream::Read(absl::Span<char> buffer) const {
  return ReadFuture(*this, buffer);
}

TcpStream::WriteFuture TcpStream::Write(std::string_view data) const {
  return WriteFuture(*this, data);
}

TcpStream::WriteAllFuture TcpStream::WriteAll(std::string_view data) const {
  return WriteAllFuture(*this, data);
}

TcpStream::ConnectFuture TcpStream::Connect(SocketAddr addr,
                                            reactor::Handle handle) {
  return ConnectFuture(addr, std::move(handle));
}

PollResult<absl::StatusOr<size_t>> TcpStream::ReadFuture::Poll(Context& cx) {
  if (stream_ == nullptr) PanicFinished("TcpStream::Read()");
  auto result = stream_->PollRead(cx, buffer_, &waiter_);
  if (result.IsReady()) stream_ = nullptr;
  return result;
}

PollResult<absl::StatusOr<size_t>> TcpStream::WriteFuture::Poll(Context& cx) {
  if (stream_ == nullptr) PanicFinished("TcpStream::Write()");
  auto result = stream_->PollWrite(cx, data_, &waiter_);
  if (result.IsReady()) stream_ = nullptr;
  return result;
}

PollResult<absl::Status> TcpStream::WriteAllFuture::Poll(Context& cx) {
  if (stream_ == nullptr) PanicFinished("TcpStream::WriteAll()");
  while (!data_.empty()) {
    auto written = stream_->PollWrite(cx, data_, &waiter_);
    if (written.IsPending()) return kPending;
    if (!written->ok()) {
      stream_ = nullptr;
      return (*std::move(written)).status();
    }
    data_.remove_prefix(**written);
  }
  stream_ = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<TcpStream> TcpStream::ConnectFuture::Start() const {
  absl::StatusOr<Socket> socket = Socket::Open(addr_);
  if (!socket.ok()) return std::move(socket).status();
  // Before it is registered: a socket that is neither connected nor about to be
  // counts as closed, and closed states stay.
  if (socket->Connect(addr_) != 0 && errno != EINPROGRESS && errno != EINTR) {
    return absl::ErrnoToStatus(errno, absl::StrCat("connect to ", addr_));
  }
  return FromSocket(*std::move(socket), handle_);
}

PollResult<absl::StatusOr<TcpStream>> TcpStream::ConnectFuture::Poll(
    Context& cx) {
  using Result = absl::StatusOr<TcpStream>;
  if (finished_) PanicFinished("TcpStream::Connect()");
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  if (!stream_.has_value()) {
    Result started = Start();
    if (!started.ok()) {
      finished_ = true;
      return started;
    }
    stream_.emplace(*std::move(started));
  }
  const auto event = stream_->evented_.registration().PollReady(
      Direction::kWrite, cx, &waiter_);
  if (event.IsPending()) return kPending;
  unit->MadeProgress();
  finished_ = true;
  TcpStream stream = *std::exchange(stream_, std::nullopt);
  if (!event->ok()) return Result(event->status());
  const int error = stream.io().TakeError();
  if (error != 0) {
    return Result(
        absl::ErrnoToStatus(error, absl::StrCat("connect to ", addr_)));
  }
  return Result(std::move(stream));
}

}  // namespace rouse
