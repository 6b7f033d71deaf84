// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/server/server.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/future/any_future.h"
#include "rouse/future/catch_exception.h"
#include "rouse/future/co.h"
#include "rouse/future/poll_fn.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h1/server_connection.h"
#include "rouse/http/handler.h"
#include "rouse/http/server/protocol.h"  // IWYU pragma: keep
#include "rouse/http/server_options.h"
#include "rouse/scheduler/join_set.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/sync/oneshot.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/timed_out.h"
#include "rouse/timer/timeout.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {
namespace {

// Waits until a connection can carry requests. Returns null if it cannot; the
// reason is in the log.
Co<std::unique_ptr<Io>> Secure(AnyFuture<absl::StatusOr<ByteStream>> stream,
                               const std::string& peer,
                               absl::Duration timeout) {
  absl::StatusOr<ByteStream> secured =
      co_await Timeout(timeout, CatchException(std::move(stream)));
  if (!secured.ok()) {
    LOG_EVERY_N_SEC(ERROR, 1)
        << "http: the connection from " << peer << ": "
        << (TimedOut(secured.status())
                ? absl::DeadlineExceededError(
                      absl::StrCat("the handshake took longer than ",
                                   absl::FormatDuration(timeout)))
                : secured.status());
    co_return nullptr;
  }
  co_return (*std::move(secured)).IntoIo();
}

// The bytes with which a client of HTTP/2 begins (RFC 9113, section 3.4). No
// request of HTTP/1.1 begins with them.
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// What a client speaks. `kNothing` means that the connection has ended, or is
// not needed any more, before a request.
enum class Spoken { kHttp1, kHttp2, kNothing };

// Finds out which protocol the client speaks. Adds what was read to `received`.
Co<absl::StatusOr<Spoken>> FindProtocol(Io& io, const ServerOptions& options,
                                        std::string& received) {
  const std::string_view alpn = io.alpn();
  if (!alpn.empty()) co_return alpn == "h2" ? Spoken::kHttp2 : Spoken::kHttp1;
  auto read = [&io, &received](Context& cx) {
    char bytes[4096];
    PollResult<absl::StatusOr<size_t>> size =
        io.PollRead(cx, absl::MakeSpan(bytes));
    if (size.IsReady() && size->ok()) received.append(bytes, **size);
    return size;
  };
  // The time to the first byte is that between two requests.
  Sleep time(options.idle_timeout);
  for (;;) {
    if (!kPreface.starts_with(received.substr(0, kPreface.size()))) {
      co_return Spoken::kHttp1;
    }
    if (received.size() >= kPreface.size()) co_return Spoken::kHttp2;
    const bool is_first = received.empty();
    auto next = [&time,
                 &read](Context& cx) -> PollResult<absl::StatusOr<size_t>> {
      PollResult<absl::StatusOr<size_t>> size = read(cx);
      if (size.IsReady()) return size;
      if (time.Poll(cx).IsPending()) return kPending;
      return absl::StatusOr<size_t>(absl::DeadlineExceededError(
          "the first request did not arrive in time"));
    };
    const std::optional<absl::StatusOr<size_t>> size =
        co_await options.stop.RunUntilCancelled(PollFn(next));
    if (!size.has_value()) co_return Spoken::kNothing;
    if (!size->ok()) {
      if (is_first && time.IsElapsed()) co_return Spoken::kNothing;
      co_return size->status();
    }
    if (**size == 0) {
      co_return is_first ? Spoken::kNothing : Spoken::kHttp1;
    }
    if (is_first) time.Reset(options.header_timeout);
  }
}

// Answers the requests of a connection in the protocol of the client.
Co<absl::Status> ServeIo(std::unique_ptr<Io> io,
                         std::shared_ptr<Handler> handler,
                         std::shared_ptr<const ServerOptions> options,
                         std::string peer) {
  std::string received;
  const absl::StatusOr<Spoken> spoken =
      co_await FindProtocol(*io, *options, received);
  if (!spoken.ok()) co_return spoken.status();
  switch (*spoken) {
    case Spoken::kNothing:
      co_return absl::OkStatus();
    case Spoken::kHttp2:
      co_return co_await options->http2->Serve(
          std::move(io), std::move(received), std::move(handler), options,
          std::move(peer));
    case Spoken::kHttp1:
      break;
  }
  ServerConnection connection(
      WithPrefix(std::move(received), std::move(io)).IntoIo(),
      std::move(handler), std::move(options), std::move(peer));
  co_return co_await connection;
}

Co<> Run(AcceptedConnection accepted, std::shared_ptr<Handler> handler,
         std::shared_ptr<const ServerOptions> options) {
  std::unique_ptr<Io> io = co_await Secure(
      std::move(accepted.stream), accepted.peer, options->header_timeout);
  if (io == nullptr) co_return;
  if (options->http2 != nullptr) {
    auto serving = ServeIo(std::move(io), std::move(handler),
                           std::move(options), std::move(accepted.peer));
    (co_await serving).IgnoreError();
    co_return;
  }
  ServerConnection connection(std::move(io), std::move(handler),
                              std::move(options), std::move(accepted.peer));
  // What the client does wrong is not an event of the server.
  (co_await connection).IgnoreError();
}

// Logs what only a lack of memory, or a mistake in this package, can cause.
void LogUnexpected(const absl::Status& ended) {
  if (!ended.ok()) LOG(ERROR) << "http: a connection has failed: " << ended;
}

// A handler that notifies when nobody uses it any more.
struct NotifyingHandler {
  NotifyingHandler(oneshot::Sender<void> released,
                   std::shared_ptr<Handler> handler)
      : released(std::move(released)), handler(std::move(handler)) {}

  oneshot::Sender<void> released;  // destroyed after `handler`
  std::shared_ptr<Handler> handler;
};

// Returns a channel that is closed when all copies of `handler` are destroyed.
oneshot::Receiver<void> NotifyOfRelease(std::shared_ptr<Handler>& handler) {
  std::pair<oneshot::Sender<void>, oneshot::Receiver<void>> ends =
      oneshot::Channel<void>();
  const auto notifying = std::make_shared<NotifyingHandler>(
      std::move(ends.first), std::move(handler));
  handler = std::shared_ptr<Handler>(notifying, notifying->handler.get());
  return std::move(ends.second);
}

Co<> Drain(JoinSet<void>& connections) {
  for (;;) {
    const std::optional<absl::Status> ended = co_await connections.Next();
    if (!ended.has_value()) co_return;
    LogUnexpected(*ended);
  }
}

}  // namespace

Co<absl::Status> ServeAccepted(std::unique_ptr<Acceptor> acceptor,
                               std::shared_ptr<Handler> handler,
                               ServerOptions options) {
  // A failure of the listener, too, ends the connections.
  const CancellationToken stop = options.stop.ChildToken();
  options.stop = stop;
  const auto shared = std::make_shared<const ServerOptions>(std::move(options));
  const size_t most = std::max<size_t>(shared->max_connections, 1);
  absl::Status result;
  oneshot::Receiver<void> released = NotifyOfRelease(handler);
  JoinSet<void> connections;
  while (!stop.IsCancelled()) {
    while (std::optional<absl::Status> ended = connections.TryNext()) {
      LogUnexpected(*ended);
    }
    if (connections.size() >= most) {
      // The result is an optional of an optional.
      const auto ended = co_await stop.RunUntilCancelled(connections.Next());
      if (ended.has_value() && ended->has_value()) LogUnexpected(**ended);
      continue;
    }
    auto poll = [&acceptor](Context& cx) { return acceptor->PollAccept(cx); };
    std::optional<absl::StatusOr<AcceptedConnection>> accepted =
        co_await stop.RunUntilCancelled(PollFn(poll));
    if (!accepted.has_value()) break;
    if (absl::IsResourceExhausted(accepted->status())) {
      // No descriptor is free. Connections that end will free some.
      LOG_EVERY_N_SEC(ERROR, 1)
          << "http: cannot accept connections: " << accepted->status();
      (void)co_await stop.RunUntilCancelled(Sleep(absl::Milliseconds(50)));
      continue;
    }
    if (!accepted->ok()) {
      result = accepted->status();
      break;
    }
    connections.Spawn(Run(**std::move(accepted), handler, shared),
                      {.name = "http connection"});
  }
  acceptor.reset();
  stop.Cancel();
  const absl::Status drained =
      co_await Timeout(shared->drain_timeout, Drain(connections));
  if (!drained.ok()) {
    const std::string message = absl::StrCat(
        connections.size(), " connections had not ended within drain_timeout, ",
        absl::FormatDuration(shared->drain_timeout), ", and were closed");
    LOG(WARNING) << "http: " << message;
    co_await connections.Shutdown();
    if (result.ok()) result = absl::DeadlineExceededError(message);
  }
  // The requests of HTTP/2 are tasks that a closed connection has only asked to
  // end. Each task holds the handler until the task is destroyed.
  handler.reset();
  (void)co_await released;
  co_return result;
}

Co<absl::Status> ServeStream(ByteStream stream,
                             std::shared_ptr<Handler> handler,
                             ServerOptions options, std::string peer) {
  auto shared = std::make_shared<const ServerOptions>(std::move(options));
  std::unique_ptr<Io> io = std::move(stream).IntoIo();
  if (shared->http2 != nullptr) {
    co_return co_await ServeIo(std::move(io), std::move(handler),
                               std::move(shared), std::move(peer));
  }
  ServerConnection connection(std::move(io), std::move(handler),
                              std::move(shared), std::move(peer));
  co_return co_await connection;
}

}  // namespace rouse::http::internal
