// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: body_sender.h
// -----------------------------------------------------------------------------
//
// `BodySender` reads the source of a body that is sent on a stream of HTTP/2.

#ifndef ROUSE_HTTP_H2_SHARED_BODY_SENDER_H_
#define ROUSE_HTTP_H2_SHARED_BODY_SENDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/http/body.h"
#include "rouse/http/h2/shared/shared_stream.h"
#include "rouse/http/serving/body_length.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http::internal {

// BodySender
//
// Belongs to the task that reads the source, which is the user's code. Not
// thread-safe. Movable between polls.
class BodySender {
 public:
  // Takes the body whose source is read, and the length that the peer was told.
  void Start(Body body, std::optional<uint64_t> size);

  // Reads from the source as far as the stream has room, and passes the bytes
  // to the connection's task. Is ready if nothing more must be read: with the
  // error of the source, if any, or because the stream was closed. The caller
  // then sets `out_is_complete`.
  PollResult<absl::Status> Poll(Context& cx, StreamLink& link,
                                const std::shared_ptr<SharedStream>& stream);

  // Returns whether the last poll has waited for the source, rather than for
  // room.
  bool waits_for_source() const { return waits_for_source_; }

  Body& body() ABSL_ATTRIBUTE_LIFETIME_BOUND { return body_; }
  // Destroys the source.
  void Reset() { body_ = Body(); }

 private:
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer);

  Body body_;
  BodyLength length_;
  bool waits_for_source_ = false;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H2_SHARED_BODY_SENDER_H_
