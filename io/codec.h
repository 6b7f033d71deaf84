// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: codec.h
// -----------------------------------------------------------------------------
//
// A codec says where a frame ends in a stream of bytes: it is what `Framed`
// (framed.h) is given.
//
//   class Records {  // of eight bytes each
//    public:
//     using Frame = std::string;
//
//     absl::StatusOr<std::optional<Frame>> Decode(std::string_view& bytes) {
//       if (bytes.size() < 8) return std::nullopt;
//       Frame frame(bytes.substr(0, 8));
//       bytes.remove_prefix(8);
//       return frame;
//     }
//     absl::StatusOr<std::optional<Frame>> DecodeEnd(std::string_view& bytes) {
//       if (bytes.empty()) return std::nullopt;
//       bytes = {};
//       return absl::OutOfRangeError("the stream ended within a record");
//     }
//     absl::Status Encode(const Frame& frame, std::string& out) {
//       if (frame.size() != 8) {
//         return absl::InvalidArgumentError("a record has 8 bytes");
//       }
//       out += frame;
//       return absl::OkStatus();
//     }
//   };
//
// `LineCodec` and `LengthCodec` are the usual ones.

#ifndef ROUSE_IO_CODEC_H_
#define ROUSE_IO_CODEC_H_

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rouse {

// Codec
//
// `Decode(bytes)` takes one frame off the front of `bytes`, which is all that
// has been read and not been taken, and answers it. If the frame is not
// complete it answers `std::nullopt`, and is called again with more behind the
// same bytes; it may take a part of them all the same, and remember what it
// needs of that. An error is for one frame: it has taken the bytes of that, or
// remembers to, and is called again for the next one. What it answers, a frame
// or an error, must not be an answer to the same bytes for ever. The bytes are
// there during the call only: a frame does not refer to them.
//
// `DecodeEnd(bytes)` is the same where the stream has ended and no more will
// come. It is called, also without bytes, until it answers `std::nullopt`; what
// it leaves then belongs to no frame.
//
// `Encode(frame, out)` adds the bytes of a frame to `out`, behind what is
// there. With an error it adds nothing.
//
// None of them waits, and one task at a time calls them. Errors are passed on
// as they are. By convention a frame above the limit is ResourceExhausted when
// it is read and InvalidArgument when it is written, and one that is cut off by
// the end of the stream is OutOfRange.
template <class C>
concept Codec = requires(C& codec, const typename C::Frame& frame,
                         std::string_view& bytes, std::string& out) {
  {
    codec.Decode(bytes)
  } -> std::same_as<absl::StatusOr<std::optional<typename C::Frame>>>;
  {
    codec.DecodeEnd(bytes)
  } -> std::same_as<absl::StatusOr<std::optional<typename C::Frame>>>;
  { codec.Encode(frame, out) } -> std::same_as<absl::Status>;
};

}  // namespace rouse

#endif  // ROUSE_IO_CODEC_H_
