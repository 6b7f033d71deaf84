// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: any_delimiter_codec.h
// -----------------------------------------------------------------------------
//
// Frames that end with any of several bytes:
//
//   rouse::Framed fields(std::move(stream),
//                        rouse::AnyDelimiterCodec(",;\n", ","));

#ifndef ROUSE_IO_CODEC_ANY_DELIMITER_CODEC_H_
#define ROUSE_IO_CODEC_ANY_DELIMITER_CODEC_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/io/codec/searched_size.h"

namespace rouse {

// AnyDelimiterCodec
//
// A `Codec` whose frames end with a byte of `delimiters`, which is no part of
// the frame; two delimiters in succession enclose an empty frame. The last
// frame can also end with the stream. Written frames end with `terminator`.
//
//   ResourceExhausted   A frame has more than `max_size` bytes. The frame is
//                       not kept but skipped: the next frame is the frame
//                       behind it.
//   InvalidArgument     `Encode()` only: the frame contains a delimiter, or has
//                       more than `max_size` bytes.
class AnyDelimiterCodec {
 public:
  using Frame = std::string;

  static constexpr size_t kDefaultMaxSize = 8192;  // bytes

  // Panics if `delimiters` is empty, or if `terminator` does not begin with one
  // of them: the reader would then not find the end of a frame.
  AnyDelimiterCodec(std::string_view delimiters, std::string_view terminator,
                    size_t max_size = kDefaultMaxSize);

  absl::StatusOr<std::optional<std::string>> Decode(std::string_view& bytes);
  absl::StatusOr<std::optional<std::string>> DecodeEnd(std::string_view& bytes);
  absl::Status Encode(std::string_view frame, std::string& out) const;

 private:
  absl::Status TooLong() const;

  std::string delimiters_;
  std::string terminator_;
  size_t max_size_;
  internal::SearchedSize searched_;
  // Set within a too long frame, which has been reported.
  bool is_skipping_ = false;
};

}  // namespace rouse

#endif  // ROUSE_IO_CODEC_ANY_DELIMITER_CODEC_H_
