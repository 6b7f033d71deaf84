// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef CONNECTION_H_
#define CONNECTION_H_

#include <optional>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/rouse.h"
#include "store.h"
#include "words_codec.h"

inline constexpr absl::Duration kIdle = absl::Seconds(5);
inline constexpr absl::Duration kSend = absl::Seconds(10);

// Sends all changes, until the client sends anything or ends the connection.
template <class S>
rouse::Co<absl::Status> Publish(rouse::Framed<S, WordsCodec>& frames,
                                rouse::broadcast::Receiver<Words> changes) {
  Words event = {"SUBSCRIBED"};
  for (;;) {
    co_await rouse::OrReturn(
        rouse::Timeout(kSend, frames.Send(std::move(event))));
    auto first = co_await rouse::Select(rouse::Next(frames), changes.Receive());
    if (first.index() == 0) co_return absl::OkStatus();
    rouse::broadcast::Received<Words>& change = std::get<1>(first);
    event = {"MISSED", absl::StrCat(change.lagged())};
    if (change.has_value()) event = *std::move(change);
  }
}

template <class S>
rouse::Co<absl::Status> Talk(rouse::Framed<S, WordsCodec>& frames,
                             Store store) {
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
    if (**command == Words{"SUBSCRIBE"}) {
      co_return co_await Publish(frames, store->Subscribe());
    }
    co_await rouse::OrReturn(
        rouse::Timeout(kSend, frames.Send(store->Ask(**command))));
  }
}

template <class S>
rouse::Co<absl::Status> Serve(S stream, Store store,
                              rouse::CancellationToken stop = {}) {
  rouse::Framed frames(std::move(stream), WordsCodec());
  auto end = co_await stop.RunUntilCancelled(Talk(frames, store));
  if (end.has_value()) co_return *end;
  Words bye = {"BYE"};
  co_return co_await rouse::Timeout(kSend, frames.Send(std::move(bye)));
}

#endif  // CONNECTION_H_
