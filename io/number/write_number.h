// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: write_number.h
// -----------------------------------------------------------------------------
//
// Writes numbers of a binary protocol:
//
//   rouse::BufWriter writer(stream);
//   co_await rouse::OrReturn(rouse::WriteU32(writer, size));
//   co_await rouse::OrReturn(rouse::WriteI16Le(writer, kind));
//   co_await rouse::OrReturn(rouse::Flush(writer));
//
// Each small write to a socket is a system call, so write to a `BufWriter`.

#ifndef ROUSE_IO_NUMBER_WRITE_NUMBER_H_
#define ROUSE_IO_NUMBER_WRITE_NUMBER_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "rouse/io/async_write.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/number/number_bytes.h"
#include "rouse/io/waiter.h"
#include "rouse/io/write_some.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// WriteNumberFuture
//
// Writes the bytes of a number. Can be moved until it is polled. Polling a
// finished future is a `Panic()`.
template <class W>
class [[nodiscard]] WriteNumberFuture {
 public:
  // Writes `bytes`, at most 8.
  WriteNumberFuture(W& writer, std::string_view bytes)
      : writer_(&writer), size_(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), bytes_.begin());
  }

  PollResult<absl::Status> Poll(Context& cx) {
    if (writer_ == nullptr) internal::PanicFinished("WriteNumber");
    while (written_ < size_) {
      const std::string_view rest(bytes_.data() + written_, left());
      auto size =
          internal::PollWriteSome(*writer_, cx, rest, &waiter_, "WriteNumber");
      if (size.IsPending()) return kPending;
      if (!size->ok()) {
        writer_ = nullptr;
        return (*std::move(size)).status();
      }
      written_ += **size;
    }
    writer_ = nullptr;
    return absl::OkStatus();
  }

  // Returns how many bytes are not written yet. Can be called at any time.
  size_t left() const { return size_ - written_; }

 private:
  W* writer_;  // null when finished
  std::array<char, 8> bytes_{};
  size_t size_;
  size_t written_ = 0;
  [[no_unique_address]] IoWaiter<W> waiter_;
};

// WriteNumber()
//
// Writes `number`, an integer of up to 8 bytes, a `float` or a `double` (IEEE
// 754), as in `WriteNumber<uint32_t>(writer, size)`. The most significant byte
// comes first, unless `kOrder` is `std::endian::little`.
//
// Returns a future of `absl::Status`, the error of the writer. A writer with a
// buffer must be flushed: see `Flush()`.
//
// Cancellation: destroying the future before it is ready may leave a part
// written: all bytes except the last `left()`.
template <internal::WireNumber T, std::endian kOrder = std::endian::big,
          AsyncWrite W>
WriteNumberFuture<W> WriteNumber(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                 T number) {
  const auto bytes = internal::BytesOf<T, kOrder>(number);
  return WriteNumberFuture<W>(writer,
                              std::string_view(bytes.data(), bytes.size()));
}

// Write a number like `WriteNumber()`: an unsigned integer (U), an integer with
// a sign (I) or a floating-point number (F) with this number of bits. The most
// significant byte comes first, as in the network's order.
template <AsyncWrite W>
WriteNumberFuture<W> WriteU8(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                             uint8_t number) {
  return WriteNumber<uint8_t, std::endian::big>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteI8(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                             int8_t number) {
  return WriteNumber<int8_t, std::endian::big>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteU16(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                              uint16_t number) {
  return WriteNumber<uint16_t, std::endian::big>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteI16(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                              int16_t number) {
  return WriteNumber<int16_t, std::endian::big>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteU32(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                              uint32_t number) {
  return WriteNumber<uint32_t, std::endian::big>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteI32(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                              int32_t number) {
  return WriteNumber<int32_t, std::endian::big>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteU64(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                              uint64_t number) {
  return WriteNumber<uint64_t, std::endian::big>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteI64(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                              int64_t number) {
  return WriteNumber<int64_t, std::endian::big>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteF32(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                              float number) {
  return WriteNumber<float, std::endian::big>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteF64(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                              double number) {
  return WriteNumber<double, std::endian::big>(writer, number);
}

// Write a number like the functions above. The least significant byte comes
// first.
template <AsyncWrite W>
WriteNumberFuture<W> WriteU16Le(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                uint16_t number) {
  return WriteNumber<uint16_t, std::endian::little>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteI16Le(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                int16_t number) {
  return WriteNumber<int16_t, std::endian::little>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteU32Le(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                uint32_t number) {
  return WriteNumber<uint32_t, std::endian::little>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteI32Le(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                int32_t number) {
  return WriteNumber<int32_t, std::endian::little>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteU64Le(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                uint64_t number) {
  return WriteNumber<uint64_t, std::endian::little>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteI64Le(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                int64_t number) {
  return WriteNumber<int64_t, std::endian::little>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteF32Le(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                float number) {
  return WriteNumber<float, std::endian::little>(writer, number);
}
template <AsyncWrite W>
WriteNumberFuture<W> WriteF64Le(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                                double number) {
  return WriteNumber<double, std::endian::little>(writer, number);
}

}  // namespace rouse

#endif  // ROUSE_IO_NUMBER_WRITE_NUMBER_H_
