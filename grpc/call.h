// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: call.h
// -----------------------------------------------------------------------------
//
// Calls a method of a gRPC service from a task:
//
//   absl::StatusOr<Reply> reply = co_await rouse::rpc::Call(
//       stub, &Greeter::Stub::async::SayHello, request, absl::Seconds(2));
//
// `Call()` has four forms, one for each shape of a method. The generated
// function selects the form:
//
//   // rpc Get(Key) returns (Value): a future of absl::StatusOr<Value>
//   rouse::rpc::Call(stub, &Store::Stub::async::Get, key, options)
//
//   // rpc List(Key) returns (stream Value): a stream
//   rouse::rpc::ClientReader<Value> values =
//       rouse::rpc::Call(stub, &Store::Stub::async::List, key, options);
//
//   // rpc Put(stream Value) returns (Summary): a writer, and a future
//   auto [writer, response] =
//       rouse::rpc::Call(stub, &Store::Stub::async::Put, options);
//
//   // rpc Watch(stream Key) returns (stream Value): a writer, and a stream
//   auto [writer, reader] =
//       rouse::rpc::Call(stub, &Store::Stub::async::Watch, options);
//
// gRPC runs a call on gRPC's own threads, and wakes the task. A call needs no
// runtime: any executor of futures can poll it.
//
// # Cancellation
//
// Destroying the future of a response, a reader before its end, or a writer
// before `Close()` cancels the call: the server is notified, and the handler is
// cancelled. Nothing waits for the server; gRPC frees the call later.
//
// # Status
//
// The status of a call is the server's, with its code and message, or gRPC's
// own: kUnavailable if the server cannot be reached or its process has ended,
// kDeadlineExceeded, kCancelled, kUnimplemented for an unknown method. See
// status.h for error details.

#ifndef ROUSE_GRPC_CALL_H_
#define ROUSE_GRPC_CALL_H_

#include <functional>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/client_callback.h"
#include "grpcpp/support/status.h"
#include "rouse/base/panic.h"
#include "rouse/grpc/call_options.h"
#include "rouse/grpc/client/calls.h"
#include "rouse/grpc/reader.h"
#include "rouse/grpc/writer.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::rpc {

// ResponseFuture
//
// The response of a call that has begun. Move-only, movable at any time.
// Destroying a pending future cancels the call. Polling a finished future is a
// `Panic()`.
template <class Response>
class [[nodiscard]] ResponseFuture {
 public:
  // For the implementation. Takes over a reference.
  explicit ResponseFuture(internal::ResponseCall<Response>* call)
      : call_(call) {}
  ResponseFuture(ResponseFuture&& other) noexcept
      : call_(std::exchange(other.call_, nullptr)) {}
  ResponseFuture& operator=(ResponseFuture&& other) noexcept {
    std::swap(call_, other.call_);
    return *this;
  }
  ~ResponseFuture() {
    if (call_ != nullptr) call_->DropFuture();
  }

  PollResult<absl::StatusOr<Response>> Poll(Context& cx) {
    if (call_ == nullptr) {
      Panic("rpc::ResponseFuture was polled after it was ready or moved");
    }
    PollResult<absl::StatusOr<Response>> response = call_->PollResponse(cx);
    if (response.IsReady()) std::exchange(call_, nullptr)->DropFuture();
    return response;
  }

 private:
  internal::ResponseCall<Response>* call_;  // null once ready, or moved from
};

// UnaryFuture
//
// The response of a unary call, which begins at the first poll. Move-only,
// movable at any time. Destroying a pending future cancels the call. Polling a
// finished future is a `Panic()`. `Start` starts the call.
template <class Request, class Response, class Start>
class [[nodiscard]] UnaryFuture {
 public:
  UnaryFuture(Start start, Request request, const CallOptions& options)
      : start_(start),
        call_(new internal::UnaryCall<Request, Response>(options,
                                                         std::move(request))) {}
  UnaryFuture(UnaryFuture&& other) noexcept
      : start_(other.start_),
        call_(std::exchange(other.call_, nullptr)),
        begun_(other.begun_) {}
  UnaryFuture& operator=(UnaryFuture&& other) = delete;
  ~UnaryFuture() {
    if (call_ == nullptr) return;
    if (!begun_) call_->Unref();  // gRPC never gets its reference
    call_->DropFuture();
  }

  PollResult<absl::StatusOr<Response>> Poll(Context& cx) {
    if (call_ == nullptr) {
      Panic("rpc::UnaryFuture was polled after it was ready or moved");
    }
    if (!begun_) {
      begun_ = true;
      call_->Begin(start_);
    }
    PollResult<absl::StatusOr<Response>> response = call_->PollResponse(cx);
    if (response.IsReady()) std::exchange(call_, nullptr)->DropFuture();
    return response;
  }

 private:
  Start start_;
  internal::UnaryCall<Request, Response>* call_;  // null once ready
  bool begun_ = false;
};

// ClientStream
//
// A call that sends messages and gets one response. The response is ready after
// the writer was closed or destroyed, or a `Send()` has failed.
template <class Request, class Response>
struct ClientStream {
  ClientWriter<Request> writer;
  ResponseFuture<Response> response;
};

// BidiStream
//
// A call that sends and receives messages, independently of each other.
template <class Request, class Response>
struct BidiStream {
  ClientWriter<Request> writer;
  ClientReader<Response> reader;
};

namespace internal {

// Calls a generated function of a stub.
template <class Async, class Method>
class StubMethod {
 public:
  StubMethod(Async* async, Method method) : async_(async), method_(method) {}

  template <class... Args>
  void operator()(Args&&... args) const {
    (async_->*method_)(std::forward<Args>(args)...);
  }

 private:
  Async* async_;
  Method method_;
};

template <class Stub>
using AsyncOf = std::remove_pointer_t<decltype(std::declval<Stub&>().async())>;

}  // namespace internal

// Call() of a unary method
//
// Returns a future of the response, an `absl::StatusOr<Response>`. The call
// begins at the first poll; a timeout counts from `Call()`.
//
// REQUIRES: `stub` exists until the future was first polled.
//
// Cancellation: destroying the future cancels the call.
//
// Costs an allocation, in addition to gRPC's own.
template <class Stub, class Async, class Request, class Response>
auto Call(Stub& stub,
          void (Async::*method)(::grpc::ClientContext*, const Request*,
                                Response*, std::function<void(::grpc::Status)>),
          std::type_identity_t<Request> request,
          const CallOptions& options = CallOptions()) {
  using Start = internal::StubMethod<internal::AsyncOf<Stub>, decltype(method)>;
  return UnaryFuture<Request, Response, Start>(Start(stub.async(), method),
                                               std::move(request), options);
}

// Call() of a method that returns a stream
//
// Begins the call, and returns the stream of the responses.
template <class Stub, class Async, class Request, class Response>
ClientReader<Response> Call(
    Stub& stub,
    void (Async::*method)(::grpc::ClientContext*, const Request*,
                          ::grpc::ClientReadReactor<Response>*),
    std::type_identity_t<Request> request,
    const CallOptions& options = CallOptions()) {
  auto* const call = new internal::ServerStreamCall<Request, Response>(
      options, std::move(request));
  call->Begin(internal::StubMethod(stub.async(), method));
  return ClientReader<Response>(call);
}

// Call() of a method that takes a stream
//
// Begins the call, and returns a writer of the requests and a future of the
// response.
template <class Stub, class Async, class Request, class Response>
ClientStream<Request, Response> Call(
    Stub& stub,
    void (Async::*method)(::grpc::ClientContext*, Response*,
                          ::grpc::ClientWriteReactor<Request>*),
    const CallOptions& options = CallOptions()) {
  auto* const call = new internal::ClientStreamCall<Request, Response>(options);
  call->Begin(internal::StubMethod(stub.async(), method));
  return {ClientWriter<Request>(call), ResponseFuture<Response>(call)};
}

// Call() of a method that takes a stream and returns a stream
//
// Begins the call, and returns a writer of the requests and the stream of the
// responses.
template <class Stub, class Async, class Request, class Response>
BidiStream<Request, Response> Call(
    Stub& stub,
    void (Async::*method)(::grpc::ClientContext*,
                          ::grpc::ClientBidiReactor<Request, Response>*),
    const CallOptions& options = CallOptions()) {
  auto* const call = new internal::BidiStreamCall<Request, Response>(options);
  call->Begin(internal::StubMethod(stub.async(), method));
  return {ClientWriter<Request>(call), ClientReader<Response>(call)};
}

}  // namespace rouse::rpc

#endif  // ROUSE_GRPC_CALL_H_
