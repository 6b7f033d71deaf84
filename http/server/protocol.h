// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: protocol.h
// -----------------------------------------------------------------------------
//
// `Protocol` is the interface behind which a server speaks another protocol
// than HTTP/1.1. http/h2/ implements the interface:
//
//   http::ServerOptions options;
//   options.http2 = http::h2::Protocol();

#ifndef ROUSE_HTTP_SERVER_PROTOCOL_H_
#define ROUSE_HTTP_SERVER_PROTOCOL_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "rouse/future/any_future.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/handler.h"
#include "rouse/http/server_options.h"

namespace rouse::http::internal {

// Protocol
//
// Const members are thread-safe.
class Protocol {
 public:
  Protocol() = default;
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  virtual ~Protocol() = default;

  // Returns a future of the connection's end, with the errors of
  // `ServeConnection()`. `received` has the bytes that were read from `io`
  // before the protocol was known.
  virtual AnyFuture<absl::Status> Serve(
      std::unique_ptr<Io> io, std::string received,
      std::shared_ptr<Handler> handler,
      std::shared_ptr<const ServerOptions> options, std::string peer) const = 0;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_SERVER_PROTOCOL_H_
