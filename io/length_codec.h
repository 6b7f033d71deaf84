// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: length_codec.h
// -----------------------------------------------------------------------------
//
// Frames of any bytes, each preceded by its length:
//
//   rouse::Framed connection(std::move(stream), rouse::LengthCodec());
//   co_await rouse::OrReturn(connection.Send(message.SerializeAsString()));

#ifndef ROUSE_IO_LENGTH_CODEC_H_
#define ROUSE_IO_LENGTH_CODEC_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rouse {

// LengthCodec
//
// A `Codec` whose frames are preceded by their length: an unsigned number of
// `length_size` bytes, the most significant byte first. The length does not
// include the `length_size` bytes.
//
//   ResourceExhausted   A frame has more than `max_size` bytes. The frame is
//                       skipped as it arrives, without being kept: the next
//                       frame is the frame behind it. To avoid receiving all of
//                       the frame, end the connection.
//   OutOfRange          The stream has ended within a frame.
//   InvalidArgument     `Encode()` only: the frame has more than `max_size`
//                       bytes.
class LengthCodec {
 public:
  using Frame = std::string;

  static constexpr size_t kDefaultMaxSize = size_t{8} << 20;  // bytes

  // Panics if `length_size` is not 1, 2, 4 or 8. A `max_size` beyond the
  // largest possible length is lowered to the largest possible length.
  explicit LengthCodec(size_t max_size = kDefaultMaxSize,
                       size_t length_size = 4);

  absl::StatusOr<std::optional<std::string>> Decode(std::string_view& bytes);
  absl::StatusOr<std::optional<std::string>> DecodeEnd(std::string_view& bytes);
  absl::Status Encode(std::string_view frame, std::string& out) const;

 private:
  size_t max_size_;
  size_t length_size_;
  // Number of bytes left to skip of a too long frame, which has been reported.
  uint64_t to_pass_over_ = 0;
};

}  // namespace rouse

#endif  // ROUSE_IO_LENGTH_CODEC_H_
