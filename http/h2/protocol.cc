// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/protocol.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "rouse/future/any_future.h"
#include "rouse/future/co.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h2/options.h"
#include "rouse/http/h2/server_session.h"
#include "rouse/http/handler.h"
#include "rouse/http/server/protocol.h"
#include "rouse/http/server_options.h"

namespace rouse::http::h2 {
namespace {

using internal::Handler;
using internal::Io;
using internal::ServerSession;

Co<absl::Status> Run(std::unique_ptr<Io> io, std::string received,
                     std::shared_ptr<Handler> handler,
                     std::shared_ptr<const ServerOptions> options,
                     std::string peer, Options h2) {
  ServerSession session(std::move(io), std::move(received), std::move(handler),
                        std::move(options), std::move(peer), h2);
  co_return co_await session;
}

constexpr uint32_t kLeastConnectionWindow = 65'535;  // RFC 9113, section 6.9.2
constexpr uint32_t kMostWindow = 0x7fffffff;

// Returns the options with each number in its range.
Options InRange(Options options) {
  options.max_concurrent_streams =
      std::max<uint32_t>(options.max_concurrent_streams, 1);
  options.stream_window_bytes =
      std::clamp<uint32_t>(options.stream_window_bytes, 1, kMostWindow);
  options.connection_window_bytes = std::clamp(
      options.connection_window_bytes, kLeastConnectionWindow, kMostWindow);
  return options;
}

class Nghttp2 final : public internal::Protocol {
 public:
  explicit Nghttp2(const Options& options) : options_(InRange(options)) {}

  AnyFuture<absl::Status> Serve(std::unique_ptr<Io> io, std::string received,
                                std::shared_ptr<Handler> handler,
                                std::shared_ptr<const ServerOptions> options,
                                std::string peer) const override {
    return Run(std::move(io), std::move(received), std::move(handler),
               std::move(options), std::move(peer), options_);
  }

 private:
  const Options options_;
};

}  // namespace

std::shared_ptr<const internal::Protocol> Protocol(const Options& options) {
  return std::make_shared<Nghttp2>(options);
}

}  // namespace rouse::http::h2
