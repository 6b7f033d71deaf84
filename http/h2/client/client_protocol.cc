// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/client/client_protocol.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/future/co.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h2/client/client_session.h"
#include "rouse/http/h2/client/client_stream.h"
#include "rouse/http/h2/client/stream_exchange.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/request.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/waker.h"

namespace rouse::http::h2 {
namespace {

using internal::ClientLink;
using internal::ClientSession;
using internal::ClientStream;
using internal::ExchangeLimits;
using internal::Io;
using internal::RefusedExchange;
using internal::SharedConnection;
using internal::SharedExchange;
using internal::StreamExchange;
using internal::StreamUse;

// The pool's handle of a connection.
class Connection final : public SharedConnection {
 public:
  explicit Connection(std::shared_ptr<ClientLink> link)
      : link_(std::move(link)) {}

  ~Connection() override {
    Waker session;
    {
      const ThreadMutexLock lock(&link_->mu);
      link_->is_abandoned = true;
      session = std::exchange(link_->session, Waker());
    }
    internal::WakeDropped(std::move(session));
  }

  std::unique_ptr<SharedExchange> Begin(Request& request) override {
    absl::Status checked = internal::CheckRequest(request);
    if (!checked.ok()) {
      return std::make_unique<RefusedExchange>(std::move(checked),
                                               std::move(request));
    }
    auto stream = std::make_shared<ClientStream>();
    ClientStream::List place = {stream};
    Body body;
    Waker session;
    {
      const ThreadMutexLock lock(&link_->mu);
      if (!link_->takes_requests) return nullptr;
      link_->has_begun = true;
      stream->streams_out = !request.body.is_text();
      stream->out_size = request.body.unread_size();
      stream->request = std::move(request);
      if (stream->streams_out) {
        body = std::exchange(stream->request.body, Body());
      }
      stream->progressed = Now();
      stream->place = place.begin();
      link_->waiting.splice(link_->waiting.end(), place);
      session = std::exchange(link_->session, Waker());
    }
    internal::WakeDropped(std::move(session));
    return std::make_unique<StreamExchange>(
        std::make_unique<StreamUse>(link_, std::move(stream), std::move(body)));
  }

  void ReleaseWaiting() override {
    internal::WakeList woken;
    ClientStream::List released;
    {
      const ThreadMutexLock lock(&link_->mu);
      released = link_->Release(0, internal::Repeat::kFreely, woken);
    }
    woken.WakeAll();
  }

  bool is_open() const override {
    const ThreadMutexLock lock(&link_->mu);
    return link_->takes_requests;
  }
  size_t requests() const override {
    const ThreadMutexLock lock(&link_->mu);
    return link_->waiting.size() + link_->active;
  }
  size_t most_requests() const override {
    const ThreadMutexLock lock(&link_->mu);
    return link_->most_active;
  }

 private:
  const std::shared_ptr<ClientLink> link_;
};

// Owns the session, so that destroying this future before its first poll fails
// the requests, too.
Co<> Run(std::unique_ptr<ClientSession> session) { co_await *session; }

constexpr uint32_t kLeastConnectionWindow = 65'535;  // RFC 9113, section 6.9.2
constexpr uint32_t kMostWindow = 0x7fffffff;

class Nghttp2 final : public internal::ClientProtocol {
 public:
  explicit Nghttp2(const ClientLimits& limits)
      : prior_knowledge_(limits.prior_knowledge),
        stream_window_(
            std::clamp<uint32_t>(limits.stream_window_bytes, 1, kMostWindow)),
        connection_window_(std::clamp(limits.connection_window_bytes,
                                      kLeastConnectionWindow, kMostWindow)) {}

  bool Carries(const Io& io) const override {
    const std::string_view alpn = io.alpn();
    return alpn.empty() ? prior_knowledge_ : alpn == "h2";
  }

  std::shared_ptr<SharedConnection> Start(
      std::unique_ptr<Io> io, const ExchangeLimits& limits,
      absl::Duration idle_timeout) const override {
    auto link = std::make_shared<ClientLink>(limits, connection_window_,
                                             stream_window_);
    auto connection = std::make_shared<Connection>(link);
    auto session = std::make_unique<ClientSession>(
        std::move(io), std::move(link), connection_window_, stream_window_,
        idle_timeout);
    Spawn(Run(std::move(session)), {.name = "http2 client connection"})
        .Detach();
    return connection;
  }

 private:
  const bool prior_knowledge_;
  const uint32_t stream_window_;
  const uint32_t connection_window_;
};

}  // namespace

std::shared_ptr<const internal::ClientProtocol> ClientProtocol(
    const ClientLimits& limits) {
  return std::make_shared<Nghttp2>(limits);
}

}  // namespace rouse::http::h2
