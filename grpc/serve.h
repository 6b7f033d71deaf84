// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: serve.h
// -----------------------------------------------------------------------------
//
// Serves the methods of a gRPC service with tasks of a runtime. Derive from the
// generated `CallbackService`, and return what these functions return:
//
//   class StoreService final : public Store::CallbackService {
//    public:
//     explicit StoreService(rouse::Handle runtime) : runtime_(runtime) {}
//
//     grpc::ServerUnaryReactor* Get(grpc::CallbackServerContext* context,
//                                   const Key* key, Value* value) override {
//       return rouse::rpc::ServeUnary(runtime_, context,
//                                     GetValue(*key, *value));
//     }
//     grpc::ServerWriteReactor<Value>* List(
//         grpc::CallbackServerContext* context, const Key* key) override {
//       return rouse::rpc::ServeServerStream<Value>(
//           runtime_, context,
//           [=, this](rouse::rpc::Writer<Value> writer)
//               -> rouse::Co<absl::Status> {
//             for (const Value& value : Values(*key)) {
//               co_await rouse::OrReturn(writer.Send(value));
//             }
//             co_return absl::OkStatus();
//           });
//     }
//
//    private:
//     rouse::Co<absl::Status> GetValue(const Key& key, Value& value);
//
//     const rouse::Handle runtime_;
//   };
//
// # Handlers
//
// A handler is a callable that returns a future of an `absl::Status`, the
// status of the call. (`ServeUnary()` also takes the future itself.) The
// handler is called by its task, and exists as long as its future, so a lambda
// can be a coroutine. gRPC's request, response and context exist until the
// handler has ended, because the call is finished after the handler's
// destruction.
//
// # Cancellation
//
// A call is cancelled if the client cancels the call or has gone, if the
// deadline has passed, or if the server is shut down. Then the handler is
// destroyed at its next suspension, as by `JoinHandle::Abort()`. A handler that
// must clean up takes a `CancellationToken` as its last parameter: the handler
// is not destroyed, and a cancellation cancels the token.
//
// If the runtime is shut down, the handlers are destroyed, and their calls end
// with kUnavailable. If a handler throws, the call ends with kUnknown, and the
// runtime reports the exception: see `Builder::OnUnhandledException()`.
//
// # Shutdown
//
// `grpc::Server::Shutdown()` waits for the calls, and therefore blocks. Call it
// on a thread outside the runtime or in `SpawnBlocking()`, with a deadline
// after which gRPC cancels the calls, and before the runtime is shut down. The
// service and the server must exist until then.

#ifndef ROUSE_GRPC_SERVE_H_
#define ROUSE_GRPC_SERVE_H_

#include <type_traits>
#include <utility>

#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "rouse/future/future.h"
#include "rouse/grpc/reader.h"
#include "rouse/grpc/server/handler_task.h"
#include "rouse/grpc/server/reading.h"
#include "rouse/grpc/server/server_call.h"
#include "rouse/grpc/server/writing.h"
#include "rouse/grpc/writer.h"
#include "rouse/runtime/handle.h"
#include "rouse/sync/cancellation_token.h"

namespace rouse::rpc {

namespace internal {

// Satisfied if `F`, as deduced for an argument `F&&`, is a handler that is
// called with `Args`, and perhaps with a token.
template <class F, class... Args>
concept Handler = HandlerOf<std::decay_t<F>, Args...> ||
                  HandlerOf<std::decay_t<F>, Args..., CancellationToken>;

template <class F>
concept UnaryHandler = Future<F> || Handler<F>;

class ServerUnaryCall final
    : public ServerReactorCall<::grpc::ServerUnaryReactor> {
 public:
  explicit ServerUnaryCall(::grpc::CallbackServerContext* context)
      : ServerReactorCall(context, 0) {}

 private:
  ~ServerUnaryCall() override = default;
};

template <class Request>
class ServerReadCall final
    : public ServerReading<
          ServerReactorCall<::grpc::ServerReadReactor<Request>>, Request> {
 public:
  explicit ServerReadCall(::grpc::CallbackServerContext* context)
      : ServerReading<ServerReactorCall<::grpc::ServerReadReactor<Request>>,
                      Request>(context, 1) {}

 private:
  ~ServerReadCall() override = default;
};

template <class Response>
class ServerWriteCall final
    : public ServerWriting<
          ServerReactorCall<::grpc::ServerWriteReactor<Response>>, Response> {
 public:
  explicit ServerWriteCall(::grpc::CallbackServerContext* context)
      : ServerWriting<ServerReactorCall<::grpc::ServerWriteReactor<Response>>,
                      Response>(context, 1) {}

 private:
  ~ServerWriteCall() override = default;
};

template <class Request, class Response>
class ServerBidiCall final
    : public ServerReading<
          ServerWriting<
              ServerReactorCall<::grpc::ServerBidiReactor<Request, Response>>,
              Response>,
          Request> {
 public:
  explicit ServerBidiCall(::grpc::CallbackServerContext* context)
      : ServerReading<
            ServerWriting<
                ServerReactorCall<::grpc::ServerBidiReactor<Request, Response>>,
                Response>,
            Request>(context, 2) {}

 private:
  ~ServerBidiCall() override = default;
};

}  // namespace internal

// ServeUnary()
//
// Runs `handler` as a task of `runtime`, and returns the reactor that gRPC
// expects of the method. The handler fills the response that gRPC passed to the
// method. The response is sent only if the status is OK.
//
// Costs two allocations: the call and the task.
template <internal::UnaryHandler F>
::grpc::ServerUnaryReactor* ServeUnary(const Handle& runtime,
                                       ::grpc::CallbackServerContext* context,
                                       F&& handler) {
  auto* const call = new internal::ServerUnaryCall(context);
  if constexpr (Future<F>) {
    call->OnCancelAbort(internal::SpawnHandler<std::decay_t<F>>(
        runtime, call, std::forward<F>(handler)));
  } else {
    internal::StartHandler<std::decay_t<F>>(runtime, call,
                                            std::forward<F>(handler));
  }
  return call;
}

// ServeClientStream()
//
// Like `ServeUnary()`, for a method that takes a stream: the handler is called
// with a `Reader<Request>`.
template <class Request, internal::Handler<Reader<Request>> F>
::grpc::ServerReadReactor<Request>* ServeClientStream(
    const Handle& runtime, ::grpc::CallbackServerContext* context,
    F&& handler) {
  auto* const call = new internal::ServerReadCall<Request>(context);
  internal::StartHandler<std::decay_t<F>>(
      runtime, call, std::forward<F>(handler), Reader<Request>(call));
  return call;
}

// ServeServerStream()
//
// Like `ServeUnary()`, for a method that returns a stream: the handler is
// called with a `Writer<Response>`.
template <class Response, internal::Handler<Writer<Response>> F>
::grpc::ServerWriteReactor<Response>* ServeServerStream(
    const Handle& runtime, ::grpc::CallbackServerContext* context,
    F&& handler) {
  auto* const call = new internal::ServerWriteCall<Response>(context);
  internal::StartHandler<std::decay_t<F>>(
      runtime, call, std::forward<F>(handler), Writer<Response>(call));
  return call;
}

// ServeBidiStream()
//
// Like `ServeUnary()`, for a method that takes a stream and returns a stream:
// the handler is called with a `Reader<Request>` and a `Writer<Response>`,
// which different tasks can use.
template <class Request, class Response,
          internal::Handler<Reader<Request>, Writer<Response>> F>
::grpc::ServerBidiReactor<Request, Response>* ServeBidiStream(
    const Handle& runtime, ::grpc::CallbackServerContext* context,
    F&& handler) {
  auto* const call = new internal::ServerBidiCall<Request, Response>(context);
  internal::StartHandler<std::decay_t<F>>(
      runtime, call, std::forward<F>(handler), Reader<Request>(call),
      Writer<Response>(call));
  return call;
}

}  // namespace rouse::rpc

#endif  // ROUSE_GRPC_SERVE_H_
