// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: fake_server.h
// -----------------------------------------------------------------------------
//
// The server's end of a connection, which a test plays by hand.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_CLIENT_FAKE_SERVER_H_
#define ROUSE_EXAMPLES_MINI_REDIS_CLIENT_FAKE_SERVER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/command_decoder.h"
#include "rouse/future/co.h"
#include "rouse/future/stream.h"
#include "rouse/io/duplex.h"
#include "rouse/io/framed.h"
#include "rouse/io/write_all.h"

namespace mini_redis {

class FakeServer {
 public:
  explicit FakeServer(rouse::DuplexStream stream)
      : frames_(std::move(stream), resp::CommandDecoder()) {}

  // Returns the words of the next request, or "end" after the last request.
  rouse::Co<std::string> Next() {
    auto command = co_await rouse::Next(frames_);
    if (!command.has_value()) co_return "end";
    if (!command->ok()) co_return command->status().ToString();
    std::string words;
    for (size_t i = 0; i < (*command)->size(); ++i) {
      if (i > 0) words += " ";
      words += (**command)[i];
    }
    co_return words;
  }

  // Sends the bytes of replies.
  rouse::Co<absl::Status> Reply(std::string_view bytes) {
    co_return co_await rouse::WriteAll(frames_.stream(), bytes);
  }

 private:
  rouse::Framed<rouse::DuplexStream, resp::CommandDecoder> frames_;
};

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_CLIENT_FAKE_SERVER_H_
