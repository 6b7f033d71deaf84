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

ScriptedIo::~ScriptedIo() {
  if (steps_.empty()) return;
  ADD_FAILURE() << "a ScriptedIo was destroyed with " << steps_.size()
                << " steps left; the next step " << Expected();
}

ScriptedIo& ScriptedIo::Read(std::string_view bytes) {
  // A read of no bytes would be the end of the stream.
  if (bytes.empty()) return *this;
  return Add({Kind::kRead, std::string(bytes), absl::OkStatus(), {}});
}

ScriptedIo& ScriptedIo::Write(std::string_view bytes) {
  if (bytes.empty()) return *this;
  return Add({Kind::kWrite, std::string(bytes), absl::OkStatus(), {}});
}

ScriptedIo& ScriptedIo::ReadError(absl::Status error) {
  if (error.ok()) Panic("ScriptedIo::ReadError() was given an OK status");
  return Add({Kind::kReadError, {}, std::move(error), {}});
}

ScriptedIo& ScriptedIo::WriteError(absl::Status error) {
  if (error.ok()) Panic("ScriptedIo::WriteError() was given an OK status");
  return Add({Kind::kWriteError, {}, std::move(error), {}});
}

ScriptedIo& ScriptedIo::Wait(absl::Duration duration) {
  return Add({Kind::kWait, {}, absl::OkStatus(), duration});
}

void ScriptedIo::Abandon() { steps_.clear(); }

ScriptedIo& ScriptedIo::Add(Step step) {
  steps_.push_back(std::move(step));
  std::move(reader_).Wake();
  std::move(writer_).Wake();
  return *this;
}

void ScriptedIo::EndStep() {
  steps_.pop_front();
  std::move(reader_).Wake();
  std::move(writer_).Wake();
}

bool ScriptedIo::IsPaused(Context& cx, Waker& waiter) {
  while (!steps_.empty() && steps_.front().kind == Kind::kWait) {
    if (!pause_.has_value()) pause_.emplace(steps_.front().duration);
    if (pause_->Poll(cx).IsPending()) {
      // The pause wakes only the task that polled it last.
      waiter = cx.waker().Clone();
      return true;
    }
    pause_.reset();
    EndStep();
  }
  return false;
}

std::string ScriptedIo::Expected() const {
  if (steps_.empty()) return "is the end of the script";
  switch (steps_.front().kind) {
    case Kind::kRead:
      return absl::StrCat("is a read of ", Quote(steps_.front().bytes));
    case Kind::kWrite:
      return absl::StrCat("is a write of ", Quote(steps_.front().bytes));
    case Kind::kReadError:
    case Kind::kWriteError:
      return absl::StrCat("is the error ", steps_.front().error.ToString());
    case Kind::kWait:
      return absl::StrCat("is a pause of ",
                          absl::FormatDuration(steps_.front().duration));
  }
  return "";
}

PollResult<absl::StatusOr<size_t>> ScriptedIo::PollRead(
    Context& cx, absl::Span<char> buffer) {
  using Result = absl::StatusOr<size_t>;
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending() || IsPaused(cx, reader_)) return kPending;
  if (steps_.empty() || buffer.empty()) {
    unit->MadeProgress();
    return Result(0);
  }
  Step& step = steps_.front();
  if (step.kind != Kind::kRead && step.kind != Kind::kReadError) {
    reader_ = cx.waker().Clone();
    return kPending;
  }
  unit->MadeProgress();
  if (step.kind == Kind::kReadError) {
    Result error(std::move(step.error));
    EndStep();
    return error;
  }
  const size_t size = std::min(step.bytes.size(), buffer.size());
  std::copy_n(step.bytes.data(), size, buffer.data());
  step.bytes.erase(0, size);
  if (step.bytes.empty()) EndStep();
  return Result(size);
}

PollResult<absl::StatusOr<size_t>> ScriptedIo::PollWrite(
    Context& cx, std::string_view data) {
  using Result = absl::StatusOr<size_t>;
  PollResult<BudgetUnit> unit = PollProceed(cx);
  if (unit.IsPending() || IsPaused(cx, writer_)) return kPending;
  unit->MadeProgress();
  if (data.empty()) return Result(0);
  if (!steps_.empty() && steps_.front().kind == Kind::kWriteError) {
    Result error(std::move(steps_.front().error));
    EndStep();
    return error;
  }
  if (!steps_.empty() && steps_.front().kind == Kind::kWrite) {
    std::string& expected = steps_.front().bytes;
    const size_t size = std::min(expected.size(), data.size());
    if (data.substr(0, size) == std::string_view(expected).substr(0, size)) {
      expected.erase(0, size);
      if (expected.empty()) EndStep();
      return Result(size);
    }
  }
  const std::string message =
      absl::StrCat("a ScriptedIo received the write ", Quote(data),
                   ", but the next step ", Expected());
  ADD_FAILURE() << message;
  Abandon();
  return Result(absl::AbortedError(message));
}

PollResult<absl::StatusOr<size_t>> ScriptedIo::PollWriteVectored(
    Context& cx, absl::Span<const std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (!part.empty()) return PollWrite(cx, part);
  }
  return PollWrite(cx, "");
}

PollResult<absl::Status> ScriptedIo::PollFlush(Context&) {
  return absl::OkStatus();
}

PollResult<absl::Status> ScriptedIo::PollShutdown(Context&) {
  is_shut_down_ = true;
  return absl::OkStatus();
}

}  // namespace rouse
