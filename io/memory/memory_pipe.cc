// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/memory/memory_pipe.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "rouse/base/panic.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::internal {

MemoryPipeWaiter::MemoryPipeWaiter(MemoryPipeWaiter&& other) {
  if (other.pipe_ != nullptr) {
    Panic(
        "a future of a Duplex or Simplex was moved after it was polled; move "
        "the future before its first poll");
  }
}

MemoryPipeWaiter::~MemoryPipeWaiter() {
  if (pipe_ != nullptr) pipe_->Forget(this);
}

PollResult<absl::StatusOr<size_t>> MemoryPipe::PollRead(
    Context& cx, absl::Span<const absl::Span<char>> buffers, Waiter* waiter) {
  using Result = absl::StatusOr<size_t>;
  if (TotalSize(buffers) == 0) return Result(0);
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  // Wakers are cloned, called and destroyed while the lock is not held.
  Waker own;
  Waker woken;
  size_t taken = 0;
  for (bool cloned = false;; cloned = true) {
    {
      const ThreadMutexLock lock(&mu_);
      if (size_ > 0 || writer_closed_) {
        for (const absl::Span<char> buffer : buffers) {
          taken += TakeFront(buffer);
        }
        if (taken > 0) woken = std::exchange(writer_.waker, Waker());
        break;
      }
      if (cloned) {
        Store(reader_, own, waiter);
        return kPending;
      }
    }
    Prepare(cx, own, waiter);
  }
  unit->MadeProgress();
  std::move(woken).Wake();
  return Result(taken);
}

PollResult<absl::StatusOr<size_t>> MemoryPipe::PollWrite(
    Context& cx, absl::Span<const std::string_view> parts, Waiter* waiter) {
  using Result = absl::StatusOr<size_t>;
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  const bool empty = TotalSize(parts) == 0;
  Waker own;
  Waker woken;
  size_t added = 0;
  for (bool cloned = false;; cloned = true) {
    {
      const ThreadMutexLock lock(&mu_);
      if (writer_closed_) {
        unit->MadeProgress();
        return Result(absl::FailedPreconditionError(
            absl::StrCat("write to a ", name_, ": this end was shut down")));
      }
      if (reader_closed_) {
        unit->MadeProgress();
        return Result(absl::FailedPreconditionError(absl::StrCat(
            "write to a ", name_, ": the other end was destroyed")));
      }
      if (empty) return Result(0);
      if (size_ < capacity_) {
        for (const std::string_view part : parts) added += AddBack(part);
        woken = std::exchange(reader_.waker, Waker());
        break;
      }
      if (cloned) {
        Store(writer_, own, waiter);
        return kPending;
      }
    }
    Prepare(cx, own, waiter);
  }
  unit->MadeProgress();
  std::move(woken).Wake();
  return Result(added);
}

void MemoryPipe::CloseWriter() {
  Waker woken;
  {
    const ThreadMutexLock lock(&mu_);
    writer_closed_ = true;
    woken = std::exchange(reader_.waker, Waker());
  }
  std::move(woken).Wake();
}

void MemoryPipe::CloseReader() {
  Waker woken;
  {
    const ThreadMutexLock lock(&mu_);
    reader_closed_ = true;
    woken = std::exchange(writer_.waker, Waker());
  }
  std::move(woken).Wake();
}

void MemoryPipe::Prepare(Context& cx, Waker& own, Waiter* waiter) {
  own = cx.waker().Clone();
  if (waiter == nullptr || waiter->pipe_ == this) return;
  if (waiter->pipe_ != nullptr) waiter->pipe_->Forget(waiter);
  waiter->pipe_ = this;
}

void MemoryPipe::Store(Slot& slot, Waker& waker, const Waiter* waiter) {
  std::swap(slot.waker, waker);
  slot.owner = waiter;
}

void MemoryPipe::Forget(const Waiter* waiter) {
  Waker dropped[2];
  {
    const ThreadMutexLock lock(&mu_);
    if (reader_.owner == waiter) {
      dropped[0] = std::exchange(reader_, Slot()).waker;
    }
    if (writer_.owner == waiter) {
      dropped[1] = std::exchange(writer_, Slot()).waker;
    }
  }
}

size_t MemoryPipe::TakeFront(absl::Span<char> buffer) {
  const size_t size = std::min(size_, buffer.size());
  if (size == 0) return 0;
  const size_t first = std::min(size, capacity_ - begin_);
  std::memcpy(buffer.data(), buffer_.get() + begin_, first);
  std::memcpy(buffer.data() + first, buffer_.get(), size - first);
  begin_ = (begin_ + size) % capacity_;
  size_ -= size;
  return size;
}

size_t MemoryPipe::AddBack(std::string_view data) {
  const size_t size = std::min(capacity_ - size_, data.size());
  if (size == 0) return 0;
  const size_t end = (begin_ + size_) % capacity_;
  const size_t first = std::min(size, capacity_ - end);
  std::memcpy(buffer_.get() + end, data.data(), first);
  std::memcpy(buffer_.get(), data.data() + first, size - first);
  size_ += size;
  return size;
}

}  // namespace rouse::internal
