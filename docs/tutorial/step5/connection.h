// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef CONNECTION_H_
#define CONNECTION_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/rouse.h"
#include "store.h"
#include "words_codec.h"

template <class S>
rouse::Co<absl::Status> Serve(S stream, Store store) {
  rouse::Framed frames(std::move(stream), WordsCodec());
  while (auto command = co_await rouse::Next(frames)) {
    co_await rouse::OrReturn(command->status());
    Words reply = co_await rouse::OrReturn(Ask(store, **command));
    co_await rouse::OrReturn(frames.Send(std::move(reply)));
  }
  co_return absl::OkStatus();
}

#endif  // CONNECTION_H_
