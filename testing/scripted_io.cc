// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/scripted_io.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/base/any_duration.h"
#include "rouse/base/panic.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

namespace {

std::string Quote(std::string_view bytes) {
  return absl::StrCat("\"", absl::CHexEscape(bytes), "\"");
}

}  // namespace

ScriptedIo::Waiter::Waiter(Waiter&& other) {
  if (other.place_ != nullptr) {
    Panic("a future was moved after it was polled; keep it where it is");
  }
}

ScriptedIo::Waiter::~Waiter() {
  if (place_ == nullptr) return;
  place_->pause.reset();
  Leave(*place_);
}

ScriptedIo::~ScriptedIo() {
  Leave(reader_);
  Leave(writer_);
  if (steps_.empty()) return;
  Fail(absl::StrCat("a ScriptedIo was destroyed with ", steps_.size(),
                    steps_.size() == 1 ? " step" : " steps",
                    " left; the next step ", Expected()));
}

ScriptedIo& ScriptedIo::Read(std::string_view bytes) {
  if (bytes.empty()) return *this;
  return AddForReader({Kind::kRead, std::string(bytes), absl::OkStatus(), {}});
}

ScriptedIo& ScriptedIo::ReadEnd() {
  AddForReader({Kind::kReadEnd, {}, absl::OkStatus(), {}});
  has_end_step_ = true;
  return *this;
}

ScriptedIo& ScriptedIo::Write(std::string_view bytes) {
  if (bytes.empty()) return *this;
  return Add({Kind::kWrite, std::string(bytes), absl::OkStatus(), {}});
}

ScriptedIo& ScriptedIo::ReadError(absl::Status error) {
  if (error.ok()) Panic("ScriptedIo::ReadError() was given an OK status");
  return AddForReader({Kind::kReadError, {}, std::move(error), {}});
}

ScriptedIo& ScriptedIo::WriteError(absl::Status error) {
  if (error.ok()) Panic("ScriptedIo::WriteError() was given an OK status");
  return Add({Kind::kWriteError, {}, std::move(error), {}});
}

ScriptedIo& ScriptedIo::Wait(AnyDuration duration) {
  return Add({Kind::kWait, {}, absl::OkStatus(), duration});
}

void ScriptedIo::Abandon() {
  steps_.clear();
  reader_.pause.reset();
  writer_.pause.reset();
  pause_end_.reset();
  WakeBoth();
}

ScriptedIo& ScriptedIo::AddForReader(Step step) {
  if (has_end_step_) {
    Panic("a ScriptedIo was given a step for the reader after ReadEnd()");
  }
  if (has_ended_ && rejected_.ok()) {
    Panic(
        "a ScriptedIo was given a step for a reader that has seen the end; add "
        "the step before the reader reaches the end of the script");
  }
  return Add(std::move(step));
}

// No task waits for a new step: while no step is left, nothing waits.
ScriptedIo& ScriptedIo::Add(Step step) {
  if (rejected_.ok()) steps_.push_back(std::move(step));
  return *this;
}

void ScriptedIo::EndStep() {
  steps_.pop_front();
  reader_.pause.reset();
  writer_.pause.reset();
  pause_end_.reset();
  WakeBoth();
}

void ScriptedIo::WakeBoth() {
  Waker reader = Leave(reader_);
  Waker writer = Leave(writer_);
  std::move(reader).Wake();
  std::move(writer).Wake();
}

void ScriptedIo::Enter(Place& place, Context& cx, Waiter* waiter) {
  Leave(place);
  place.waker = cx.waker().Clone();
  place.owner = waiter;
  if (waiter != nullptr) waiter->place_ = &place;
}

Waker ScriptedIo::Leave(Place& place) {
  if (place.owner != nullptr) place.owner->place_ = nullptr;
  place.owner = nullptr;
  return std::exchange(place.waker, Waker());
}

bool ScriptedIo::IsPaused(Context& cx, Place& place, Waiter* waiter) {
  while (!steps_.empty() && steps_.front().kind == Kind::kWait) {
    if (!place.pause.has_value()) {
      if (pause_end_.has_value()) {
        place.pause.emplace(SleepUntil(*pause_end_));
      } else {
        place.pause.emplace(steps_.front().duration);
      }
    }
    if (place.pause->Poll(cx).IsPending()) {
      if (!pause_end_.has_value()) pause_end_ = place.pause->Deadline();
      Enter(place, cx, waiter);
      return true;
    }
    EndStep();
  }
  return false;
}

std::string ScriptedIo::Expected() const {
  if (steps_.empty()) return "is the end of the script";
  const Step& step = steps_.front();
  switch (step.kind) {
    case Kind::kRead:
      return absl::StrCat("is a read of ", Quote(step.bytes));
    case Kind::kReadEnd:
      return "is the end of the stream for the reader";
    case Kind::kWrite:
      return absl::StrCat("is a write of ", Quote(step.bytes));
    case Kind::kReadError:
      return absl::StrCat("is a read that fails with ", step.error.ToString());
    case Kind::kWriteError:
      return absl::StrCat("is a write that fails with ", step.error.ToString());
    case Kind::kWait:
      return absl::StrCat("is a pause of ",
                          absl::FormatDuration(step.duration));
  }
  return "";
}

void ScriptedIo::Fail(const std::string& message) const {
  ADD_FAILURE_AT(where_.file_name(), static_cast<int>(where_.line()))
      << message;
}

absl::Status ScriptedIo::Reject(const std::string& message) {
  Fail(message);
  rejected_ = absl::AbortedError(message);
  Abandon();
  return rejected_;
}

PollResult<absl::StatusOr<size_t>> ScriptedIo::PollRead(Context& cx,
                                                        absl::Span<char> buffer,
                                                        Waiter* waiter) {
  using Result = absl::StatusOr<size_t>;
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  if (has_ended_ || buffer.empty()) {
    unit->MadeProgress();
    return Result(0);
  }
  if (IsPaused(cx, reader_, waiter)) return kPending;
  Leave(reader_);
  if (steps_.empty() || steps_.front().kind == Kind::kReadEnd) {
    unit->MadeProgress();
    has_ended_ = true;
    if (!steps_.empty()) EndStep();
    return Result(0);
  }
  Step& step = steps_.front();
  if (step.kind == Kind::kReadError) {
    unit->MadeProgress();
    Result error(std::move(step.error));
    EndStep();
    return error;
  }
  if (step.kind != Kind::kRead) {
    Enter(reader_, cx, waiter);
    return kPending;
  }
  unit->MadeProgress();
  const size_t size = std::min(step.bytes.size(), buffer.size());
  std::copy_n(step.bytes.data(), size, buffer.data());
  step.bytes.erase(0, size);
  if (step.bytes.empty()) EndStep();
  return Result(size);
}

PollResult<absl::StatusOr<size_t>> ScriptedIo::PollWrite(Context& cx,
                                                         std::string_view data,
                                                         Waiter* waiter) {
  using Result = absl::StatusOr<size_t>;
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending()) return kPending;
  if (data.empty()) {
    unit->MadeProgress();
    return Result(0);
  }
  if (!rejected_.ok()) {
    unit->MadeProgress();
    return Result(rejected_);
  }
  if (is_shut_down_) {
    unit->MadeProgress();
    return Result(
        Reject(absl::StrCat("a ScriptedIo received the write ", Quote(data),
                            " after the writer had shut the connection down")));
  }
  if (IsPaused(cx, writer_, waiter)) return kPending;
  Leave(writer_);
  unit->MadeProgress();
  if (!steps_.empty() && steps_.front().kind == Kind::kWriteError) {
    Result error(std::move(steps_.front().error));
    EndStep();
    return error;
  }
  std::string difference;
  if (!steps_.empty() && steps_.front().kind == Kind::kWrite) {
    std::string& expected = steps_.front().bytes;
    const size_t size = std::min(expected.size(), data.size());
    const auto [differs, unused] =
        std::mismatch(data.begin(), data.begin() + size, expected.begin());
    if (differs == data.begin() + size) {
      expected.erase(0, size);
      if (expected.empty()) EndStep();
      return Result(size);
    }
    difference = absl::StrCat("; the first difference is at byte ",
                              differs - data.begin());
  }
  return Result(
      Reject(absl::StrCat("a ScriptedIo received the write ", Quote(data),
                          ", but the next step ", Expected(), difference)));
}

PollResult<absl::StatusOr<size_t>> ScriptedIo::PollWriteVectored(
    Context& cx, absl::Span<const std::string_view> parts, Waiter* waiter) {
  for (const std::string_view part : parts) {
    if (!part.empty()) return PollWrite(cx, part, waiter);
  }
  return PollWrite(cx, "", waiter);
}

PollResult<absl::Status> ScriptedIo::PollFlush(Context&) {
  return absl::OkStatus();
}

PollResult<absl::Status> ScriptedIo::PollShutdown(Context&) {
  is_shut_down_ = true;
  return absl::OkStatus();
}

}  // namespace rouse
