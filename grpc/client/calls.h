// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: calls.h
// -----------------------------------------------------------------------------
//
// The four shapes of a client's call. A call is allocated, then started, and
// deleted with its last reference: see client_call.h.

#ifndef ROUSE_GRPC_CLIENT_CALLS_H_
#define ROUSE_GRPC_CLIENT_CALLS_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/client_callback.h"
#include "grpcpp/support/status.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/grpc/call_options.h"
#include "rouse/grpc/client/client_call.h"
#include "rouse/grpc/client/reading.h"
#include "rouse/grpc/client/writing.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::rpc::internal {

// ResponseCall
//
// A call whose result is a single response.
template <class Response>
class ResponseCall {
 public:
  virtual PollResult<absl::StatusOr<Response>> PollResponse(Context& cx) = 0;
  // Gives up the reference of the future, and cancels a call that has not
  // ended.
  virtual void DropFuture() = 0;

 protected:
  ~ResponseCall() = default;
};

// Adds the response to `Base`, a `ClientCall`.
template <class Base, class Response>
class Responding : public Base, public ResponseCall<Response> {
 public:
  PollResult<absl::StatusOr<Response>> PollResponse(Context& cx) final {
    this->waker_.Register(cx.waker());
    const ThreadMutexLock lock(&this->mu_);
    if (!this->done_) return kPending;
    if (receive_metadata_ != nullptr) {
      receive_metadata_->initial =
          ToMetadata(this->context_.GetServerInitialMetadata());
      receive_metadata_->trailing =
          ToMetadata(this->context_.GetServerTrailingMetadata());
    }
    if (!this->status_.ok()) return absl::StatusOr<Response>(this->status_);
    return absl::StatusOr<Response>(std::move(response_));
  }

  void DropFuture() final {
    this->Cancel();
    this->Unref();
  }

 protected:
  Responding(const CallOptions& options, uint32_t users)
      : Base(options, users), receive_metadata_(options.receive_metadata()) {}

  // Belongs to gRPC until `done_`.
  Response response_;

 private:
  ReceivedMetadata* const receive_metadata_;
};

// UnaryCall
//
// Has no reactor, because gRPC does all of a unary call in a single operation.
template <class Request, class Response>
class UnaryCall final : public Responding<ClientCall, Response> {
 public:
  UnaryCall(const CallOptions& options, Request request)
      : Responding<ClientCall, Response>(options, 1),
        request_(std::move(request)) {}

  // `start(context, request, response, callback)` starts the call.
  template <class Start>
  void Begin(const Start& start) {
    // gRPC can call back before this call returns.
    start(&this->context_, &request_, &this->response_,
          [this](const ::grpc::Status& status) { this->SetDone(status); });
  }

 private:
  ~UnaryCall() override = default;

  const Request request_;
};

// ServerStreamCall
template <class Request, class Response>
class ServerStreamCall final
    : public Reading<ReactorCall<::grpc::ClientReadReactor<Response>>,
                     Response> {
 public:
  ServerStreamCall(const CallOptions& options, Request request)
      : Reading<ReactorCall<::grpc::ClientReadReactor<Response>>, Response>(
            options, 1),
        request_(std::move(request)) {}

  template <class Start>
  void Begin(const Start& start) {
    start(&this->context_, &request_, this);
    this->AddHold();
    this->StartCall();
  }

 private:
  ~ServerStreamCall() override = default;

  const Request request_;
};

// ClientStreamCall
template <class Request, class Response>
class ClientStreamCall final
    : public Writing<
          Responding<ReactorCall<::grpc::ClientWriteReactor<Request>>,
                     Response>,
          Request> {
 public:
  explicit ClientStreamCall(const CallOptions& options)
      : Writing<Responding<ReactorCall<::grpc::ClientWriteReactor<Request>>,
                           Response>,
                Request>(options, 2) {}

  template <class Start>
  void Begin(const Start& start) {
    start(&this->context_, &this->response_, this);
    this->AddHold();
    this->StartCall();
  }

 private:
  ~ClientStreamCall() override = default;
};

// BidiStreamCall
template <class Request, class Response>
class BidiStreamCall final
    : public Reading<
          Writing<ReactorCall<::grpc::ClientBidiReactor<Request, Response>>,
                  Request>,
          Response> {
 public:
  explicit BidiStreamCall(const CallOptions& options)
      : Reading<
            Writing<ReactorCall<::grpc::ClientBidiReactor<Request, Response>>,
                    Request>,
            Response>(options, 2) {}

  template <class Start>
  void Begin(const Start& start) {
    start(&this->context_, this);
    this->AddMultipleHolds(2);
    this->StartCall();
  }

 private:
  ~BidiStreamCall() override = default;
};

}  // namespace rouse::rpc::internal

#endif  // ROUSE_GRPC_CLIENT_CALLS_H_
