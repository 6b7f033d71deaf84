// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: call_options.h
// -----------------------------------------------------------------------------
//
// `CallOptions` are the options of a single call:
//
//   rouse::rpc::CallOptions options(absl::Seconds(2));
//   options.AddMetadata("trace-id", id).WaitForReady();
//   absl::StatusOr<Reply> reply = co_await rouse::rpc::Call(
//       stub, &Greeter::Stub::async::SayHello, request, options);

#ifndef ROUSE_GRPC_CALL_OPTIONS_H_
#define ROUSE_GRPC_CALL_OPTIONS_H_

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/string_ref.h"
#include "rouse/base/any_duration.h"

namespace rouse::rpc {

// Metadata
//
// The metadata that a peer has sent: pairs of key and value. A key can occur
// several times.
using Metadata = std::multimap<std::string, std::string>;

// Copies gRPC's view of metadata, such as
// `grpc::CallbackServerContext::client_metadata()`.
Metadata ToMetadata(
    const std::multimap<::grpc::string_ref, ::grpc::string_ref>& metadata);

// ReceivedMetadata
//
// The metadata of a server's answer. The initial metadata comes before the
// first message, and the trailing metadata with the status.
struct ReceivedMetadata {
  Metadata initial;
  Metadata trailing;
};

// CallOptions
//
// Without an option, a call has no deadline. Setters can be chained, and the
// last call of a setter counts. Copyable.
class CallOptions {
 public:
  CallOptions() = default;

  // Makes options with a timeout: see `Timeout()`.
  template <class Duration>
    requires(!std::same_as<std::remove_cvref_t<Duration>, CallOptions> &&
             std::convertible_to<Duration, AnyDuration>)
  // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
  CallOptions(Duration&& timeout) {
    Timeout(std::forward<Duration>(timeout));
  }
  // Makes options with a deadline: see `Deadline()`.
  // NOLINTNEXTLINE(google-explicit-constructor)
  CallOptions(absl::Time deadline) { Deadline(deadline); }

  // Sets the deadline, which gRPC also sends to the server. When the deadline
  // has passed, the call ends with kDeadlineExceeded, and the server's handler
  // is cancelled. gRPC uses the system's clock, even if the runtime's clock is
  // paused.
  CallOptions& Deadline(absl::Time deadline) {
    deadline_ = deadline;
    return *this;
  }
  // Sets the deadline as a length of time from now, not from the time of the
  // call. Infinity means no deadline.
  CallOptions& Timeout(AnyDuration timeout) {
    return Deadline(absl::Now() + absl::Duration(timeout));
  }

  // Adds a pair to the metadata that the server receives before the first
  // message.
  //
  // REQUIRES: the key consists of lower-case letters, digits and "_-."; the
  // value is printable ASCII, or any bytes if the key ends in "-bin". A
  // violation is a `Panic()`, because gRPC would end the program.
  CallOptions& AddMetadata(std::string key, std::string value);

  // Sets whether the call waits for a connection, up to the deadline, rather
  // than fail with kUnavailable when no connection can be made.
  CallOptions& WaitForReady(bool wait = true) {
    wait_for_ready_ = wait;
    return *this;
  }

  // Sets where a call with a single response puts the server's metadata when
  // the response, or the call's error, is ready. `into` must outlive the
  // future. A `ClientReader` has functions instead; the option has no effect on
  // such a call.
  CallOptions& ReceiveMetadata(ReceivedMetadata* into) {
    receive_metadata_ = into;
    return *this;
  }

  // Sets a function that is called with gRPC's context before the call starts,
  // for gRPC's other options: credentials, compression, authority.
  CallOptions& Configure(
      std::function<void(::grpc::ClientContext&)> configure) {
    configure_ = std::move(configure);
    return *this;
  }

  // For the implementation.
  void ApplyTo(::grpc::ClientContext& context) const;
  ReceivedMetadata* receive_metadata() const { return receive_metadata_; }

 private:
  absl::Time deadline_ = absl::InfiniteFuture();
  Metadata metadata_;
  bool wait_for_ready_ = false;
  ReceivedMetadata* receive_metadata_ = nullptr;
  std::function<void(::grpc::ClientContext&)> configure_;
};

}  // namespace rouse::rpc

#endif  // ROUSE_GRPC_CALL_OPTIONS_H_
