// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/protocol.h"

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
#include "rouse/http/protocol.h"
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

class Nghttp2 final : public internal::Protocol {
 public:
  explicit Nghttp2(const Options& options) : options_(options) {}

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
