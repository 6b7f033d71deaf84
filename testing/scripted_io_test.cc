// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/scripted_io.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/paused_time.h"
#include "rouse/testing/poll_matchers.h"
#include "rouse/testing/test_task.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;

static_assert(AsyncRead<ScriptedIo>);
static_assert(AsyncWrite<ScriptedIo>);

// Reads once, with room for 64 bytes.
Co<absl::StatusOr<std::string>> ReadSome(ScriptedIo& io) {
  char buffer[64];
  const absl::StatusOr<size_t> size = co_await Read(io, absl::MakeSpan(buffer));
  if (!size.ok()) co_return size.status();
  co_return std::string(buffer, *size);
}

template <class F>
auto Complete(F future) {
  TestTask task(std::move(future));
  return *task.Poll();
}

TEST(ScriptedIoTest, ReadsInPartsAndThenEnds) {
  ScriptedIo io;
  io.Read("one").Read("two");
  char buffer[2];
  TestTask first(Read(io, absl::MakeSpan(buffer)));
  EXPECT_THAT(first.Poll(), IsReadyAndHolds(IsOkAndHolds(2)));
  EXPECT_THAT(Complete(ReadSome(io)), IsOkAndHolds("e"));
  EXPECT_THAT(Complete(ReadSome(io)), IsOkAndHolds("two"));
  EXPECT_TRUE(io.is_done());
  EXPECT_THAT(Complete(ReadSome(io)), IsOkAndHolds(""));
}

TEST(ScriptedIoTest, AcceptsAWriteInPartsAndAcrossSteps) {
  ScriptedIo io;
  io.Write("one").Write("two");
  EXPECT_THAT(Complete(WriteAll(io, "on")), IsOk());
  EXPECT_THAT(Complete(WriteAll(io, "etwo")), IsOk());
  EXPECT_TRUE(io.is_done());
}

TEST(ScriptedIoTest, AReadWaitsForTheWriteBeforeIt) {
  ScriptedIo io;
  io.Write("request").Read("response");
  TestTask reader(ReadSome(io));
  EXPECT_THAT(reader.Poll(), IsPending());
  EXPECT_THAT(Complete(WriteAll(io, "re")), IsOk());
  EXPECT_FALSE(reader.is_woken());
  EXPECT_THAT(Complete(WriteAll(io, "quest")), IsOk());
  EXPECT_TRUE(reader.is_woken());
  EXPECT_THAT(reader.Poll(), IsReadyAndHolds(IsOkAndHolds("response")));
}

TEST(ScriptedIoTest, ReturnsTheScriptedErrors) {
  ScriptedIo io;
  io.ReadError(absl::UnavailableError("reset"))
      .Read("more")
      .WriteError(absl::DataLossError("broken pipe"));
  EXPECT_THAT(Complete(ReadSome(io)), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Complete(ReadSome(io)), IsOkAndHolds("more"));
  EXPECT_THAT(Complete(WriteAll(io, "x")),
              StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_TRUE(io.is_done());
}

TEST(ScriptedIoTest, AnOkErrorPanics) {
  ScriptedIo io;
  EXPECT_PANIC(io.ReadError(absl::OkStatus()), "ReadError");
  EXPECT_PANIC(io.WriteError(absl::OkStatus()), "WriteError");
}

TEST(ScriptedIoTest, AnUnexpectedWriteFailsTheTestAndNamesBothTexts) {
  EXPECT_NONFATAL_FAILURE(
      {
        ScriptedIo io;
        io.Write("+OK\r\n");
        EXPECT_THAT(Complete(WriteAll(io, "-ERR\r\n")),
                    StatusIs(absl::StatusCode::kAborted));
      },
      R"(the write "-ERR\r\n", but the next step is a write of "+OK\r\n")");
}

TEST(ScriptedIoTest, AWriteBeforeAReadFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(
      {
        ScriptedIo io;
        io.Read("hello");
        EXPECT_THAT(Complete(WriteAll(io, "x")),
                    StatusIs(absl::StatusCode::kAborted));
      },
      R"(the next step is a read of "hello")");
}

TEST(ScriptedIoTest, AWriteAfterTheScriptFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(
      {
        ScriptedIo io;
        EXPECT_THAT(Complete(WriteAll(io, "x")),
                    StatusIs(absl::StatusCode::kAborted));
      },
      "the next step is the end of the script");
}

TEST(ScriptedIoTest, LeftoverStepsFailTheTest) {
  EXPECT_NONFATAL_FAILURE(
      {
        ScriptedIo io;
        io.Read("a").Write("b");
      },
      R"(with 2 steps left; the next step is a read of "a")");
}

TEST(ScriptedIoTest, AbandonedStepsDoNotFailTheTest) {
  ScriptedIo io;
  io.Read("a").Write("b");
  io.Abandon();
  EXPECT_TRUE(io.is_done());
}

TEST(ScriptedIoTest, StepsCanBeAddedWhileAReaderWaits) {
  ScriptedIo io;
  io.Write("x");
  TestTask reader(ReadSome(io));
  EXPECT_THAT(reader.Poll(), IsPending());
  io.Read("late");
  EXPECT_THAT(Complete(WriteAll(io, "x")), IsOk());
  EXPECT_TRUE(reader.is_woken());
  EXPECT_THAT(reader.Poll(), IsReadyAndHolds(IsOkAndHolds("late")));
}

// Answers each line with the line.
Co<absl::Status> Echo(ScriptedIo& io) {
  BufReader reader(io);
  std::string line;
  for (;;) {
    line.clear();
    const absl::StatusOr<bool> is_line = co_await ReadLine(reader, line, 64);
    if (!is_line.ok() || !*is_line) co_return is_line.status();
    line += '\n';
    const absl::Status written = co_await WriteAll(io, line);
    if (!written.ok()) co_return written;
  }
}

TEST(ScriptedIoTest, APauseLastsOnTheClock) {
  Runtime runtime = PausedRuntime();
  ScriptedIo io;
  io.Read("one\n")
      .Write("one\n")
      .Wait(absl::Seconds(10))
      .Read("two\n")
      .Write("two\n");
  runtime.BlockOn([&]() -> Co<> {
    JoinHandle<absl::Status> echo = Spawn(Echo(io));
    co_await Advance(absl::Seconds(9));
    EXPECT_FALSE(io.is_done());
    co_await Advance(absl::Seconds(1));
    EXPECT_TRUE(io.is_done());
    EXPECT_TRUE((co_await echo).ok());
  });
}

TEST(ScriptedIoTest, APauseEndsForTheReaderAndTheWriter) {
  Runtime runtime = PausedRuntime();
  ScriptedIo io;
  io.Wait(absl::Seconds(1)).Write("out").Read("in");
  runtime.BlockOn([&]() -> Co<> {
    JoinHandle<absl::StatusOr<std::string>> reader = Spawn(ReadSome(io));
    JoinHandle<absl::Status> writer = Spawn(WriteAll(io, "out"));
    co_await Advance(absl::Seconds(1));
    EXPECT_TRUE(io.is_done());
    EXPECT_TRUE((co_await writer).ok());
    EXPECT_TRUE((co_await reader).ok());
  });
}

TEST(ScriptedIoTest, ReadEndComesBeforeTheAnswer) {
  ScriptedIo io;
  io.Read("all").ReadEnd().Write("answer");
  std::string text;
  EXPECT_THAT(Complete(ReadToEnd(io, text, 64)), IsOk());
  EXPECT_EQ(text, "all");
  EXPECT_THAT(Complete(WriteAll(io, "answer")), IsOk());
  EXPECT_THAT(Complete(ReadSome(io)), IsOkAndHolds(""));
  EXPECT_TRUE(io.is_done());
}

TEST(ScriptedIoTest, AnUnreachedReadEndFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(
      {
        ScriptedIo io;
        io.ReadEnd();
      },
      "with 1 step left; the next step is the end of the stream");
}

TEST(ScriptedIoTest, AStepAfterTheReadersEndPanics) {
  ScriptedIo io;
  io.ReadEnd();
  EXPECT_PANIC(io.Read("a"), "after ReadEnd()");
  EXPECT_THAT(Complete(ReadSome(io)), IsOkAndHolds(""));

  ScriptedIo ended;
  EXPECT_THAT(Complete(ReadSome(ended)), IsOkAndHolds(""));
  EXPECT_PANIC(ended.Read("a"), "seen the end");
  EXPECT_PANIC(ended.ReadError(absl::UnavailableError("a")), "seen the end");
  ended.Write("b");
  EXPECT_THAT(Complete(WriteAll(ended, "b")), IsOk());
}

TEST(ScriptedIoTest, AFailureNamesTheLineOfTheScript) {
  testing::TestPartResultArray failures;
  const int line = __LINE__ + 4;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS,
        &failures);
    ScriptedIo().Write("a");
  }
  ASSERT_EQ(failures.size(), 1);
  EXPECT_STREQ(failures.GetTestPartResult(0).file_name(), __FILE__);
  // A temporary's location is a line of the statement.
  EXPECT_NEAR(failures.GetTestPartResult(0).line_number(), line, 1);
}

TEST(ScriptedIoTest, AnUnexpectedWriteNamesTheFirstDifference) {
  EXPECT_NONFATAL_FAILURE(
      {
        ScriptedIo io;
        io.Write("length 10");
        EXPECT_THAT(Complete(WriteAll(io, "length 20")),
                    StatusIs(absl::StatusCode::kAborted));
      },
      "the first difference is at byte 7");
}

TEST(ScriptedIoTest, NamesAnErrorByTheSideThatGetsIt) {
  EXPECT_NONFATAL_FAILURE(
      {
        ScriptedIo io;
        io.ReadError(absl::UnavailableError("reset"));
        EXPECT_THAT(Complete(WriteAll(io, "x")),
                    StatusIs(absl::StatusCode::kAborted));
      },
      "the next step is a read that fails with UNAVAILABLE: reset");
}

TEST(ScriptedIoTest, AnUnexpectedWriteFailsTheTestOnceAndEndsTheScript) {
  testing::TestPartResultArray failures;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS,
        &failures);
    ScriptedIo io;
    io.Write("good").Read("answer");
    TestTask reader(ReadSome(io));
    EXPECT_THAT(reader.Poll(), IsPending());
    EXPECT_THAT(Complete(WriteAll(io, "bad")),
                StatusIs(absl::StatusCode::kAborted));
    // The reader does not wait for a write that will never come.
    EXPECT_TRUE(reader.is_woken());
    EXPECT_THAT(reader.Poll(), IsReadyAndHolds(IsOkAndHolds("")));
    EXPECT_THAT(Complete(WriteAll(io, "more")),
                StatusIs(absl::StatusCode::kAborted));
    io.Read("ignored");
    EXPECT_TRUE(io.is_done());
  }
  EXPECT_EQ(failures.size(), 1);
}

TEST(ScriptedIoTest, AWriteAfterAShutdownFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(
      {
        ScriptedIo io;
        io.Write("x");
        EXPECT_THAT(Complete(Shutdown(io)), IsOk());
        EXPECT_THAT(Complete(WriteAll(io, "x")),
                    StatusIs(absl::StatusCode::kAborted));
      },
      R"(the write "x" after the writer had shut the connection down)");
}

TEST(ScriptedIoTest, AbandonWakesAReader) {
  ScriptedIo io;
  io.Write("x");
  TestTask reader(ReadSome(io));
  EXPECT_THAT(reader.Poll(), IsPending());
  io.Abandon();
  EXPECT_TRUE(reader.is_woken());
  EXPECT_THAT(reader.Poll(), IsReadyAndHolds(IsOkAndHolds("")));
}

TEST(ScriptedIoTest, ACancelledReadDropsItsWaker) {
  ScriptedIo io;
  io.Write("x").Read("y");
  TestTask reader(ReadSome(io));
  EXPECT_THAT(reader.Poll(), IsPending());
  EXPECT_EQ(reader.wakers(), 1);
  reader.Cancel();
  EXPECT_EQ(reader.wakers(), 0);
  EXPECT_THAT(Complete(WriteAll(io, "x")), IsOk());
  EXPECT_THAT(Complete(ReadSome(io)), IsOkAndHolds("y"));
}

TEST(ScriptedIoTest, TheReaderThatPolledLastIsWoken) {
  ScriptedIo io;
  io.Write("x").Read("y");
  TestTask first(ReadSome(io));
  TestTask second(ReadSome(io));
  EXPECT_THAT(first.Poll(), IsPending());
  EXPECT_THAT(second.Poll(), IsPending());
  EXPECT_EQ(first.wakers(), 0);
  first.Cancel();
  EXPECT_THAT(Complete(WriteAll(io, "x")), IsOk());
  EXPECT_TRUE(second.is_woken());
  EXPECT_THAT(second.Poll(), IsReadyAndHolds(IsOkAndHolds("y")));
}

TEST(ScriptedIoTest, AFutureCanBeDestroyedAfterTheScript) {
  std::optional<ScriptedIo> io(std::in_place);
  io->Write("x");
  TestTask reader(ReadSome(*io));
  EXPECT_THAT(reader.Poll(), IsPending());
  EXPECT_NONFATAL_FAILURE(io.reset(), "with 1 step left");
  EXPECT_EQ(reader.wakers(), 0);
  reader.Cancel();
}

TEST(ScriptedIoTest, MovingAPendingReadPanics) {
  ScriptedIo io;
  io.Write("x");
  char buffer[2];
  auto read = Read(io, absl::MakeSpan(buffer));
  const Waker waker;
  Context cx(waker);
  EXPECT_THAT(read.Poll(cx), IsPending());
  EXPECT_PANIC(static_cast<void>(decltype(read)(std::move(read))),
               "moved after it was polled");
  io.Abandon();
}

TEST(ScriptedIoTest, APauseEndsForAReaderWhoseWriterIsCancelled) {
  Runtime runtime = PausedRuntime();
  ScriptedIo io;
  io.Wait(absl::Seconds(2)).Read("in");
  auto test = [&]() -> Co<> {
    JoinHandle<absl::StatusOr<std::string>> reader = Spawn(ReadSome(io));
    co_await Advance(absl::Seconds(1));
    JoinHandle<absl::Status> writer = Spawn(WriteAll(io, "out"));
    co_await Advance(absl::ZeroDuration());
    writer.Abort();
    co_await Advance(absl::ZeroDuration());
    EXPECT_FALSE(io.is_done());
    // The pause began when the reader reached it.
    co_await Advance(absl::Seconds(1));
    EXPECT_TRUE(io.is_done());
    EXPECT_TRUE((co_await reader).ok());
  };
  runtime.BlockOn(test);
}

TEST(ScriptedIoTest, APauseContinuesForTheNextReader) {
  Runtime runtime = PausedRuntime();
  ScriptedIo io;
  io.Wait(absl::Seconds(2)).Read("in");
  auto test = [&]() -> Co<> {
    JoinHandle<absl::StatusOr<std::string>> first = Spawn(ReadSome(io));
    co_await Advance(absl::Seconds(1));
    first.Abort();
    co_await Advance(absl::ZeroDuration());
    JoinHandle<absl::StatusOr<std::string>> second = Spawn(ReadSome(io));
    co_await Advance(absl::Seconds(1));
    EXPECT_TRUE(io.is_done());
    EXPECT_TRUE((co_await second).ok());
  };
  runtime.BlockOn(test);
}

TEST(ScriptedIoTest, AnAbandonedPauseDoesNotShortenTheNextOne) {
  Runtime runtime = PausedRuntime();
  ScriptedIo io;
  io.Wait(absl::Seconds(1)).Read("old");
  auto test = [&]() -> Co<> {
    JoinHandle<absl::StatusOr<std::string>> first = Spawn(ReadSome(io));
    co_await Advance(absl::Milliseconds(500));
    first.Abort();
    co_await Advance(absl::ZeroDuration());
    io.Abandon();
    io.Wait(std::chrono::seconds(2)).Read("new");
    JoinHandle<absl::StatusOr<std::string>> second = Spawn(ReadSome(io));
    co_await Advance(absl::Seconds(1));
    EXPECT_FALSE(second.IsFinished());
    co_await Advance(absl::Seconds(1));
    EXPECT_TRUE(second.IsFinished());
  };
  runtime.BlockOn(test);
}

TEST(ScriptedIoTest, RemembersAShutdown) {
  ScriptedIo io;
  EXPECT_FALSE(io.is_shut_down());
  EXPECT_THAT(Complete(Shutdown(io)), IsOk());
  EXPECT_TRUE(io.is_shut_down());
}

}  // namespace
}  // namespace rouse
