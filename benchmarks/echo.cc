// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/benchmarks/echo.h"

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/future/co.h"
#include "rouse/net/tcp_stream.h"

namespace rouse::bench {

Co<> Echo(TcpStream stream) {
  char buffer[1024];
  for (;;) {
    const absl::StatusOr<size_t> size =
        co_await stream.Read(absl::MakeSpan(buffer));
    if (!size.ok() || *size == 0) co_return;
    const absl::Status written =
        co_await stream.WriteAll(std::string_view(buffer, *size));
    if (!written.ok()) co_return;
  }
}

}  // namespace rouse::bench
