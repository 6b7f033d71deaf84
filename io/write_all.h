// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: write_all.h
// -----------------------------------------------------------------------------
//
// Writes all of `data`:
//
//   co_await rouse::OrReturn(rouse::WriteAll(writer, "hello\n"));

#ifndef ROUSE_IO_WRITE_ALL_H_
#define ROUSE_IO_WRITE_ALL_H_

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "rouse/io/async_write.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/waiter.h"
#include "rouse/io/write_some.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// WriteAllFuture
//
// Returned by `WriteAll()`.
template <class W>
class [[nodiscard(
    "nothing is written until the future is awaited")]] WriteAllFuture {
 public:
  WriteAllFuture(W& writer, std::string_view data)
      : writer_(&writer), data_(data) {}

  PollResult<absl::Status> Poll(Context& cx) {
    if (writer_ == nullptr) internal::PanicFinished("WriteAll");
    while (!data_.empty()) {
      auto size =
          internal::PollWriteSome(*writer_, cx, data_, &waiter_, "WriteAll");
      if (size.IsPending()) return kPending;
      if (!size->ok()) return Finish((*std::move(size)).status());
      data_.remove_prefix(**size);
    }
    return Finish(absl::OkStatus());
  }

  // Returns how many bytes are not written yet. Can be called at any time.
  size_t left() const { return data_.size(); }

 private:
  absl::Status Finish(absl::Status status) {
    writer_ = nullptr;
    return status;
  }

  W* writer_;              // null when finished
  std::string_view data_;  // the unwritten bytes
  [[no_unique_address]] IoWaiter<W> waiter_;
};

// WriteAll()
//
// Writes all of `data`. Returns a future of `absl::Status`, the error of the
// writer. After an error, the number of bytes that have arrived is unknown. A
// writer with a buffer must be flushed: see `Flush()`.
//
// Cancellation: destroying the future before it is ready may leave a part
// written: all bytes except the last `left()`.
template <AsyncWrite W>
WriteAllFuture<W> WriteAll(W& writer ABSL_ATTRIBUTE_LIFETIME_BOUND,
                           std::string_view data) {
  return WriteAllFuture<W>(writer, data);
}

}  // namespace rouse

#endif  // ROUSE_IO_WRITE_ALL_H_
