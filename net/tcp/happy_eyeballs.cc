// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/tcp/happy_eyeballs.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/future/co.h"
#include "rouse/future/many/futures_unordered.h"
#include "rouse/future/stream.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/timer/timeout.h"
#include "rouse/timer/wheel/handle.h"

namespace rouse {

namespace internal {

std::vector<SocketAddr> InterleaveFamilies(
    const std::vector<SocketAddr>& addrs) {
  // Of the first address's family, and of the other one.
  std::vector<SocketAddr> queues[2];
  for (const SocketAddr& addr : addrs) {
    queues[addr.family() == addrs.front().family() ? 0 : 1].push_back(addr);
  }
  std::vector<SocketAddr> turns;
  turns.reserve(addrs.size());
  for (size_t i = 0; turns.size() < addrs.size(); ++i) {
    for (const std::vector<SocketAddr>& queue : queues) {
      if (i < queue.size()) turns.push_back(queue[i]);
    }
  }
  return turns;
}

}  // namespace internal

Co<absl::StatusOr<TcpStream>> ConnectHappyEyeballs(
    std::vector<SocketAddr> addrs, absl::Duration delay) {
  if (addrs.empty()) {
    co_return absl::InvalidArgumentError(
        "ConnectHappyEyeballs: the list of addresses is empty; pass at least "
        "one address");
  }
  addrs = internal::InterleaveFamilies(addrs);
  const bool has_timers = wheel::Handle::TryCurrent().has_value();
  FuturesUnordered<TcpStream::ConnectFuture> attempts;
  absl::Status failure;
  size_t started = 0;
  for (;;) {
    if (started < addrs.size()) {
      attempts.Push(TcpStream::Connect(addrs[started++]));
    }
    std::optional<absl::StatusOr<TcpStream>> ended;
    if (started < addrs.size() && has_timers) {
      auto wait = Timeout(delay, Next(attempts));
      auto in_time = co_await std::move(wait);
      if (!in_time.ok()) continue;  // the time of the next attempt
      ended = *std::move(in_time);
    } else {
      ended = co_await Next(attempts);
    }
    // No attempt is left.
    if (!ended.has_value()) co_return failure;
    if (ended->ok()) co_return *std::move(ended);
    const absl::Status& status = ended->status();
    failure = failure.ok() ? status
                           : absl::Status(status.code(),
                                          absl::StrCat(failure.message(), "; ",
                                                       status.message()));
  }
}

}  // namespace rouse
