// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: write_some.h
// -----------------------------------------------------------------------------
//
// Internal to io/: a write that makes progress, for loops that write all of
// some data.

#ifndef ROUSE_IO_WRITE_SOME_H_
#define ROUSE_IO_WRITE_SOME_H_

#include <cstddef>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/io/async_write.h"
#include "rouse/io/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::internal {

// Returns the error of a writer that was ready but took nothing.
ABSL_ATTRIBUTE_COLD ABSL_ATTRIBUTE_NOINLINE inline absl::Status
NothingWrittenError(std::string_view name) {
  return absl::InternalError(
      absl::StrCat(name,
                   ": the writer was ready but accepted 0 bytes; PollWrite() "
                   "must return kPending instead"));
}

// PollWriteSome()
//
// Calls `PollWrite()`. `data` must not be empty. Returns Internal if the writer
// is ready but takes nothing, because the caller, `name`, would then never end.
template <AsyncWrite W>
ABSL_ATTRIBUTE_ALWAYS_INLINE inline PollResult<absl::StatusOr<size_t>>
PollWriteSome(W& writer, Context& cx, std::string_view data,
              IoWaiter<W>* waiter, std::string_view name) {
  PollResult<absl::StatusOr<size_t>> size = PollWrite(writer, cx, data, waiter);
  if (size.IsReady() && size->ok() && **size == 0) {
    return absl::StatusOr<size_t>(NothingWrittenError(name));
  }
  return size;
}

}  // namespace rouse::internal

#endif  // ROUSE_IO_WRITE_SOME_H_
