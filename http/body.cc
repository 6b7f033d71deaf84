// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/body.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/no_destructor.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/http/headers.h"
#include "rouse/io/read_to_end.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::http {

namespace internal {

PollResult<absl::StatusOr<size_t>> ChunkSource::PollRead(
    Context& cx, absl::Span<char> buffer) {
  using Result = absl::StatusOr<size_t>;
  if (buffer.empty()) return Result(0);
  while (taken_ == chunk_.size()) {
    if (has_ended_) return Result(0);
    // A stream that always has a chunk takes no budget.
    if (!cx.HasBudget()) return YieldForBudget(cx);
    PollResult<std::optional<absl::StatusOr<std::string>>> chunk =
        PollChunk(cx);
    if (chunk.IsPending()) return kPending;
    TakeUnitIfAny(cx);
    chunk_.clear();
    taken_ = 0;
    if (!chunk->has_value()) {
      has_ended_ = true;
    } else if (!(*chunk)->ok()) {
      has_ended_ = true;
      return Result((**std::move(chunk)).status());
    } else {
      chunk_ = *std::move(**chunk);
    }
  }
  const size_t size = std::string_view(chunk_).substr(taken_).copy(
      buffer.data(), buffer.size());
  taken_ += size;
  TakeUnitIfAny(cx, size);
  return Result(size);
}

}  // namespace internal

PollResult<absl::StatusOr<size_t>> Body::PollRead(Context& cx,
                                                  absl::Span<char> buffer) {
  using Result = absl::StatusOr<size_t>;
  if (source_ != nullptr) {
    PollResult<Result> size = source_->PollRead(cx, buffer);
    if (size.IsReady() && size->ok()) taken_ += **size;
    if (size.IsReady() && size->ok() && **size == 0 && !buffer.empty()) {
      Headers trailers = source_->TakeTrailers();
      if (!trailers.empty()) this->trailers() = std::move(trailers);
    }
    return size;
  }
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  const size_t size = text().copy(buffer.data(), buffer.size());
  taken_ += size;
  unit->MadeProgress(size);
  return Result(size);
}

const Headers& Body::trailers() const {
  static const absl::NoDestructor<Headers> none;
  return trailers_ == nullptr ? *none : *trailers_;
}

Headers& Body::trailers() {
  if (trailers_ == nullptr) trailers_ = std::make_unique<Headers>();
  return *trailers_;
}

Co<absl::StatusOr<std::string>> Body::ReadAll(size_t limit) {
  std::string all;
  if (is_text() && text().size() <= limit) {
    all = text();
    taken_ = text_.size();
    co_return all;
  }
  co_await OrReturn(ReadToEnd(*this, all, limit));
  co_return all;
}

}  // namespace rouse::http
