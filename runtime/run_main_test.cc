// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/runtime/run_main.h"

#include <errno.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/panic.h"
#include "rouse/future/co.h"
#include "rouse/future/ready.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/sleep.h"

namespace rouse {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Runs `main` and returns what the program prints to standard error. Sets
// `status` to the exit status.
template <class F>
std::string Errors(int& status, F main) {
  testing::internal::CaptureStderr();
  status = RunMain(std::move(main));
  return testing::internal::GetCapturedStderr();
}

template <class F>
std::string Errors(int& status, F main, Builder builder) {
  testing::internal::CaptureStderr();
  status = RunMain(std::move(main), std::move(builder));
  return testing::internal::GetCapturedStderr();
}

Co<> ReturnVoid() { co_await Sleep(absl::Milliseconds(1)); }
Co<int> ReturnInt(int value) { co_return value; }
Co<absl::Status> ReturnStatus(absl::Status status) { co_return status; }
Co<absl::StatusOr<int>> ReturnStatusOr(absl::StatusOr<int> result) {
  co_return result;
}

TEST(RunMainTest, ReturnsZeroAndPrintsNothingWithoutAnError) {
  int status = -1;
  EXPECT_EQ(Errors(status, ReturnVoid()), "");
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Errors(status, ReturnStatus(absl::OkStatus())), "");
  EXPECT_EQ(status, 0);
}

TEST(RunMainTest, ReturnsTheNumber) {
  int status = -1;
  EXPECT_EQ(Errors(status, ReturnInt(3)), "");
  EXPECT_EQ(status, 3);
  EXPECT_EQ(Errors(status, ReturnStatusOr(4)), "");
  EXPECT_EQ(status, 4);
}

TEST(RunMainTest, PrintsTheErrorWithTheProgramsName) {
  const std::string expected = absl::StrCat(
      program_invocation_short_name, ": NOT_FOUND: no file server.conf\n");
  absl::Status error = absl::NotFoundError("no file server.conf");
  error.SetPayload("example.Detail", absl::Cord("not for a person"));
  int status = -1;
  EXPECT_EQ(Errors(status, ReturnStatus(error)), expected);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(Errors(status, ReturnStatusOr(error)), expected);
  EXPECT_EQ(status, 1);
}

TEST(RunMainTest, PrintsWhyTheRuntimeCannotBeBuilt) {
  Builder builder = Builder::MultiThread();
  builder.EventInterval(0);
  int status = -1;
  EXPECT_THAT(Errors(status, ReturnVoid(), std::move(builder)),
              AllOf(HasSubstr(": INVALID_ARGUMENT: "), EndsWith("\n")));
  EXPECT_EQ(status, 1);
}

TEST(RunMainTest, AcceptsACallableAndAFutureThatIsNoCoroutine) {
  int status = -1;
  auto captured = std::make_unique<int>(5);
  auto main = [captured = std::move(captured)]() -> Co<int> {
    co_await Sleep(absl::Milliseconds(1));
    co_return *captured;
  };
  EXPECT_EQ(Errors(status, std::move(main)), "");
  EXPECT_EQ(status, 5);
  EXPECT_EQ(Errors(status, Ready(6)), "");
  EXPECT_EQ(status, 6);
}

Co<int> CountThreads(std::thread::id caller) {
  const bool on_caller = std::this_thread::get_id() == caller;
  JoinHandle<int> other = Spawn(ReturnInt(10));
  co_return (co_await other).value() + (on_caller ? 1 : 0);
}

TEST(RunMainTest, RunsTheMainFutureOnAWorker) {
  int status = -1;
  (void)Errors(status, CountThreads(std::this_thread::get_id()));
  EXPECT_EQ(status, 10);
}

TEST(RunMainTest, RunsOnTheCallingThreadOfACurrentThreadRuntime) {
  int status = -1;
  (void)Errors(status, CountThreads(std::this_thread::get_id()),
               Builder::CurrentThread());
  EXPECT_EQ(status, 11);
}

#ifdef ABSL_HAVE_EXCEPTIONS

Co<int> Throw() {
  co_await Sleep(absl::Milliseconds(1));
  throw std::runtime_error("the disk is full");
}

Co<int> PanicInTask() {
  co_await Sleep(absl::Milliseconds(1));
  Panic("the disk is on fire");
}

TEST(RunMainTest, PrintsTheTextOfAnExceptionAndTheLineOfTheCall) {
  testing::internal::CaptureStderr();
  const int line = __LINE__ + 1;
  EXPECT_EQ(RunMain(Throw()), 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr(": INTERNAL: "), HasSubstr("the disk is full"),
                    HasSubstr(absl::StrCat("run_main_test.cc:", line))));
}

TEST(RunMainTest, PrintsTheTextOfAPanic) {
  int status = -1;
  EXPECT_THAT(Errors(status, PanicInTask()),
              AllOf(StartsWith(program_invocation_short_name),
                    HasSubstr("the disk is on fire")));
  EXPECT_EQ(status, 1);
}

#endif  // ABSL_HAVE_EXCEPTIONS

}  // namespace
}  // namespace rouse
