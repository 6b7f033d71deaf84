// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: delimited_message_codec.h
// -----------------------------------------------------------------------------
//
// Protocol buffers, each preceded by its size: the format of
// `writeDelimitedTo()` in Java and of `SerializeDelimitedToOstream()` in C++.
//
//   rouse::Framed connection(
//       std::move(stream), rouse::DelimitedMessageCodec<my::Request>());
//   while (auto request = co_await rouse::Next(connection)) {
//     co_await rouse::OrReturn(request->status());
//     ...
//
// This header does not depend on protobuf. It works with any type of messages
// that has three functions of protobuf's: see `DelimitedMessage`.

#ifndef ROUSE_IO_CODEC_DELIMITED_MESSAGE_CODEC_H_
#define ROUSE_IO_CODEC_DELIMITED_MESSAGE_CODEC_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rouse {

// DelimitedMessage
//
// Says whether an `M` is like a message of protobuf: `ByteSizeLong()` returns
// the number of bytes that `SerializeToArray(data, size)` writes, and
// `ParseFromArray(data, size)` reads such bytes. The latter two return whether
// they succeeded.
template <class M>
concept DelimitedMessage = std::default_initializable<M> && std::movable<M> &&
                           requires(M& message, const M& constant, void* data,
                                    const void* bytes, int size) {
                             {
                               constant.ByteSizeLong()
                             } -> std::convertible_to<size_t>;
                             {
                               constant.SerializeToArray(data, size)
                             } -> std::convertible_to<bool>;
                             {
                               message.ParseFromArray(bytes, size)
                             } -> std::convertible_to<bool>;
                           };

namespace internal {

// DelimitedBytes
//
// The part of `DelimitedMessageCodec` that does not depend on the type of the
// messages.
class DelimitedBytes {
 public:
  // The bytes of a message, and the number of bytes together with the size in
  // front of them.
  struct Found {
    std::string_view body;
    size_t total;
  };

  // Panics if `max_size` is not below 2^31.
  explicit DelimitedBytes(size_t max_size);

  // Returns the next message, whose bytes the caller takes. Takes bytes of a
  // message that is passed over, and those of an error.
  absl::StatusOr<std::optional<Found>> Find(std::string_view& bytes);
  // Returns OK if the stream may end with `bytes`. Takes all bytes.
  absl::Status End(std::string_view& bytes);
  // Appends the size of a message to `out`, or returns an error.
  absl::Status AppendSize(size_t size, std::string& out) const;

 private:
  size_t max_size_;
  // Number of bytes left to pass over of a too large message, which has been
  // reported.
  uint64_t to_pass_over_ = 0;
};

absl::Status CannotParse(size_t size);
absl::Status CannotSerialize(size_t size);

}  // namespace internal

// DelimitedMessageCodec
//
// A `Codec` of messages of type `M`, each preceded by the number of its bytes
// as a varint: 7 bits in each byte, the least significant first, and the most
// significant bit set in all bytes except for the last.
//
//   ResourceExhausted   A message has more than `max_size` bytes. The message
//                       is skipped as it arrives, without being kept: the next
//                       frame is the message behind it.
//   OutOfRange          The stream has ended within a message, or within the
//                       size of a message.
//   InvalidArgument     When read: the bytes cannot be parsed, and the next
//                       frame is the message behind them. Or the size has more
//                       than 64 bits; then frames that follow are most likely
//                       wrong: end the connection. `Encode()`: the message has
//                       more than `max_size` bytes, or cannot be serialized,
//                       for example because a required field is not set.
//
// Cost: a message is parsed from, and serialized into, the buffer of the
// `Framed`.
template <DelimitedMessage M>
class DelimitedMessageCodec {
 public:
  using Frame = M;

  static constexpr size_t kDefaultMaxSize = size_t{8} << 20;  // bytes

  // Panics if `max_size`, in bytes, is not below 2^31, which is protobuf's
  // limit.
  explicit DelimitedMessageCodec(size_t max_size = kDefaultMaxSize)
      : bytes_(max_size) {}

  absl::StatusOr<std::optional<M>> Decode(std::string_view& bytes) {
    auto found = bytes_.Find(bytes);
    if (!found.ok()) return std::move(found).status();
    if (!found->has_value()) return std::optional<M>();
    const auto [body, total] = **found;
    // Bytes are taken last, so that nothing is lost if memory runs out.
    absl::StatusOr<std::optional<M>> frame(std::in_place, std::in_place);
    if (!(*frame)->ParseFromArray(body.data(), static_cast<int>(body.size()))) {
      frame = internal::CannotParse(body.size());
    }
    bytes.remove_prefix(total);
    return frame;
  }

  absl::StatusOr<std::optional<M>> DecodeEnd(std::string_view& bytes) {
    absl::StatusOr<std::optional<M>> frame = Decode(bytes);
    if (!frame.ok() || frame->has_value()) return frame;
    absl::Status end = bytes_.End(bytes);
    if (!end.ok()) return end;
    return frame;
  }

  absl::Status Encode(const M& message, std::string& out) const {
    const size_t before = out.size();
    const size_t size = message.ByteSizeLong();
    if constexpr (requires {
                    { message.IsInitialized() } -> std::convertible_to<bool>;
                  }) {
      // Serializing would end the program in a debug build of protobuf.
      if (!message.IsInitialized()) return internal::CannotSerialize(size);
    }
    absl::Status status = bytes_.AppendSize(size, out);
    if (!status.ok()) return status;
    const size_t begin = out.size();
    out.resize(begin + size);
    if (message.SerializeToArray(out.data() + begin, static_cast<int>(size))) {
      return absl::OkStatus();
    }
    out.resize(before);
    return internal::CannotSerialize(size);
  }

 private:
  internal::DelimitedBytes bytes_;
};

}  // namespace rouse

#endif  // ROUSE_IO_CODEC_DELIMITED_MESSAGE_CODEC_H_
