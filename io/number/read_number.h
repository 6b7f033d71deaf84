// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: read_number.h
// -----------------------------------------------------------------------------
//
// Reads numbers of a binary protocol:
//
//   rouse::BufReader reader(stream);
//   uint32_t size = co_await rouse::OrReturn(rouse::ReadU32(reader));
//   int16_t kind = co_await rouse::OrReturn(rouse::ReadI16Le(reader));
//
// Each small read of a socket is a system call, so read from a `BufReader`.

#ifndef ROUSE_IO_NUMBER_READ_NUMBER_H_
#define ROUSE_IO_NUMBER_READ_NUMBER_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/number/number_bytes.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ReadNumberFuture
//
// Reads a `T` whose bytes arrive in `kOrder`. Can be moved until it is polled.
// Polling a finished future is a `Panic()`.
template <class R, internal::WireNumber T, std::endian kOrder>
class [[nodiscard]] ReadNumberFuture {
 public:
  explicit ReadNumberFuture(R& reader) : reader_(&reader) {}

  PollResult<absl::StatusOr<T>> Poll(Context& cx) {
    using Result = absl::StatusOr<T>;
    if (reader_ == nullptr) internal::PanicFinished("ReadNumber");
    while (filled_ < sizeof(T)) {
      auto size = PollRead(*reader_, cx,
                           absl::MakeSpan(bytes_).subspan(filled_), &waiter_);
      if (size.IsPending()) return kPending;
      if (!size->ok()) {
        reader_ = nullptr;
        return Result((*std::move(size)).status());
      }
      if (**size == 0) {
        reader_ = nullptr;
        return Result(absl::OutOfRangeError(
            absl::StrCat("ReadNumber: the stream ended after ", filled_, " of ",
                         sizeof(T), " bytes")));
      }
      filled_ += **size;
    }
    reader_ = nullptr;
    return Result(internal::NumberOf<T, kOrder>(bytes_));
  }

  // Returns the bytes of the number that have been read. Can be called at any
  // time.
  absl::Span<const char> filled() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return absl::MakeConstSpan(bytes_).first(filled_);
  }

 private:
  R* reader_;  // null when finished
  std::array<char, sizeof(T)> bytes_{};
  size_t filled_ = 0;
  [[no_unique_address]] IoWaiter<R> waiter_;
};

// ReadNumber()
//
// Reads a number of type `T`, an integer of up to 8 bytes, a `float` or a
// `double` (IEEE 754), as in `ReadNumber<uint32_t>(reader)`. The most
// significant byte comes first, unless `kOrder` is `std::endian::little`.
//
// Returns a future of `absl::StatusOr<T>`: OutOfRange if the stream ends before
// or within the number, or the error of the stream.
//
// Cancellation: destroying the future before it is ready loses the bytes in
// `filled()`. To wait for another future at the same time, keep the future and
// poll it by reference.
template <internal::WireNumber T, std::endian kOrder = std::endian::big,
          AsyncRead R>
ReadNumberFuture<R, T, kOrder> ReadNumber(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, T, kOrder>(reader);
}

// Read a number like `ReadNumber()`: an unsigned integer (U), an integer with a
// sign (I) or a floating-point number (F) with this number of bits. The most
// significant byte comes first, as in the network's order.
template <AsyncRead R>
ReadNumberFuture<R, uint8_t, std::endian::big> ReadU8(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, uint8_t, std::endian::big>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, int8_t, std::endian::big> ReadI8(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, int8_t, std::endian::big>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, uint16_t, std::endian::big> ReadU16(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, uint16_t, std::endian::big>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, int16_t, std::endian::big> ReadI16(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, int16_t, std::endian::big>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, uint32_t, std::endian::big> ReadU32(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, uint32_t, std::endian::big>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, int32_t, std::endian::big> ReadI32(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, int32_t, std::endian::big>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, uint64_t, std::endian::big> ReadU64(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, uint64_t, std::endian::big>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, int64_t, std::endian::big> ReadI64(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, int64_t, std::endian::big>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, float, std::endian::big> ReadF32(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, float, std::endian::big>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, double, std::endian::big> ReadF64(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, double, std::endian::big>(reader);
}

// Read a number like the functions above. The least significant byte comes
// first.
template <AsyncRead R>
ReadNumberFuture<R, uint16_t, std::endian::little> ReadU16Le(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, uint16_t, std::endian::little>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, int16_t, std::endian::little> ReadI16Le(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, int16_t, std::endian::little>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, uint32_t, std::endian::little> ReadU32Le(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, uint32_t, std::endian::little>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, int32_t, std::endian::little> ReadI32Le(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, int32_t, std::endian::little>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, uint64_t, std::endian::little> ReadU64Le(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, uint64_t, std::endian::little>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, int64_t, std::endian::little> ReadI64Le(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, int64_t, std::endian::little>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, float, std::endian::little> ReadF32Le(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, float, std::endian::little>(reader);
}
template <AsyncRead R>
ReadNumberFuture<R, double, std::endian::little> ReadF64Le(
    R& reader ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return ReadNumberFuture<R, double, std::endian::little>(reader);
}

}  // namespace rouse

#endif  // ROUSE_IO_NUMBER_READ_NUMBER_H_
