// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: std_future.h
// -----------------------------------------------------------------------------
//
// Waits for a `std::future`:
//
//   absl::StatusOr<int> answer =
//       co_await rouse::interop::FromStdFuture(std::async(Compute));

#ifndef ROUSE_INTEROP_STD_FUTURE_H_
#define ROUSE_INTEROP_STD_FUTURE_H_

#include <future>
#include <source_location>
#include <utility>

#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/scheduler/task/join_handle.h"

namespace rouse::interop {

// FromStdFuture()
//
// Returns a handle that joins a blocking call of `future.get()`, because a
// `std::future` cannot notify anybody: the call occupies a thread of the
// current blocking pool until the future is ready. The output is
// `absl::Status` if `T` is void or `absl::Status`, and otherwise
// `absl::StatusOr<T>`. If the other side is your own code, `oneshot::Channel()`
// or `FromCallback()` need no thread.
//
// REQUIRES: `future.valid()`.
//
// Cancellation: destroying the handle discards the output. The thread stays
// occupied until the future is ready.
//
// Errors: kInternal if the future holds an exception, which the handle's
// `exception()` returns. For others see `SpawnBlocking()`.
template <class T>
JoinHandle<T> FromStdFuture(
    std::future<T> future,
    std::source_location where = std::source_location::current()) {
  auto get = [future = std::move(future)]() mutable { return future.get(); };
  return SpawnBlocking(std::move(get), where);
}

}  // namespace rouse::interop

#endif  // ROUSE_INTEROP_STD_FUTURE_H_
