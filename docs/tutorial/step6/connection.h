// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef CONNECTION_H_
#define CONNECTION_H_

#include <optional>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/rouse.h"
#include "store.h"
#include "words_codec.h"

inline constexpr absl::Duration kIdle = absl::Seconds(5);
inline constexpr absl::Duration kAnswer = absl::Seconds(1);
inline constexpr absl::Duration kSend = absl::Seconds(10);

template <class S>
rouse::Co<absl::Status> Serve(S stream, Store store) {
  rouse::Framed frames(std::move(stream), WordsCodec());
  for (;;) {
    auto first =
        co_await rouse::Select(rouse::Next(frames), rouse::Sleep(kIdle));
    if (first.index() == 1) {
      Words bye = {"ERR", "idle for", absl::FormatDuration(kIdle)};
      co_return co_await rouse::Timeout(kSend, frames.Send(std::move(bye)));
    }
    std::optional<absl::StatusOr<Words>>& command = std::get<0>(first);
    if (!command.has_value()) co_return absl::OkStatus();
    co_await rouse::OrReturn(command->status());
    absl::StatusOr<Words> reply =
        co_await rouse::Timeout(kAnswer, Ask(store, **command));
    if (rouse::TimedOut(reply.status()))
      reply = Words{"ERR", "try again later"};
    co_await rouse::OrReturn(reply.status());
    co_await rouse::OrReturn(
        rouse::Timeout(kSend, frames.Send(*std::move(reply))));
  }
}

#endif  // CONNECTION_H_
