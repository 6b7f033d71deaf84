// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: connection.h
// -----------------------------------------------------------------------------
//
// Serves a client on a stream of bytes: a TcpStream, or a Duplex in tests.
//
//   tracker.Spawn(ServeConnection(service, std::move(stream),
//                               service->TakeClientId(), "10.0.0.1:5000"))
//       .Detach();

#ifndef ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_CONNECTION_H_
#define ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/server/session/request_codec.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/server/session/session.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/io/framed.h"
#include "rouse/io/write.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timeout.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace mini_redis {

// Connection
//
// Reads requests and sends replies. Each round has three steps, all in the
// connection's task:
//
//   1. Wait for requests, and run all requests that have arrived (pipelining).
//      Or wait for a message of a channel, for the end of the client or of the
//      server, or for a timeout.
//   2. Wait until the log has the changes.
//   3. Send all replies at once. While the client does not read, the connection
//      does not read requests either.
//
// Neither a round nor a request allocates memory, except for the data.
template <class Stream>
class Connection {
 public:
  // The service and the stream must outlive the connection.
  Connection(Service& service, Stream& stream, uint64_t id, std::string address)
      : session_(service, id, std::move(address)),
        stream_(stream),
        requests_(stream, RequestCodec(service.options.request_limits)) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  rouse::Co<> Run() {
    auto poll = [this](rouse::Context& cx) { return PollRound(cx); };
    while (!session_.IsClosing()) {
      co_await rouse::PollFn(poll);
      const bool sent = co_await Respond();
      if (!sent) co_return;
      if (session_.IsBlocked()) {
        co_await WaitForElement();
        const bool element_sent = co_await Respond();
        if (!element_sent) co_return;
      }
    }
  }

 private:
  // Replies are sent when they exceed this, even if further requests have
  // arrived.
  static constexpr size_t kFlushSize = 65536;  // bytes

  rouse::PollResult<void> PollRound(rouse::Context& cx) {
    bool active = RunRequests(cx);
    if (session_.PollPushes(cx)) active = true;
    if (active || session_.IsClosing()) {
      has_been_active_ = true;
      session_.StopIfAsked();
      return {};
    }
    if (session_.PollEnd(cx)) return {};
    return PollTimers(cx);
  }

  // Runs the requests that have arrived. Returns whether there were any. If the
  // connection has to wait for something, returns when everything has arrived.
  bool RunRequests(rouse::Context& cx) {
    bool any = false;
    session_.BeginRound();
    while (!session_.IsClosing() && !session_.IsBlocked() &&
           session_.out().size() < kFlushSize) {
      if (!PollRequest(cx)) break;
      any = true;
      if (next_ != nullptr) session_.Run(*std::exchange(next_, nullptr));
    }
    return any;
  }

  // Makes `next_` the next request. Returns false if no request has arrived. At
  // the end of the stream, or after an error, the session is closing.
  bool PollRequest(rouse::Context& cx) {
    if (next_ != nullptr) return true;
    auto item = requests_.PollNext(cx);
    if (item.IsPending()) return false;
    if (!item->has_value()) {
      session_.Close();
    } else if (!(*item)->ok()) {
      session_.CloseAfterError((*item)->status());
    } else {
      next_ = ***item;
    }
    return true;
  }

  // Ready when the client has been silent for too long.
  rouse::PollResult<void> PollTimers(rouse::Context& cx) {
    const ServiceOptions& options = session_.options();
    if (requests_.codec().IsWithinRequest() || !requests_.buffered().empty()) {
      // The time begins with the first byte of the request, and the following
      // bytes do not put off the end.
      if (!request_timer_.has_value()) {
        request_timer_.emplace(options.request_timeout);
      }
      if (request_timer_->Poll(cx).IsPending()) return rouse::kPending;
      session_.Close();
      return {};
    }
    request_timer_.reset();
    if (options.idle_timeout == absl::InfiniteDuration() ||
        session_.ReceivesPushes()) {
      return rouse::kPending;
    }
    if (!idle_timer_.has_value()) {
      idle_timer_.emplace(options.idle_timeout);
    } else if (has_been_active_) {
      idle_timer_->Reset(options.idle_timeout);
    }
    has_been_active_ = false;
    if (idle_timer_->Poll(cx).IsPending()) return rouse::kPending;
    session_.Close();
    return {};
  }

  // Sends the replies. Returns false if the connection has ended.
  rouse::Co<bool> Respond() {
    if (session_.IsUnconfirmed()) co_await session_.Confirm();
    std::string_view left = session_.out();
    while (!left.empty()) {
      const std::optional<absl::StatusOr<size_t>> size =
          co_await session_.kill().RunUntilCancelled(rouse::Timeout(
              session_.options().idle_timeout, rouse::Write(stream_, left)));
      if (!size.has_value() || !size->ok()) co_return false;
      left.remove_prefix(**size);
    }
    session_.ClearOut();
    co_return true;
  }

  // Waits for the element of a BLPOP, for the timeout of the BLPOP, or for the
  // end of the client or of the server.
  rouse::Co<> WaitForElement() {
    rouse::Sleep timer(session_.BlockedTimeout());
    auto poll = [this, &timer](rouse::Context& cx) -> rouse::PollResult<void> {
      if (session_.PollElement(cx) || session_.PollEnd(cx)) return {};
      // A request that arrives meanwhile runs afterwards.
      if (next_ == nullptr && PollRequest(cx) && session_.IsClosing()) {
        return {};
      }
      if (timer.Poll(cx).IsReady()) return {};
      return rouse::kPending;
    };
    co_await rouse::PollFn(poll);
    session_.Unblock();
    has_been_active_ = true;
  }

  Session session_;
  Stream& stream_;
  rouse::Framed<Stream&, RequestCodec> requests_;
  const resp::Command* next_ = nullptr;  // in the codec of `requests_`

  std::optional<rouse::Sleep> request_timer_;
  std::optional<rouse::Sleep> idle_timer_;
  bool has_been_active_ = false;
};

// Serves a client until the client, the server or an error ends the connection.
// `id` is from `Service::TakeClientId()`, and `address` is the client's.
template <class Stream>
rouse::Co<> ServeConnection(std::shared_ptr<Service> service, Stream stream,
                            uint64_t id, std::string address) {
  Connection<Stream> connection(*service, stream, id, std::move(address));
  co_await connection.Run();
}

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_SERVER_SESSION_CONNECTION_H_
