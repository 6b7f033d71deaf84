// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/client/connect.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/client/errors.h"
#include "rouse/future/co.h"
#include "rouse/net/by_name.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/timer/timed_out.h"
#include "rouse/timer/timeout.h"

namespace mini_redis::internal {

rouse::Co<absl::StatusOr<rouse::TcpStream>> Connect(std::string address,
                                                    absl::Duration timeout) {
  absl::StatusOr<rouse::TcpStream> stream =
      co_await rouse::Timeout(timeout, rouse::ConnectTcp(address));
  if (rouse::TimedOut(stream.status())) {
    co_return absl::DeadlineExceededError(absl::StrCat(
        address, ": no connection within ", absl::FormatDuration(timeout)));
  }
  if (!stream.ok()) co_return Annotate(address, stream.status());
  // Requests are small, and must not wait for the replies to earlier requests.
  const absl::Status status = stream->SetNoDelay(true);
  if (!status.ok()) co_return Annotate(address, status);
  co_return stream;
}

}  // namespace mini_redis::internal
