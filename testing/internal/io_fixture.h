// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: io_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers for the tests in io/.

#ifndef ROUSE_TESTING_INTERNAL_IO_FIXTURE_H_
#define ROUSE_TESTING_INTERNAL_IO_FIXTURE_H_

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// A fixture with a task that counts its wakes.
class IoTest : public ::testing::Test {
 protected:
  // Polls `future` with a fresh budget.
  template <class F>
  auto Poll(F& future) {
    return task_.Poll(future);
  }

  // Polls until the future is ready. Fails if the future is pending and has
  // woken no waker.
  template <class F>
  auto Run(F&& future) {
    for (;;) {
      const int wakes = task_.wakes();
      auto result = Poll(future);
      if (result.IsReady()) return *std::move(result);
      EXPECT_GT(task_.wakes(), wakes) << "would wait for ever";
      if (task_.wakes() == wakes) std::abort();
    }
  }

  CountingWaker task_;
};

// Describes a codec's result for a comparison: "'frame'", the name of the
// error's code, or nothing for `std::nullopt`.
inline std::string Describe(
    const absl::StatusOr<std::optional<std::string>>& frame) {
  if (!frame.ok()) return absl::StatusCodeToString(frame.status().code());
  return frame->has_value() ? "'" + **frame + "'" : "";
}

// Returns the results of `codec`, a codec of strings, if `text` arrives `step`
// bytes at a time, and then ends.
template <class C>
std::vector<std::string> DecodeInSteps(C codec, std::string_view text,
                                       size_t step) {
  std::vector<std::string> frames;
  std::string buffer;
  // Decodes until the bytes received contain no further frame.
  const auto decode = [&](auto call) {
    for (;;) {
      std::string_view bytes = buffer;
      const std::string frame = Describe((codec.*call)(bytes));
      buffer = std::string(bytes);
      if (frame.empty()) return;
      frames.push_back(frame);
    }
  };
  while (!text.empty()) {
    buffer += text.substr(0, step);
    text.remove_prefix(std::min(step, text.size()));
    decode(&C::Decode);
  }
  decode(&C::DecodeEnd);
  return frames;
}

// Performs a script, a step for each `PollRead()`, and then ends. Takes a unit
// of the budget.
class ScriptedReader {
 public:
  ScriptedReader() = default;
  explicit ScriptedReader(std::string_view bytes) { Bytes(bytes); }

  ScriptedReader& Bytes(std::string_view bytes) {
    steps_.emplace_back(std::string(bytes));
    return *this;
  }
  // Adds a step that is pending once. Wakes at once if `wakes` is true.
  ScriptedReader& Pending(bool wakes = true) {
    steps_.emplace_back(wakes);
    return *this;
  }
  ScriptedReader& Error(absl::Status status) {
    steps_.emplace_back(std::move(status));
    return *this;
  }

  int polls() const { return polls_; }
  // Returns the size of the largest buffer passed to `PollRead()`.
  size_t largest_room() const { return largest_room_; }

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer) {
    using Result = absl::StatusOr<size_t>;
    ++polls_;
    largest_room_ = std::max(largest_room_, buffer.size());
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    if (steps_.empty() || buffer.empty()) return Result(0);
    if (const bool* wakes = std::get_if<bool>(&steps_.front())) {
      if (*wakes) cx.waker().WakeByRef();
      steps_.pop_front();
      return kPending;
    }
    unit->MadeProgress();
    if (auto* error = std::get_if<absl::Status>(&steps_.front())) {
      Result result(std::move(*error));
      steps_.pop_front();
      return result;
    }
    auto& bytes = std::get<std::string>(steps_.front());
    const size_t size = std::min(bytes.size(), buffer.size());
    std::copy_n(bytes.data(), size, buffer.data());
    bytes.erase(0, size);
    if (bytes.empty()) steps_.pop_front();
    return Result(size);
  }

 private:
  std::deque<std::variant<std::string, bool, absl::Status>> steps_;
  int polls_ = 0;
  size_t largest_room_ = 0;
};

// Keeps the bytes written. Takes a unit of the budget.
class ScriptedWriter {
 public:
  // Takes at most `size` bytes in each call.
  void TakeAtMost(size_t size) { most_ = size; }
  // Makes every other call pending, with a wake at once.
  void BePendingInTurns() { in_turns_ = true; }
  // Makes calls pending until `Block(false)`.
  void Block(bool blocked = true) { blocked_ = blocked; }
  // Makes the next call fail.
  void Error(absl::Status status) { error_ = std::move(status); }

  const std::string& written() const { return written_; }
  // Returns the bytes that had been written at the last flush.
  size_t flushed() const { return flushed_; }
  int writes() const { return writes_; }
  bool is_shut_down() const { return is_shut_down_; }

  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data) {
    return PollWriteVectored(cx, absl::MakeConstSpan(&data, 1));
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts) {
    using Result = absl::StatusOr<size_t>;
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending() || IsPending(cx)) return kPending;
    unit->MadeProgress();
    if (!error_.ok()) return Result(std::exchange(error_, absl::OkStatus()));
    ++writes_;
    size_t size = 0;
    for (const std::string_view part : parts) {
      const std::string_view taken = part.substr(0, most_ - size);
      written_.append(taken);
      size += taken.size();
    }
    return Result(size);
  }
  PollResult<absl::Status> PollFlush(Context& cx) {
    if (IsPending(cx)) return kPending;
    if (!error_.ok()) return std::exchange(error_, absl::OkStatus());
    flushed_ = written_.size();
    return absl::OkStatus();
  }
  PollResult<absl::Status> PollShutdown(Context& cx) {
    PollResult<absl::Status> flushed = PollFlush(cx);
    if (flushed.IsReady() && flushed->ok()) is_shut_down_ = true;
    return flushed;
  }

 private:
  bool IsPending(Context& cx) {
    if (blocked_) return true;
    if (!in_turns_) return false;
    turn_ = !turn_;
    if (turn_) cx.waker().WakeByRef();
    return turn_;
  }

  std::string written_;
  size_t flushed_ = 0;
  size_t most_ = std::string::npos;
  int writes_ = 0;
  bool in_turns_ = false;
  bool turn_ = false;
  bool blocked_ = false;
  bool is_shut_down_ = false;
  absl::Status error_;
};

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_IO_FIXTURE_H_
