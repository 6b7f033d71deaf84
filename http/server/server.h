// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server.h
// -----------------------------------------------------------------------------
//
// A server of HTTP/1.1 and, with `ServerOptions::http2`, of HTTP/2:
//
//   rouse::Co<absl::StatusOr<http::Response>> Handle(http::Request request) {
//     if (request.path() != "/echo") co_return http::Response::Text("?", 404);
//     std::string body =
//         co_await rouse::OrReturn(request.body.ReadAll(1 << 20));
//     co_return http::Response::Text(std::move(body));
//   }
//
//   rouse::Co<absl::Status> Main() {
//     rouse::TcpListener listener = co_await rouse::OrReturn(
//         rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(8080)));
//     co_return co_await http::Serve(std::move(listener), &Handle);
//   }

#ifndef ROUSE_HTTP_SERVER_SERVER_H_
#define ROUSE_HTTP_SERVER_SERVER_H_

#include <concepts>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/exceptions.h"
#include "rouse/future/any_future.h"
#include "rouse/future/await_trace.h"
#include "rouse/future/catch_exception.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/ready.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/handler.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/http/server_options.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http {

namespace internal {

// A connection that a listener has accepted. `stream` is ready when the
// connection can carry requests: after the handshake of TLS, for example.
struct AcceptedConnection {
  AcceptedConnection(AnyFuture<absl::StatusOr<ByteStream>> stream,
                     std::string peer)
      : stream(std::move(stream)), peer(std::move(peer)) {}

  AnyFuture<absl::StatusOr<ByteStream>> stream;
  std::string peer;
};

// A listener of any type.
class Acceptor {
 public:
  Acceptor() = default;
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  virtual ~Acceptor() = default;

  virtual PollResult<absl::StatusOr<AcceptedConnection>> PollAccept(
      Context& cx) = 0;
};

// Makes a `ByteStream` of the stream that a future returns.
template <class F>
class SecuredFuture {
 public:
  explicit SecuredFuture(F future) : future_(std::move(future)) {}

  PollResult<absl::StatusOr<ByteStream>> Poll(Context& cx) {
    using Result = absl::StatusOr<ByteStream>;
    auto stream = future_.Poll(cx);
    if (stream.IsPending()) return kPending;
    if (!stream->ok()) return Result((*std::move(stream)).status());
    return Result(ByteStream(**std::move(stream)));
  }
  void Trace(AwaitTrace& trace) const { trace.Add(future_); }

 private:
  F future_;
};

// Returns the stream as it is.
struct NotSecured {};

template <class L, class Secure>
class AcceptorOf final : public Acceptor {
 public:
  AcceptorOf(L&& listener, Secure secure)
      : listener_(std::forward<L>(listener)), secure_(std::move(secure)) {}

  PollResult<absl::StatusOr<AcceptedConnection>> PollAccept(
      Context& cx) override {
    using Result = absl::StatusOr<AcceptedConnection>;
    auto accepted = listener_.PollAccept(cx);
    if (accepted.IsPending()) return kPending;
    if (!accepted->ok()) return Result((*std::move(accepted)).status());
    auto& stream = (*accepted)->stream;
    // Responses are written whole, so that a delay would only cost time.
    if constexpr (requires { stream.SetNoDelay(true); }) {
      stream.SetNoDelay(true).IgnoreError();
    }
    std::string peer = absl::StrCat((*accepted)->peer);
    if constexpr (std::same_as<Secure, NotSecured>) {
      return Result(AcceptedConnection(
          Ready(absl::StatusOr<ByteStream>(ByteStream(std::move(stream)))),
          std::move(peer)));
    } else {
      using F = std::invoke_result_t<Secure&, decltype(std::move(stream))>;
      // An exception concerns this connection, and not the listener.
      ROUSE_TRY {
        return Result(AcceptedConnection(
            SecuredFuture<F>(secure_(std::move(stream))), peer));
      }
      ROUSE_CATCH_ALL {
        return Result(AcceptedConnection(
            Ready(
                absl::StatusOr<ByteStream>(::rouse::internal::ExceptionToStatus(
                    std::current_exception()))),
            std::move(peer)));
      }
    }
  }

 private:
  L listener_;
  [[no_unique_address]] Secure secure_;
};

Co<absl::Status> ServeAccepted(std::unique_ptr<Acceptor> acceptor,
                               std::shared_ptr<Handler> handler,
                               ServerOptions options);
Co<absl::Status> ServeStream(ByteStream stream,
                             std::shared_ptr<Handler> handler,
                             ServerOptions options, std::string peer);

}  // namespace internal

// Serve()
//
// Accepts connections from `listener`, a `TcpListener` or a `UnixListener`, and
// answers their requests by `handler`. Each connection is a task of the current
// runtime, so that `handler` runs on several threads at once. `handler`
// lives until its last future has been destroyed.
//
// Requests of one connection are answered one after another, in their order; of
// HTTP/2, at once (http/h2/protocol.h). A request that breaks the rules of
// HTTP, or exceeds a limit, is answered with 400, 408, 413, 417, 431, 501 or
// 505 and a line of text, and ends its connection. `handler` is not called,
// unless only the body is at fault: then reading the body gives an error. A
// handler that exceeds `request_timeout` is destroyed, and the answer is 503.
//
// If `handler` returns an error or throws an exception, the answer is 500, or
// the answer to the failure of the request's body if that failed, and the error
// is logged with the method, the target and the client's address.
//
// Returns OK after `options.stop` has been cancelled and the last connection
// has ended. Whatever the result is, `handler` and its futures are destroyed
// before, so that what they refer to may be destroyed afterwards.
//
// Cancellation: destroying the future closes the listener and all connections,
// and destroys the futures of `handler`. This may take until after the
// destructor has returned, because connections, and requests of HTTP/2, are
// tasks of their own. Prefer `options.stop`, with a `drain_timeout` of zero if
// there is no time.
//
//   DeadlineExceeded   connections were closed because they had not ended
//                      within `options.drain_timeout`
//
// and the errors of `Accept()`, except that ResourceExhausted is logged, and
// `Serve()` goes on.
template <class L, RequestHandler H>
Co<absl::Status> Serve(L listener, H handler,
                       ServerOptions options = ServerOptions()) {
  return internal::ServeAccepted(
      std::make_unique<internal::AcceptorOf<L, internal::NotSecured>>(
          std::move(listener), internal::NotSecured()),
      internal::MakeHandler(std::move(handler)), std::move(options));
}

// ServeSecured()
//
// Like `Serve()`, but calls `secure(stream)` for each connection that was
// accepted. The result is a future of `absl::StatusOr` of a stream that models
// `AsyncRead` and `AsyncWrite`: TLS, for example. The future runs in the task
// of the connection, for at most `options.header_timeout`. If the future gives
// an error, the connection is closed, and the error is logged, at most once a
// second.
template <class L, class Secure, RequestHandler H>
Co<absl::Status> ServeSecured(L listener, Secure secure, H handler,
                              ServerOptions options = ServerOptions()) {
  return internal::ServeAccepted(
      std::make_unique<internal::AcceptorOf<L, Secure>>(std::move(listener),
                                                        std::move(secure)),
      internal::MakeHandler(std::move(handler)), std::move(options));
}

// ServeConnection()
//
// Answers the requests of a single connection, like `Serve()`. `stream` models
// `AsyncRead` and `AsyncWrite`: an rvalue is moved in, and an lvalue must
// outlive the future. `peer` is the address of the client, for the log and for
// `Request::peer`. After `options.stop` was cancelled, a request under way is
// finished without a limit of time.
//
// Returns OK when the connection has ended between two requests, or after a
// response that ends the connection.
//
// REQUIRES: the future runs in a task of a runtime, or in its `BlockOn()`.
//
// Destroying the future closes the connection, and destroys the future of
// `handler`. The futures of requests of HTTP/2 are aborted, and are destroyed
// by their tasks, perhaps after the destructor has returned. If the future is
// awaited to its end, no future of `handler` is left.
//
// Errors are those of `stream`, and
//
//   InvalidArgument    the client has broken the rules of HTTP
//   DeadlineExceeded   the client was too slow
//   DataLoss           the client closed the connection within a request
//   Internal           the body of a response of HTTP/1.1 has failed
//   ResourceExhausted  memory for HTTP/2 is exhausted
template <class S, RequestHandler H>
  requires AsyncRead<S> && AsyncWrite<S>
Co<absl::Status> ServeConnection(S&& stream, H handler,
                                 ServerOptions options = ServerOptions(),
                                 std::string peer = "") {
  return internal::ServeStream(ByteStream(std::forward<S>(stream)),
                               internal::MakeHandler(std::move(handler)),
                               std::move(options), std::move(peer));
}

}  // namespace rouse::http

#endif  // ROUSE_HTTP_SERVER_SERVER_H_
