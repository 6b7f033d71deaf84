// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/duplex.h"

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/base/panic.h"
#include "rouse/io/memory/memory_pipe.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

DuplexStream& DuplexStream::operator=(DuplexStream&& other) noexcept {
  // The replaced stream is closed now, not when `other` is destroyed.
  DuplexStream replaced(std::move(other));
  std::swap(in_, replaced.in_);
  std::swap(out_, replaced.out_);
  return *this;
}

PollResult<absl::StatusOr<size_t>> DuplexStream::PollRead(
    Context& cx, absl::Span<char> buffer, Waiter* waiter) const {
  return in_->PollRead(cx, absl::MakeConstSpan(&buffer, 1), waiter);
}

PollResult<absl::StatusOr<size_t>> DuplexStream::PollReadVectored(
    Context& cx, absl::Span<const absl::Span<char>> buffers,
    Waiter* waiter) const {
  return in_->PollRead(cx, buffers, waiter);
}

PollResult<absl::StatusOr<size_t>> DuplexStream::PollWrite(
    Context& cx, std::string_view data, Waiter* waiter) const {
  return out_->PollWrite(cx, absl::MakeConstSpan(&data, 1), waiter);
}

PollResult<absl::StatusOr<size_t>> DuplexStream::PollWriteVectored(
    Context& cx, absl::Span<const std::string_view> parts,
    Waiter* waiter) const {
  return out_->PollWrite(cx, parts, waiter);
}

PollResult<absl::Status> DuplexStream::PollFlush(Context&) const {
  return absl::OkStatus();
}

PollResult<absl::Status> DuplexStream::PollShutdown(Context&) const {
  return ShutdownWrite();
}

absl::Status DuplexStream::ShutdownWrite() const {
  out_->CloseWriter();
  return absl::OkStatus();
}

void DuplexStream::Close() {
  if (in_ == nullptr) return;
  in_->CloseReader();
  out_->CloseWriter();
}

std::pair<DuplexStream, DuplexStream> Duplex(size_t capacity) {
  if (capacity == 0) Panic("Duplex: the capacity is 0; choose at least 1");
  auto there = std::make_shared<internal::MemoryPipe>("Duplex", capacity);
  auto back = std::make_shared<internal::MemoryPipe>("Duplex", capacity);
  return {DuplexStream(back, there), DuplexStream(there, back)};
}

}  // namespace rouse
