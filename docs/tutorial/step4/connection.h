// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef CONNECTION_H_
#define CONNECTION_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "rouse/rouse.h"

template <class S>
rouse::Co<absl::Status> Serve(S stream) {
  char buffer[1024];
  for (;;) {
    size_t size =
        co_await rouse::OrReturn(rouse::Read(stream, absl::MakeSpan(buffer)));
    if (size == 0) co_return absl::OkStatus();
    std::string_view data(buffer, size);
    co_await rouse::OrReturn(rouse::WriteAll(stream, data));
  }
}

#endif  // CONNECTION_H_
