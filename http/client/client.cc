// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/client/client.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/future/poll_fn.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/client/client_pool.h"
#include "rouse/http/client/client_protocol.h"
#include "rouse/http/h1/client_exchange.h"
#include "rouse/http/h1/parse_head.h"
#include "rouse/http/headers.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/url.h"
#include "rouse/net/by_name.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/sync/semaphore.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timed_out.h"
#include "rouse/timer/timeout.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http {
namespace internal {
namespace {

// ResponseBody
//
// The source of the body of a response. Keeps the exchange until the end of the
// body, and then returns the connection to the pool.
class ResponseBody final : public BodySource {
 public:
  ResponseBody(std::shared_ptr<ClientPool> pool, std::string origin,
               Semaphore::OwnedPermit permit,
               std::unique_ptr<ClientExchange> exchange)
      : pool_(std::move(pool)),
        origin_(std::move(origin)),
        permit_(std::move(permit)),
        exchange_(std::move(exchange)) {}

  PollResult<absl::StatusOr<size_t>> PollRead(
      Context& cx, absl::Span<char> buffer) override {
    using Result = absl::StatusOr<size_t>;
    if (exchange_ == nullptr) {
      return error_.ok() ? Result(0) : Result(error_);
    }
    PollResult<Result> size = exchange_->PollBody(cx, buffer);
    if (size.IsPending()) return kPending;
    if (!size->ok()) {
      // Nothing can be read after an error. The connection is closed.
      error_ = size->status();
      End();
    } else if (exchange_->is_done()) {
      trailers_ = exchange_->TakeTrailers();
      if (exchange_->is_reusable()) {
        pool_->Return(origin_, exchange_->TakeConnection());
      }
      End();
    }
    return size;
  }
  Headers TakeTrailers() override { return std::move(trailers_); }

 private:
  void End() {
    exchange_.reset();
    permit_.reset();
  }

  const std::shared_ptr<ClientPool> pool_;
  const std::string origin_;
  std::optional<Semaphore::OwnedPermit> permit_;
  std::unique_ptr<ClientExchange> exchange_;  // null after the end
  absl::Status error_;
  Headers trailers_;
};

// Most times that a request which was not executed moves to another connection.
constexpr int kMostFreeRepeats = 1000;

bool IsSafeToRepeat(std::string_view method) {
  for (const std::string_view safe :
       {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"}) {
    if (method == safe) return true;
  }
  return false;
}

absl::Status TooSlow(const ClientOptions& options) {
  return absl::DeadlineExceededError(
      absl::StrCat("connecting took longer than ",
                   absl::FormatDuration(options.connect_timeout)));
}

// Connects to the server of `origin` while `time` runs.
Co<absl::StatusOr<std::unique_ptr<Io>>> Connect(const ClientOptions& options,
                                                const std::string& origin,
                                                Sleep time) {
  Origin parts = co_await OrReturn(ParseOrigin(origin));
  absl::StatusOr<ByteStream> stream =
      co_await Timeout(std::move(time), options.connect(std::move(parts)));
  if (TimedOut(stream.status())) co_return TooSlow(options);
  co_await OrReturn(stream.status());
  co_return (*std::move(stream)).IntoIo();
}

ExchangeLimits LimitsOf(const ClientOptions& options) {
  ExchangeLimits limits;
  limits.max_header_bytes = options.max_header_bytes;
  limits.max_header_count = options.max_header_count;
  limits.response_timeout = options.response_timeout;
  limits.progress_timeout = options.progress_timeout;
  return limits;
}

// The connection of a request.
struct Route {
  Route() = default;

  // One of the two is not null.
  std::shared_ptr<SharedConnection> shared;
  std::unique_ptr<ClientConnection> own;
  // Of a connection of its own.
  std::optional<Semaphore::OwnedPermit> permit;
  bool is_kept = false;  // has carried other requests, or may have
};

// Takes a kept connection that the server has not closed, or returns null.
auto TakeIdle(const std::shared_ptr<ClientPool>& pool,
              const std::string& origin) {
  return PollFn(
      [&pool,
       &origin](Context& cx) -> PollResult<std::unique_ptr<ClientConnection>> {
        std::unique_ptr<ClientConnection> idle = pool->TakeIdle(origin);
        while (idle != nullptr && !idle->IsAlive(cx)) {
          idle = pool->TakeIdle(origin);
        }
        return idle;
      });
}

// Finds or makes a connection for a request. `permit` is that of an earlier
// connection of the request, if any. `takes_kept` says whether a kept
// connection of HTTP/1.1 may be used.
Co<absl::StatusOr<Route>> FindRoute(
    const std::shared_ptr<ClientPool>& pool, const std::string& origin,
    std::optional<Semaphore::OwnedPermit> permit, bool takes_kept) {
  const ClientOptions& options = pool->options();
  Route route;
  // Held while the connection is made, so that requests that begin together
  // share the connection.
  std::optional<Semaphore::OwnedPermit> turn;
  // The time to connect includes the wait for other requests that connect.
  std::optional<Instant> end;
  if (options.http2 != nullptr) {
    route.is_kept = true;
    route.shared = pool->FindShared(origin, /*even_if_full=*/false);
    if (route.shared != nullptr) co_return route;
    if (!pool->SpeaksHttp1(origin)) {
      std::shared_ptr<Semaphore> turns = pool->Turns(origin);
      turn = Semaphore::TryAcquireOwned(turns);
      if (!turn.has_value()) {
        route.shared = pool->FindShared(origin, /*even_if_full=*/true);
        if (route.shared != nullptr) co_return route;
        end = Now() + options.connect_timeout;
        absl::StatusOr<Semaphore::OwnedPermit> next = co_await Timeout(
            SleepUntil(*end), Semaphore::AcquireOwned(std::move(turns)));
        if (TimedOut(next.status())) co_return TooSlow(options);
        co_await OrReturn(next.status());
        turn = *std::move(next);
      }
      // Another request may have connected meanwhile.
      route.shared = pool->FindShared(origin, /*even_if_full=*/false);
      if (route.shared != nullptr) co_return route;
      if (pool->SpeaksHttp1(origin)) {
        turn.reset();
        end.reset();
      }
    }
    if (!permit.has_value()) {
      permit = Semaphore::TryAcquireOwned(pool->Permits(origin));
    }
    if (!permit.has_value()) {
      route.shared = pool->FindShared(origin, /*even_if_full=*/true);
      if (route.shared != nullptr) co_return route;
    }
    route.is_kept = false;
  }
  if (!permit.has_value()) {
    // Others may connect in the meantime, and the time to connect begins later.
    turn.reset();
    end.reset();
    permit = co_await OrReturn(Semaphore::AcquireOwned(pool->Permits(origin)));
  }
  if (takes_kept) {
    auto take = TakeIdle(pool, origin);
    route.own = co_await take;
  }
  route.is_kept = route.own != nullptr;
  if (!route.is_kept) {
    Sleep time =
        end.has_value() ? SleepUntil(*end) : Sleep(options.connect_timeout);
    std::unique_ptr<Io> io =
        co_await OrReturn(Connect(options, origin, std::move(time)));
    if (options.http2 != nullptr && options.http2->Carries(*io)) {
      route.shared = options.http2->Start(std::move(io), LimitsOf(options),
                                          options.idle_timeout);
      pool->AddShared(origin, route.shared, *std::move(permit));
      co_return route;
    }
    if (options.http2 != nullptr) pool->SetSpeaksHttp1(origin);
    route.own = std::make_unique<ClientConnection>(std::move(io));
  }
  route.permit = std::move(permit);
  co_return route;
}

Co<absl::StatusOr<Response>> SendOn(std::shared_ptr<ClientPool> pool,
                                    Request request) {
  const ExchangeLimits limits = LimitsOf(pool->options());
  const std::string origin = request.origin;
  const bool is_repeatable =
      IsSafeToRepeat(request.method) && request.body.is_text();
  std::optional<Semaphore::OwnedPermit> permit;
  // A request is repeated once, except for a request that was not sent.
  bool may_repeat = true;
  int free_repeats = kMostFreeRepeats;
  for (;;) {
    Route route = co_await OrReturn(
        FindRoute(pool, origin, std::exchange(permit, std::nullopt),
                  /*takes_kept=*/may_repeat));
    if (route.shared != nullptr) {
      std::unique_ptr<SharedExchange> exchange = route.shared->Begin(request);
      if (exchange == nullptr) {
        // The connection has ended at this moment.
        if (route.is_kept || std::exchange(may_repeat, false)) continue;
        co_return absl::UnavailableError(
            "the server closes each connection at once");
      }
      // The connection ends with its requests if the client is destroyed.
      route.shared.reset();
      absl::StatusOr<Response> response = co_await *exchange;
      if (response.ok()) co_return response;
      switch (exchange->repeat()) {
        case Repeat::kFreely:
          if (free_repeats-- == 0) co_return response;
          break;
        case Repeat::kIfSafe:
          if (!is_repeatable || !route.is_kept) co_return response;
          [[fallthrough]];
        case Repeat::kOnce:
          if (!std::exchange(may_repeat, false)) co_return response;
          break;
        case Repeat::kNever:
          co_return response;
      }
      request = exchange->TakeRequest();
      continue;
    }
    auto exchange = std::make_unique<ClientExchange>(
        std::move(route.own), std::move(request), limits);
    co_await OrReturn(exchange->Start());
    absl::StatusOr<Response> response = co_await *exchange;
    if (!response.ok()) {
      // Only a connection that was closed, not one that is slow, may hide a
      // request that the server never saw.
      if (route.is_kept && is_repeatable && !exchange->has_received() &&
          !absl::IsDeadlineExceeded(response.status())) {
        request = exchange->TakeRequest();
        permit = std::move(route.permit);
        may_repeat = false;
        continue;
      }
      co_return response.status();
    }
    if (exchange->is_done()) {
      if (exchange->is_reusable()) {
        pool->Return(origin, exchange->TakeConnection());
      }
      co_return response;
    }
    const std::optional<uint64_t> size = exchange->info().body_size();
    response->body =
        Body(std::make_unique<ResponseBody>(
                 pool, origin, *std::move(route.permit), std::move(exchange)),
             size);
    co_return response;
  }
}

// Adds the request to the message of an error.
Co<absl::StatusOr<Response>> SendNamed(std::shared_ptr<ClientPool> pool,
                                       Request request) {
  const std::string what =
      absl::StrCat(request.method, " ", request.origin, request.target);
  absl::StatusOr<Response> response =
      co_await SendOn(std::move(pool), std::move(request));
  if (response.ok()) co_return response;
  co_return absl::Status(response.status().code(),
                         absl::StrCat(what, ": ", response.status().message()));
}

Co<absl::StatusOr<Response>> GetOn(std::shared_ptr<ClientPool> pool,
                                   std::string url) {
  Request request = co_await OrReturn(Request::To("GET", url));
  co_return co_await SendNamed(std::move(pool), std::move(request));
}

}  // namespace
}  // namespace internal

Co<absl::StatusOr<ByteStream>> ConnectPlain(Origin origin) {
  if (origin.scheme != "http") {
    co_return absl::UnimplementedError(absl::StrCat(
        "the scheme \"", origin.scheme,
        "\" needs a connector with TLS; set ClientOptions::connect"));
  }
  TcpStream stream = co_await OrReturn(ConnectTcp(origin.host_port()));
  stream.SetNoDelay(true).IgnoreError();
  co_return ByteStream(std::move(stream));
}

Client::Client(ClientOptions options)
    : pool_(std::make_shared<internal::ClientPool>(std::move(options))) {}

Co<absl::StatusOr<Response>> Client::Get(std::string url) const {
  return internal::GetOn(pool_, std::move(url));
}

Co<absl::StatusOr<Response>> Client::Send(Request request) const {
  return internal::SendNamed(pool_, std::move(request));
}

size_t Client::idle_connections() const { return pool_->idle_connections(); }

}  // namespace rouse::http
