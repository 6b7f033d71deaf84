// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: copy_loop.h
// -----------------------------------------------------------------------------
//
// Internal to io/: a single direction of copying, shared by `Copy` and
// `CopyBidirectional`.

#ifndef ROUSE_IO_COPY_LOOP_H_
#define ROUSE_IO_COPY_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/waiter.h"
#include "rouse/io/write_some.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// CopyLoop
//
// Must be polled with the same `reader` and `writer` each time. Ready when the
// reader has ended and all bytes are written and flushed.
template <class R, class W>
class CopyLoop {
 public:
  PollResult<absl::Status> Poll(Context& cx, R& reader, W& writer) {
    for (;;) {
      if (!ended_) {
        PollResult<absl::StatusOr<std::string_view>> bytes = Fill(cx, reader);
        if (bytes.IsPending()) {
          // Written bytes must not wait in a buffer for more bytes. An error is
          // reported here, because nothing else would report the error.
          if (!unflushed_) return kPending;
          PollResult<absl::Status> flushed = Flush(cx, writer);
          if (flushed.IsReady() && !flushed->ok()) return flushed;
          return kPending;
        }
        if (!bytes->ok()) return (*std::move(bytes)).status();
        if (!(*bytes)->empty()) {
          auto size =
              PollWriteSome(writer, cx, **bytes, &write_waiter_, "Copy");
          if (size.IsPending()) return kPending;
          if (!size->ok()) return (*std::move(size)).status();
          Consume(reader, **size);
          copied_ += **size;
          unflushed_ = true;
          continue;
        }
        ended_ = true;
        buffer_.reset();
      }
      if (!unflushed_) return absl::OkStatus();
      return Flush(cx, writer);
    }
  }

  // Returns how many bytes have been written.
  uint64_t copied() const { return copied_; }

 private:
  // Small enough to stay in a core's cache, and large enough to make the cost
  // of system calls negligible.
  static constexpr size_t kCapacity = size_t{16} << 10;  // bytes

  // Returns the bytes to be written next; empty if the reader has ended.
  PollResult<absl::StatusOr<std::string_view>> Fill(Context& cx, R& reader) {
    using Result = absl::StatusOr<std::string_view>;
    if constexpr (AsyncBufRead<R>) {
      return PollFillBuf(reader, cx, &read_waiter_);
    } else {
      if (begin_ == end_) {
        if (buffer_ == nullptr) {
          buffer_ = std::make_unique_for_overwrite<char[]>(kCapacity);
        }
        auto size =
            PollRead(reader, cx, absl::MakeSpan(buffer_.get(), kCapacity),
                     &read_waiter_);
        if (size.IsPending()) return kPending;
        if (!size->ok()) return Result((*std::move(size)).status());
        begin_ = 0;
        end_ = **size;
      }
      return Result(std::string_view(buffer_.get() + begin_, end_ - begin_));
    }
  }

  void Consume(R& reader, size_t size) {
    if constexpr (AsyncBufRead<R>) {
      reader.Consume(size);
    } else {
      begin_ += size;
    }
  }

  PollResult<absl::Status> Flush(Context& cx, W& writer) {
    PollResult<absl::Status> status = PollFlush(writer, cx, &write_waiter_);
    if (status.IsReady()) unflushed_ = false;
    return status;
  }

  // Unused if the reader has a buffer.
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;

  uint64_t copied_ = 0;
  bool ended_ = false;
  // Initially true, because an earlier copy may have been destroyed before it
  // had flushed.
  bool unflushed_ = true;
  [[no_unique_address]] IoWaiter<R> read_waiter_;
  [[no_unique_address]] IoWaiter<W> write_waiter_;
};

}  // namespace rouse::internal

#endif  // ROUSE_IO_COPY_LOOP_H_
