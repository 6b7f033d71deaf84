// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: value_decoder.h
// -----------------------------------------------------------------------------
//
// Reads the replies of a server, in version 2 or 3 of the protocol:
//
//   rouse::Framed replies(std::move(stream), ValueDecoder());
//   while (auto value = co_await rouse::Next(replies)) ...

#ifndef ROUSE_EXAMPLES_MINI_REDIS_RESP_VALUE_DECODER_H_
#define ROUSE_EXAMPLES_MINI_REDIS_RESP_VALUE_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/examples/mini_redis/resp/value.h"

namespace mini_redis::resp {

// What a server can make the client keep in memory for one reply.
struct ValueLimits {
  // Largest number of arrays around a value.
  size_t max_depth = 32;
  // Largest size of the texts of a reply, and of `sizeof(Value)` for each value
  // in the reply.
  size_t max_size = size_t{512} << 20;  // bytes
  // Largest size of a line, such as a simple string, an error or a number.
  size_t max_line_size = size_t{64} << 10;  // bytes
};

// ValueDecoder
//
// A `rouse::Codec` of replies. Its memory grows with the bytes that have
// arrived, and never with a length that a server has only claimed. Attributes
// are skipped.
//
// An error is final: nothing behind it can be understood, so the decoder
// discards all further bytes.
//
//   InvalidArgument     The bytes are not a reply.
//   ResourceExhausted   A limit is exceeded.
//   OutOfRange          The stream has ended within a reply.
class ValueDecoder {
 public:
  using Frame = Value;

  explicit ValueDecoder(const ValueLimits& limits = ValueLimits())
      : limits_(limits) {}

  absl::StatusOr<std::optional<Value>> Decode(std::string_view& bytes);
  absl::StatusOr<std::optional<Value>> DecodeEnd(std::string_view& bytes);

  // Writes the value in version 3 of the protocol.
  absl::Status Encode(const Value& value, std::string& out) const;

 private:
  // An array, or the like, of which elements are still to come.
  struct Level {
    char type = 0;
    size_t left = 0;
    std::vector<Value> elements;
  };

  // A step leaves a complete value in `value_`, or takes bytes, or does neither
  // because bytes are missing.
  absl::Status DecodeStep(std::string_view& bytes);
  absl::Status DecodeLine(std::string_view line);
  absl::Status BeginText(char type, int64_t size);
  absl::Status DecodeText(std::string_view& bytes);
  absl::Status EndText();
  absl::Status BeginElements(char type, int64_t size);
  // Puts `value_` into the innermost array, as often as arrays are complete.
  void EndLevels();
  absl::Status Charge(size_t size);

  ValueLimits limits_;
  bool broken_ = false;
  std::vector<Level> levels_;
  // Set when a value is complete.
  std::optional<Value> value_;
  // The type of the current text, or 0 outside a text.
  char text_type_ = 0;
  std::string text_;
  // Number of bytes of the current text that are still to come.
  size_t text_left_ = 0;
  // Number of bytes charged for the current reply.
  size_t charged_ = 0;
  // Number of bytes, of those given last, that contain no line end.
  size_t searched_ = 0;
};

}  // namespace mini_redis::resp

#endif  // ROUSE_EXAMPLES_MINI_REDIS_RESP_VALUE_DECODER_H_
