// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/echo/server.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task_tracker.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timeout.h"

namespace rouse::echo {
namespace {

constexpr size_t kBufferSize = 4096;

// How long the server waits before it tries to accept again when no descriptor
// is free, and how often it logs this error.
constexpr absl::Duration kRetryAccept = absl::Milliseconds(50);
constexpr absl::Duration kLogInterval = absl::Seconds(1);

// Serves a connection. The connection ends after the peer's last byte, after an
// error, or after `idle_timeout` without a byte. No caller needs the reason.
Co<> Echo(TcpStream stream, absl::Duration idle_timeout,
          std::shared_ptr<Totals> totals) {
  char buffer[kBufferSize];
  for (;;) {
    const absl::StatusOr<size_t> size =
        co_await Timeout(idle_timeout, stream.Read(absl::MakeSpan(buffer)));
    if (!size.ok() || *size == 0) co_return;
    // Does not use `WriteAll()`, which does not return the number of bytes sent
    // if it fails.
    std::string_view data(buffer, *size);
    while (!data.empty()) {
      const absl::StatusOr<size_t> written =
          co_await Timeout(idle_timeout, stream.Write(data));
      if (!written.ok()) co_return;
      totals->AddBytes(*written);
      data.remove_prefix(*written);
    }
  }
}

// Logs why the server accepts no connections, at most once per `kLogInterval`.
class AcceptErrors {
 public:
  void Log(const absl::Status& error) {
    const Instant now = Now();
    if (now < next_) return;
    next_ = now + kLogInterval;
    LOG(ERROR) << "cannot accept connections; the server tries again: "
               << error;
  }

 private:
  Instant next_;
};

}  // namespace

absl::StatusOr<Server> Server::Listen(const SocketAddr& address,
                                      absl::Duration idle_timeout) {
  absl::StatusOr<TcpListener> listener = TcpListener::Bind(address);
  if (!listener.ok()) return listener.status();
  return Server(*std::move(listener), idle_timeout);
}

Co<absl::Status> Server::Accept(TcpListener listener,
                                const CancellationToken& stop) {
  AcceptErrors errors;
  for (;;) {
    std::optional<absl::StatusOr<TcpListener::Accepted>> accepted =
        co_await stop.RunUntilCancelled(listener.Accept());
    if (!accepted.has_value()) co_return absl::OkStatus();
    if (accepted->ok()) {
      totals_->AddConnection();
      connections_
          .Spawn(Echo(std::move((*accepted)->stream), idle_timeout_, totals_))
          .Detach();
      continue;
    }
    if (!absl::IsResourceExhausted(accepted->status())) {
      co_return accepted->status();
    }
    errors.Log(accepted->status());
    // If `stop` is cancelled now, the next call notices.
    (void)co_await stop.RunUntilCancelled(Sleep(kRetryAccept));
  }
}

Co<absl::Status> Server::Run(CancellationToken stop, absl::Duration grace) && {
  // `Accept()` closes the listener, so no further client can connect.
  co_await OrReturn(Accept(std::move(listener_), stop));
  connections_.Close();
  (void)co_await Timeout(grace, connections_.Wait());
  co_return absl::OkStatus();
}

}  // namespace rouse::echo
