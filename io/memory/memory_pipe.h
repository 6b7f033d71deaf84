// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: memory_pipe.h
// -----------------------------------------------------------------------------
//
// Internal to io/: a single direction of a `Duplex`, or a `Simplex`. Bytes in
// memory go from a writing end to a reading end.

#ifndef ROUSE_IO_MEMORY_MEMORY_PIPE_H_
#define ROUSE_IO_MEMORY_MEMORY_PIPE_H_

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

class MemoryPipe;

// MemoryPipeWaiter
//
// A future's place to wait for a pipe. The pipe must outlive the waiter. The
// destructor ends the wait. A waiter can be moved until its first wait; moving
// the waiter later is a `Panic()`.
class MemoryPipeWaiter {
 public:
  MemoryPipeWaiter() = default;
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): a panic may throw
  MemoryPipeWaiter(MemoryPipeWaiter&& other);
  MemoryPipeWaiter& operator=(MemoryPipeWaiter&&) = delete;
  ~MemoryPipeWaiter();

 private:
  friend class MemoryPipe;

  MemoryPipe* pipe_ = nullptr;  // pipe of a present or past wait
};

// MemoryPipe
//
// Thread-safe. The contracts are those of `AsyncRead` and `AsyncWrite`.
class MemoryPipe {
 public:
  using Waiter = MemoryPipeWaiter;

  // `name`, which must be a literal, is for errors: "Duplex" or "Simplex".
  // REQUIRES: `capacity`, in bytes, is at least 1.
  MemoryPipe(std::string_view name, size_t capacity)
      : name_(name),
        capacity_(capacity),
        buffer_(std::make_unique_for_overwrite<char[]>(capacity)) {}
  MemoryPipe(const MemoryPipe&) = delete;
  MemoryPipe& operator=(const MemoryPipe&) = delete;

  PollResult<absl::StatusOr<size_t>> PollRead(
      Context& cx, absl::Span<const absl::Span<char>> buffers, Waiter* waiter);
  PollResult<absl::StatusOr<size_t>> PollWrite(
      Context& cx, absl::Span<const std::string_view> parts, Waiter* waiter);

  // Ends the stream: the reader receives the remaining bytes, and then the end.
  void CloseWriter();
  // Ends the reading: further writes fail.
  void CloseReader();

 private:
  friend class MemoryPipeWaiter;

  // A task that waits for the other end. `owner`, which may be null, clears the
  // slot when the owner is destroyed.
  struct Slot {
    Waker waker;
    const Waiter* owner = nullptr;
  };

  // Prepares the arguments of `Store()`. Called without the lock.
  void Prepare(Context& cx, Waker& own, Waiter* waiter);
  // Exchanges `waker` with the waker in `slot`, and makes `waiter` the slot's
  // owner.
  static void Store(Slot& slot, Waker& waker, const Waiter* waiter);

  // Makes sure that no waker is called on behalf of `waiter` any more.
  void Forget(const Waiter* waiter);

  size_t TakeFront(absl::Span<char> buffer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  size_t AddBack(std::string_view data) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string_view name_;
  const size_t capacity_;
  ThreadMutex mu_;
  // A ring buffer with `size_` bytes from `begin_` on.
  const std::unique_ptr<char[]> buffer_ ABSL_GUARDED_BY(mu_);
  size_t begin_ ABSL_GUARDED_BY(mu_) = 0;
  size_t size_ ABSL_GUARDED_BY(mu_) = 0;
  bool writer_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool reader_closed_ ABSL_GUARDED_BY(mu_) = false;
  Slot reader_ ABSL_GUARDED_BY(mu_);
  Slot writer_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse::internal

#endif  // ROUSE_IO_MEMORY_MEMORY_PIPE_H_
