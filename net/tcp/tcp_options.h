// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tcp_options.h
// -----------------------------------------------------------------------------
//
// The options of a TCP connection, for a `TcpStream`, and for a `TcpSocket`
// before the connection exists:
//
//   co_await rouse::OrReturn(stream.SetNoDelay(true));
//   rouse::KeepAlive keep_alive;
//   keep_alive.idle = absl::Minutes(1);
//   co_await rouse::OrReturn(stream.SetKeepAlive(keep_alive));

#ifndef ROUSE_NET_TCP_TCP_OPTIONS_H_
#define ROUSE_NET_TCP_TCP_OPTIONS_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/net/ip_options.h"
#include "rouse/net/socket/socket_option.h"

namespace rouse {

// KeepAlive
//
// Says when to probe whether a silent peer is still alive. Durations are
// rounded up to whole seconds, 1 or more.
struct KeepAlive {
  absl::Duration idle = absl::Hours(2);         // before the first probe
  absl::Duration interval = absl::Seconds(75);  // between probes
  int probes = 9;  // unanswered probes after which the peer counts as dead
};

namespace internal {

absl::Status SetKeepAlive(int fd, const std::optional<KeepAlive>& keep_alive);
absl::StatusOr<std::optional<KeepAlive>> GetKeepAlive(int fd);
absl::Status SetDeferAccept(int fd, absl::Duration limit);
absl::StatusOr<absl::Duration> GetDeferAccept(int fd);
absl::Status SetLinger(int fd, std::optional<absl::Duration> linger);
absl::StatusOr<std::optional<absl::Duration>> GetLinger(int fd);
absl::StatusOr<bool> IsMultipath(int fd);

}  // namespace internal

// TcpOptions
//
// The base class of a `Socket` that has an `fd()`. All members are thread-safe.
// Adds options to those of `IpOptions`, and has the same errors.
template <class Socket>
class TcpOptions : public IpOptions<Socket> {
 public:
  // Sets or returns whether small writes are sent at once (TCP_NODELAY) instead
  // of being gathered while data is unacknowledged. Off in a new connection.
  absl::Status SetNoDelay(bool on) const {
    return internal::SetOption(fd(), internal::SocketOption::kNoDelay, on);
  }
  absl::StatusOr<bool> NoDelay() const {
    return internal::GetOption(fd(), internal::SocketOption::kNoDelay);
  }

  // Sets or returns whether received bytes are acknowledged at once
  // (TCP_QUICKACK) instead of together with the next bytes that are sent. The
  // system turns the option off, and on, by itself as the connection goes on:
  // set it again after a read.
  absl::Status SetQuickAck(bool on) const {
    return internal::SetOption(fd(), internal::SocketOption::kQuickAck, on);
  }
  absl::StatusOr<bool> QuickAck() const {
    return internal::GetOption(fd(), internal::SocketOption::kQuickAck);
  }

  // Sets or returns whether and when a silent peer is probed (SO_KEEPALIVE). If
  // the peer is dead, operations fail with DeadlineExceeded. Off
  // (`std::nullopt`) in a new connection.
  absl::Status SetKeepAlive(const std::optional<KeepAlive>& keep_alive) const {
    return internal::SetKeepAlive(fd(), keep_alive);
  }
  absl::StatusOr<std::optional<KeepAlive>> GetKeepAlive() const {
    return internal::GetKeepAlive(fd());
  }

  // Sets or returns how closing the socket treats undelivered bytes
  // (SO_LINGER). With `std::nullopt`, the default in a new connection, the
  // system delivers the bytes while the program continues. With zero the bytes
  // are dropped, and the peer gets a reset. With a positive duration, rounded
  // up to whole seconds, closing *blocks the thread* until the bytes are
  // delivered or the duration has passed.
  absl::Status SetLinger(std::optional<absl::Duration> linger) const {
    return internal::SetLinger(fd(), linger);
  }
  absl::StatusOr<std::optional<absl::Duration>> Linger() const {
    return internal::GetLinger(fd());
  }

  // Returns whether the connection can use several paths (Multipath TCP): see
  // `TcpSocket::OpenMultipath()`. Becomes false if the peer, or a device on the
  // way, has no Multipath TCP, so ask after the connection has been made. A
  // connection is always reported as a TCP connection before Linux 5.16.
  absl::StatusOr<bool> IsMultipath() const {
    return internal::IsMultipath(fd());
  }

 protected:
  TcpOptions() = default;
  ~TcpOptions() = default;
  TcpOptions(const TcpOptions&) = default;
  TcpOptions& operator=(const TcpOptions&) = default;

 private:
  int fd() const { return static_cast<const Socket&>(*this).fd(); }
};

}  // namespace rouse

#endif  // ROUSE_NET_TCP_TCP_OPTIONS_H_
