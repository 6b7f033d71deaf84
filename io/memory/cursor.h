// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: cursor.h
// -----------------------------------------------------------------------------
//
// Bytes in memory as a stream with a position:
//
//   rouse::Cursor file(std::string("head"));  // owns the bytes
//   co_await rouse::OrReturn(
//       rouse::Seek(file, 0, rouse::SeekFrom::kEnd));
//   co_await rouse::OrReturn(rouse::WriteAll(file, " and tail"));
//
//   rouse::Cursor reader(text);       // refers to the string `text`
//   rouse::Cursor reader("literal");  // can only be read; ends before a zero

#ifndef ROUSE_IO_MEMORY_CURSOR_H_
#define ROUSE_IO_MEMORY_CURSOR_H_

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/base/panic.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/seek/async_seek.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// Returns the position that a seek of a `Cursor` leads to, counted from the
// beginning. InvalidArgument if it would be in front of the beginning, or too
// large.
absl::StatusOr<uint64_t> SeekResult(uint64_t position, uint64_t size,
                                    int64_t offset, SeekFrom from);

}  // namespace internal

// Cursor
//
// An `AsyncBufRead` and `AsyncSeek` on a `B`: a `std::string`, a
// `std::string_view`, or a reference to either. The `Cursor` owns the `B` or,
// if `B` is a reference, refers to the bytes. On a `std::string` that is not
// const, the `Cursor` is also an `AsyncWrite`: a write replaces the bytes at
// the position, lengthens the string if necessary, and fills a gap behind the
// end with zeros.
//
// Never waits; every operation takes a unit of the budget. Movable. Not
// thread-safe.
//
//   InvalidArgument     A seek leads in front of the beginning, or to a
//                       position of 2^64 or more.
//   ResourceExhausted   A write needs a longer string than is possible.
//
// A write far behind the end allocates the gap, too, and throws
// `std::bad_alloc` if memory runs out.
template <class B>
class Cursor {
  using Bytes = std::remove_reference_t<B>;
  static constexpr bool kIsWritable = std::same_as<Bytes, std::string>;
  static_assert(kIsWritable || std::same_as<Bytes, const std::string> ||
                    std::same_as<std::remove_cv_t<Bytes>, std::string_view>,
                "Cursor needs a std::string or a std::string_view");

 public:
  explicit Cursor(B&& bytes) : bytes_(std::forward<B>(bytes)) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer) {
    return PollReadVectored(cx, absl::MakeConstSpan(&buffer, 1));
  }
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    const size_t size = internal::Scatter(rest(), buffers);
    position_ += size;
    return absl::StatusOr<size_t>(size);
  }
  PollResult<absl::StatusOr<std::string_view>> PollFillBuf(Context& cx)
      ABSL_ATTRIBUTE_LIFETIME_BOUND {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    return absl::StatusOr<std::string_view>(rest());
  }
  // Advances the position. Panics if fewer than `size` bytes are left.
  void Consume(size_t size) {
    if (size > rest().size()) {
      Panic(
          "Cursor::Consume: fewer bytes are left; consume at most the bytes "
          "that PollFillBuf() returned");
    }
    position_ += size;
  }

  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data)
    requires kIsWritable
  {
    return PollWriteVectored(cx, absl::MakeConstSpan(&data, 1));
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts)
    requires kIsWritable
  {
    using Result = absl::StatusOr<size_t>;
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    const size_t size = internal::TotalSize(parts);
    if (size == 0) return Result(0);
    if (position_ > bytes_.max_size() || size > bytes_.max_size() - position_) {
      return Result(absl::ResourceExhaustedError(
          absl::StrCat("Cursor: a write of ", size, " bytes at ", position_,
                       " exceeds the largest size of a string")));
    }
    auto at = static_cast<size_t>(position_);
    if (bytes_.size() < at + size) bytes_.resize(at + size);
    for (const std::string_view part : parts) {
      part.copy(bytes_.data() + at, part.size());
      at += part.size();
    }
    position_ = at;
    return Result(size);
  }
  PollResult<absl::Status> PollFlush(Context&)
    requires kIsWritable
  {
    return absl::OkStatus();
  }
  // Does nothing. Later writes still work.
  PollResult<absl::Status> PollShutdown(Context&)
    requires kIsWritable
  {
    return absl::OkStatus();
  }

  PollResult<absl::StatusOr<uint64_t>> PollSeek(Context& cx, int64_t offset,
                                                SeekFrom from) {
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    unit->MadeProgress();
    absl::StatusOr<uint64_t> position =
        internal::SeekResult(position_, bytes_.size(), offset, from);
    if (position.ok()) position_ = *position;
    return position;
  }

  // Returns the position, counted from the beginning. It can be behind the end.
  uint64_t position() const { return position_; }
  void set_position(uint64_t position) { position_ = position; }

  // Returns all bytes, wherever the position is.
  std::string_view bytes() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return bytes_;
  }

  // Takes the bytes out.
  B IntoInner() && { return std::forward<B>(bytes_); }

 private:
  // Returns the bytes behind the position.
  std::string_view rest() const {
    const std::string_view all = bytes_;
    const uint64_t begin = std::min<uint64_t>(position_, all.size());
    return all.substr(static_cast<size_t>(begin));
  }

  B bytes_;
  uint64_t position_ = 0;
};

template <class B>
Cursor(B&&) -> Cursor<B>;
template <size_t kSize>
Cursor(const char (&)[kSize]) -> Cursor<std::string_view>;

}  // namespace rouse

#endif  // ROUSE_IO_MEMORY_CURSOR_H_
