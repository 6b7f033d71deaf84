// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/tcp_options.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/net/socket/socket_option.h"

namespace rouse::internal {
namespace {

// Rounds up to whole seconds, and clamps to `least` and the range of an int.
int ToSeconds(absl::Duration duration, int64_t least) {
  const int64_t seconds =
      absl::ToInt64Seconds(absl::Ceil(duration, absl::Seconds(1)));
  return static_cast<int>(
      std::clamp<int64_t>(seconds, least, std::numeric_limits<int>::max()));
}

}  // namespace

absl::Status SetDeferAccept(int fd, absl::Duration limit) {
  return SetOption(fd, SocketOption::kDeferAccept, ToSeconds(limit, 0));
}

absl::StatusOr<absl::Duration> GetDeferAccept(int fd) {
  const absl::StatusOr<int> seconds = GetOption(fd, SocketOption::kDeferAccept);
  if (!seconds.ok()) return seconds.status();
  return absl::Seconds(*seconds);
}

absl::Status SetKeepAlive(int fd, const std::optional<KeepAlive>& keep_alive) {
  if (keep_alive.has_value()) {
    // Sets the times before turning the option on, so that keep-alive is never
    // active with other times.
    absl::Status status =
        SetOption(fd, SocketOption::kKeepIdle, ToSeconds(keep_alive->idle, 1));
    if (status.ok()) {
      status = SetOption(fd, SocketOption::kKeepInterval,
                         ToSeconds(keep_alive->interval, 1));
    }
    if (status.ok()) {
      status = SetOption(fd, SocketOption::kKeepCount, keep_alive->probes);
    }
    if (!status.ok()) return status;
  }
  return SetOption(fd, SocketOption::kKeepAlive, keep_alive.has_value());
}

absl::StatusOr<std::optional<KeepAlive>> GetKeepAlive(int fd) {
  const absl::StatusOr<int> on = GetOption(fd, SocketOption::kKeepAlive);
  if (!on.ok()) return on.status();
  if (*on == 0) return std::nullopt;
  const absl::StatusOr<int> idle = GetOption(fd, SocketOption::kKeepIdle);
  if (!idle.ok()) return idle.status();
  const absl::StatusOr<int> interval =
      GetOption(fd, SocketOption::kKeepInterval);
  if (!interval.ok()) return interval.status();
  const absl::StatusOr<int> probes = GetOption(fd, SocketOption::kKeepCount);
  if (!probes.ok()) return probes.status();
  KeepAlive keep_alive;
  keep_alive.idle = absl::Seconds(*idle);
  keep_alive.interval = absl::Seconds(*interval);
  keep_alive.probes = *probes;
  return keep_alive;
}

absl::Status SetLinger(int fd, std::optional<absl::Duration> linger) {
  struct linger value = {};
  if (linger.has_value()) {
    value.l_onoff = 1;
    value.l_linger = ToSeconds(*linger, 0);
  }
  if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &value, sizeof value) == 0) {
    return absl::OkStatus();
  }
  return OptionError("SO_LINGER");
}

absl::StatusOr<std::optional<absl::Duration>> GetLinger(int fd) {
  struct linger value = {};
  socklen_t size = sizeof value;
  if (getsockopt(fd, SOL_SOCKET, SO_LINGER, &value, &size) != 0) {
    return absl::ErrnoToStatus(errno, "getsockopt(SO_LINGER)");
  }
  if (value.l_onoff == 0) return std::nullopt;
  return absl::Seconds(value.l_linger);
}

absl::StatusOr<bool> IsMultipath(int fd) {
  const absl::StatusOr<int> protocol =
      GetOption(fd, SocketOption{SOL_SOCKET, SO_PROTOCOL, "SO_PROTOCOL"});
  if (!protocol.ok()) return protocol.status();
  if (*protocol != kMultipathTcp) return false;
  // The system asks TCP for this option, which does not know it, if the
  // connection has fallen back to TCP.
  constexpr int kSolMptcp = 284;  // newer than some C libraries, like the name
  constexpr int kMptcpInfo = 1;
  char info[64];
  socklen_t size = sizeof info;
  return getsockopt(fd, kSolMptcp, kMptcpInfo, info, &size) == 0;
}

}  // namespace rouse::internal
