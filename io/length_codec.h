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
//
// `Options` describe the frames of other protocols. This header has a version,
// a kind, and the length of the whole frame, the least significant byte first:
//
//   rouse::LengthCodec::Options options;
//   options.offset = 2;
//   options.length_size = 2;
//   options.order = std::endian::little;
//   options.adjustment = -4;  // the length includes the 4 bytes of the header
//   options.skip = 0;         // frames begin with the header
//   rouse::Framed connection(std::move(stream), rouse::LengthCodec(options));

#ifndef ROUSE_IO_LENGTH_CODEC_H_
#define ROUSE_IO_LENGTH_CODEC_H_

#include "rouse/base/cxx20.h"

#include <bit>
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
// A `Codec` whose frames are preceded by their length, an unsigned number. By
// default, the length has 4 bytes, comes first, begins with the most
// significant byte, counts only the bytes behind it, and is no part of the
// `Frame`.
//
//   ResourceExhausted   A frame has more than `max_size` bytes. The frame is
//                       skipped as it arrives, without being kept: the next
//                       frame is the frame behind it. To avoid receiving all of
//                       the frame, end the connection.
//   OutOfRange          The stream has ended within a frame.
//   InvalidArgument     `Encode()`: the frame has more than `max_size` bytes,
//                       or fewer than its header, or its length cannot be
//                       expressed. When read: the length is too small for the
//                       adjustment or for the bytes to skip. Only the header
//                       has then been taken, and frames that follow are most
//                       likely wrong: end the connection.
class LengthCodec {
 public:
  using Frame = std::string;

  static constexpr size_t kDefaultMaxSize = size_t{8} << 20;  // bytes

  // Describes where the length is, and what it counts. On the wire, a frame
  // consists of `offset` bytes, the length, and as many bytes as the length
  // plus `adjustment` says.
  struct Options {
    // Largest number of bytes of a `Frame`.
    size_t max_size = kDefaultMaxSize;
    // Number of bytes of the length, 1 to 8.
    size_t length_size = 4;
    // Order of the bytes of the length.
    std::endian order = std::endian::big;
    // Number of bytes in front of the length.
    size_t offset = 0;
    // Number to add to the length to get the number of bytes behind the length.
    // Negative if the length also counts bytes of the header.
    int64_t adjustment = 0;
    // Number of bytes, from the beginning, that are no part of the `Frame`.
    // `std::nullopt` skips everything up to and including the length. With at
    // most `offset`, the `Frame` includes the length. `Encode()` writes zeros
    // for skipped bytes, and writes the length even if the `Frame` includes
    // it.
    std::optional<size_t> skip;
  };

  // Makes a codec of frames that begin with a length of `length_size` bytes.
  explicit LengthCodec(size_t max_size = kDefaultMaxSize,
                       size_t length_size = 4);
  // Panics if `length_size` is not 1 to 8, or if `skip` ends within the length.
  explicit LengthCodec(const Options& options);

  absl::StatusOr<std::optional<std::string>> Decode(std::string_view& bytes);
  absl::StatusOr<std::optional<std::string>> DecodeEnd(std::string_view& bytes);
  absl::Status Encode(std::string_view frame, std::string& out) const;

 private:
  // Returns the number of bytes in front of, and of, the length.
  size_t head_size() const { return offset_ + length_size_; }

  size_t max_size_;
  size_t length_size_;
  std::endian order_;
  size_t offset_;
  int64_t adjustment_;
  size_t skip_;
  // Number of bytes left to skip of a too long frame, which has been reported.
  uint64_t to_pass_over_ = 0;
};

}  // namespace rouse

#endif  // ROUSE_IO_LENGTH_CODEC_H_
