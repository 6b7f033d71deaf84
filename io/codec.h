// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: codec.h
// -----------------------------------------------------------------------------
//
// A codec says where a frame ends in a stream of bytes. `Framed` (framed.h)
// takes a codec.
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
// `LineCodec` and `LengthCodec` are the usual codecs; rouse/io/codec/ has
// others. A codec for one direction needs only the functions of a `Decoder` or
// of an `Encoder`.

#ifndef ROUSE_IO_CODEC_H_
#define ROUSE_IO_CODEC_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rouse {

// Decoder
//
// Says whether a `C` has the functions of a `Codec` for reading.
template <class C>
concept Decoder = requires(C& codec, std::string_view& bytes) {
  {
    codec.Decode(bytes)
  } -> std::same_as<absl::StatusOr<std::optional<typename C::Frame>>>;
  {
    codec.DecodeEnd(bytes)
  } -> std::same_as<absl::StatusOr<std::optional<typename C::Frame>>>;
};

// Encoder
//
// Says whether a `C` has the function of a `Codec` for writing.
template <class C>
concept Encoder =
    requires(C& codec, const typename C::Frame& frame, std::string& out) {
      { codec.Encode(frame, out) } -> std::same_as<absl::Status>;
    };

// Codec
//
// `Decode(bytes)` takes a frame off the front of `bytes` and returns the frame.
// `bytes` holds everything that has been read and not been taken. If the frame
// is incomplete, `Decode()` returns `std::nullopt`, and is called again with
// more bytes behind the same ones; it may still take some of the bytes, and
// remember what it needs of them. An error concerns a single frame: `Decode()`
// has taken the bytes of the frame, or remembers to take them, and is called
// again for the next frame. `Decode()` must not return frames or errors for the
// same bytes forever. The bytes exist during the call only, so a frame must not
// refer to them.
//
// `DecodeEnd(bytes)` is like `Decode()`, but for the end of the stream, when no
// more bytes will follow. It is called until it returns `std::nullopt`, even
// without bytes; any bytes left then belong to no frame.
//
// `Encode(frame, out)` appends the bytes of a frame to `out`. On an error,
// `Encode()` appends nothing.
//
// None of the functions waits, and only one task at a time calls them. Errors
// are passed on unchanged. By convention, a frame above the limit is
// ResourceExhausted when read and InvalidArgument when written, and a frame cut
// off by the end of the stream is OutOfRange.
template <class C>
concept Codec = Decoder<C> && Encoder<C>;

}  // namespace rouse

#endif  // ROUSE_IO_CODEC_H_
