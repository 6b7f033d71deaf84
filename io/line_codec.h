// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: line_codec.h
// -----------------------------------------------------------------------------
//
// Frames that are lines of text:
//
//   rouse::Framed connection(std::move(stream), rouse::LineCodec());
//   co_await rouse::OrReturn(connection.Send("HELO example.org"));

#ifndef ROUSE_IO_LINE_CODEC_H_
#define ROUSE_IO_LINE_CODEC_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/io/codec/searched_size.h"

namespace rouse {

// LineCodec
//
// A `Codec` whose frames are lines without their line ends. Lines end with "\n"
// or "\r\n"; the last line can also end with the stream. Written lines end with
// "\n". The codec does not check whether a line is text.
//
//   ResourceExhausted   A line has more than `max_size` bytes. The line is not
//                       kept but skipped: the next frame is the line behind it.
//   InvalidArgument     `Encode()` only: the frame contains a line end, or ends
//                       with "\r", or has more than `max_size` bytes.
class LineCodec {
 public:
  using Frame = std::string;

  static constexpr size_t kDefaultMaxSize = 8192;  // bytes

  explicit LineCodec(size_t max_size = kDefaultMaxSize) : max_size_(max_size) {}

  absl::StatusOr<std::optional<std::string>> Decode(std::string_view& bytes);
  absl::StatusOr<std::optional<std::string>> DecodeEnd(std::string_view& bytes);
  absl::Status Encode(std::string_view line, std::string& out) const;

 private:
  using Answer = absl::StatusOr<std::optional<std::string>>;

  absl::Status TooLong() const;
  Answer ToAnswer(std::string_view line) const;

  size_t max_size_;
  internal::SearchedSize searched_;
  // Set within a too long line, which has been reported.
  bool passing_over_ = false;
};

}  // namespace rouse

#endif  // ROUSE_IO_LINE_CODEC_H_
