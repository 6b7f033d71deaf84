// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of standard_streams.h in a runtime, or with a blocking pool: files,
// devices, streams of another user, and the end of the runtime.

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/yield.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/process/standard_streams.h"
#include "rouse/process/standard_streams_fixture.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using internal::ContentOf;
using internal::Input;
using internal::IsNonBlocking;
using internal::Output;
using internal::Pipe;
using internal::Put;
using internal::StandardInput;
using internal::StandardOutput;
using internal::TemporaryFile;
using internal::Terminal;
using reactor::CountOpenFds;
using reactor::WithFailingCalls;

Runtime MakeRuntime() { return Builder::CurrentThread().Build().value(); }

// Requires each test to leave the number of open descriptors unchanged, sooner
// or later: the end of a runtime does not wait for the threads that make calls
// on anything except files, and these threads still keep the runtime's
// descriptors for a moment.
class StandardFileTest : public testing::Test {
 protected:
  ~StandardFileTest() override {
    while (CountOpenFds() != fds_before_) std::this_thread::yield();
  }

 private:
  const size_t fds_before_ = CountOpenFds();
};

// The controlling end cannot be opened again: that would be another terminal.
TEST_F(StandardFileTest, ReadsTheControllingEndOfATerminal) {
  Terminal pty;
  Put(pty.terminal.get(), "shown");
  Runtime runtime = MakeRuntime();
  StandardInput input = Input(pty.user.get());
  char buffer[64];
  ASSERT_EQ(runtime.BlockOn(Read(input, absl::MakeSpan(buffer))).value(), 5u);
  EXPECT_EQ(std::string_view(buffer, 5), "shown");
}

// A child or parent that reads or writes the same open file goes on where this
// process has stopped.
TEST_F(StandardFileTest, AFileIsReadAndWrittenAtItsSharedOffset) {
  const OwnedFd file = TemporaryFile();
  Put(file.get(), "0123456789");
  ASSERT_EQ(lseek(file.get(), 2, SEEK_SET), 2);
  Runtime runtime = MakeRuntime();
  StandardInput input = Input(file.get());
  char buffer[3];
  ASSERT_EQ(runtime.BlockOn(Read(input, absl::MakeSpan(buffer))).value(), 3u);
  EXPECT_EQ(std::string_view(buffer, 3), "234");
  EXPECT_EQ(lseek(file.get(), 0, SEEK_CUR), 5);
  StandardOutput output = Output(file.get());
  ASSERT_TRUE(runtime.BlockOn(WriteAll(output, "abc")).ok());
  ASSERT_TRUE(runtime.BlockOn(Flush(output)).ok());
  EXPECT_EQ(ContentOf(file.get()), "01234abc89");
}

TEST_F(StandardFileTest, AFileEndsAndContinuesIfItGrows) {
  const OwnedFd file = TemporaryFile();
  Runtime runtime = MakeRuntime();
  StandardInput input = Input(file.get());
  std::string all;
  EXPECT_EQ(runtime.BlockOn(ReadToEnd(input, all)).value(), 0u);
  ASSERT_EQ(pwrite(file.get(), "more", 4, 0), 4);
  EXPECT_EQ(runtime.BlockOn(ReadToEnd(input, all)).value(), 4u);
  EXPECT_EQ(all, "more");
}

TEST_F(StandardFileTest, LargeDataIsReadAndWrittenInOrder) {
  const OwnedFd file = TemporaryFile();
  std::string data;
  while (data.size() < 300000) absl::StrAppend(&data, data.size(), ",");
  Runtime runtime = MakeRuntime();
  StandardOutput output = Output(file.get());
  ASSERT_TRUE(runtime.BlockOn(WriteAll(output, data)).ok());
  const std::string_view parts[] = {"a", "", "b"};
  EXPECT_EQ(runtime.BlockOn(WriteVectored(output, absl::MakeConstSpan(parts)))
                .value(),
            2u);
  ASSERT_TRUE(runtime.BlockOn(Shutdown(output)).ok());
  ASSERT_EQ(lseek(file.get(), 0, SEEK_SET), 0);
  StandardInput input = Input(file.get());
  std::string found;
  ASSERT_TRUE(runtime.BlockOn(ReadToEnd(input, found)).ok());
  EXPECT_EQ(found, data + "ab");
}

TEST_F(StandardFileTest, BytesReadForADestroyedFutureAreKept) {
  const OwnedFd file = TemporaryFile();
  Put(file.get(), "0123456789");
  ASSERT_EQ(lseek(file.get(), 0, SEEK_SET), 0);
  Runtime runtime = MakeRuntime();
  StandardInput input = Input(file.get());
  char buffer[4];
  std::string all;
  auto one_poll = PollFn([&](Context& cx) -> PollResult<void> {
    auto read = Read(input, absl::MakeSpan(buffer));
    // Usually pending; but the pool's thread may be fast.
    const auto size = read.Poll(cx);
    if (size.IsReady()) all.append(buffer, size->value());
    return {};
  });
  runtime.BlockOn(one_poll);
  ASSERT_TRUE(runtime.BlockOn(ReadToEnd(input, all)).ok());
  EXPECT_EQ(all, "0123456789");
}

TEST_F(StandardFileTest, BytesTakenAreWrittenEvenAtTheShutdown) {
  const OwnedFd file = TemporaryFile();
  {
    Runtime runtime = MakeRuntime();
    StandardOutput output = Output(file.get());
    ASSERT_TRUE(runtime.BlockOn(WriteAll(output, "last words")).ok());
  }
  EXPECT_EQ(ContentOf(file.get()), "last words");
}

TEST_F(StandardFileTest, AnErrorIsReturnedByTheNextFlushOrWrite) {
  const OwnedFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full.IsValid()) GTEST_SKIP() << "no /dev/full here";
  Runtime runtime = MakeRuntime();
  StandardOutput output = Output(full.get());
  // The first write returns the error itself if the pool is fast.
  absl::Status status = runtime.BlockOn(Write(output, "x")).status();
  if (status.ok()) status = runtime.BlockOn(Flush(output));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("write to standard output"),
            std::string::npos);
  EXPECT_TRUE(runtime.BlockOn(Flush(output)).ok());
  status = runtime.BlockOn(Write(output, "x")).status();
  if (status.ok()) status = runtime.BlockOn(Write(output, "x")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(StandardFileTest, AWriteThatThePoolRefusesIsAnError) {
  const OwnedFd file = TemporaryFile();
  const scheduler::BlockingPool::Owner pool = scheduler::BlockingPool::Create();
  const scheduler::ScopedBlockingPool current(*pool);
  pool->Close();
  StandardOutput output = Output(file.get());
  EXPECT_EQ(BlockOn(Write(output, "lost")).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_TRUE(BlockOn(Flush(output)).ok());
  StandardInput input = Input(file.get());
  char buffer[16];
  EXPECT_EQ(BlockOn(Read(input, absl::MakeSpan(buffer))).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(StandardFileTest, ADeviceWithoutReadinessWorks) {
  const OwnedFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  Runtime runtime = MakeRuntime();
  StandardInput input = Input(null.get());
  StandardOutput output = Output(null.get());
  std::string all;
  EXPECT_EQ(runtime.BlockOn(ReadToEnd(input, all)).value(), 0u);
  EXPECT_TRUE(runtime.BlockOn(WriteAll(output, "dropped")).ok());
  EXPECT_TRUE(runtime.BlockOn(Flush(output)).ok());
}

TEST_F(StandardFileTest, ADirectoryIsAnError) {
  const OwnedFd directory(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Runtime runtime = MakeRuntime();
  StandardInput input = Input(directory.get());
  char buffer[16];
  EXPECT_FALSE(runtime.BlockOn(Read(input, absl::MakeSpan(buffer))).ok());
}

// A thread that reads the terminal would delay the shutdown until the user
// types a line.
TEST_F(StandardFileTest, TheShutdownDoesNotWaitForTheUser) {
  const Terminal pty;
  for (const bool multi_thread : {false, true}) {
    Runtime runtime =
        multi_thread ? Builder::MultiThread().WorkerThreads(1).Build().value()
                     : MakeRuntime();
    auto read = [](int fd) -> Co<void> {
      StandardInput input = Input(fd);
      char buffer[16];
      const auto size = co_await Read(input, absl::MakeSpan(buffer));
      EXPECT_FALSE(size.ok()) << "nobody has typed a line";
    };
    runtime.Spawn(read(pty.terminal.get())).Detach();
    auto let_it_wait = []() -> Co<void> {
      for (int i = 0; i < 3; ++i) co_await Yield();
    };
    runtime.BlockOn(let_it_wait());
  }
}

// Runs `body` where a stream cannot be opened again, as if it belonged to
// another user.
class OtherUsersStreamTest : public StandardFileTest {
 protected:
  void SetUp() override {
    if (!WithFailingCalls({SYS_openat}, EACCES, [] {})) {
      GTEST_SKIP() << "this machine has no filters of system calls (seccomp)";
    }
  }

  static void RunAsOtherUser(absl::FunctionRef<void()> body) {
    ASSERT_TRUE(WithFailingCalls({SYS_openat}, EACCES, body));
  }
};

TEST_F(OtherUsersStreamTest, IsReadWhenItIsReady) {
  Pipe pipe;
  Terminal pty;
  RunAsOtherUser([&] {
    Runtime runtime = MakeRuntime();
    for (const auto& [in, out] :
         {std::pair(pipe.reader.get(), pipe.writer.get()),
          std::pair(pty.terminal.get(), pty.user.get())}) {
      StandardInput input = Input(in);
      char buffer[16];
      // Opens the stream, and does not find it ready.
      auto first_poll = PollFn([&](Context& cx) -> PollResult<void> {
        EXPECT_TRUE(input.PollRead(cx, absl::MakeSpan(buffer)).IsPending());
        return {};
      });
      runtime.BlockOn(first_poll);
      EXPECT_FALSE(IsNonBlocking(in));
      Put(out, "one\n");
      EXPECT_EQ(runtime.BlockOn(Read(input, absl::MakeSpan(buffer))).value(),
                4u);
      Put(out, "two\n");
      EXPECT_EQ(runtime.BlockOn(Read(input, absl::MakeSpan(buffer))).value(),
                4u);
      EXPECT_EQ(std::string_view(buffer, 4), "two\n");
    }
    EXPECT_EQ(runtime.metrics().blocking.threads, 0u);
  });
}

TEST_F(OtherUsersStreamTest, TheSlowerReaderWaitsWithoutAThread) {
  Pipe pipe;
  RunAsOtherUser([&] {
    Runtime runtime = MakeRuntime();
    StandardInput input = Input(pipe.reader.get());
    char buffer[16];
    Put(pipe.writer.get(), "x");
    EXPECT_EQ(runtime.BlockOn(Read(input, absl::MakeSpan(buffer))).value(), 1u);
    // The stream is still taken to be ready, although it is empty.
    auto both = [&]() -> Co<void> {
      auto read = Read(input, absl::MakeSpan(buffer));
      auto write = [&]() -> Co<int> {
        // If the call of the read waited for more bytes, its thread would
        // never be idle.
        for (;;) {
          const auto calls = runtime.metrics().lookups;
          if (calls.queue_depth == 0 && calls.threads == calls.idle_threads) {
            break;
          }
          co_await Yield();
        }
        Put(pipe.writer.get(), "yz");
        co_return 0;
      };
      auto joined = Join(std::move(read), write());
      auto results = co_await joined;
      EXPECT_EQ(std::get<0>(results).value(), 2u);
    };
    runtime.BlockOn(both());
    pipe.writer.Reset();
    EXPECT_EQ(runtime.BlockOn(Read(input, absl::MakeSpan(buffer))).value(), 0u);
  });
}

TEST_F(OtherUsersStreamTest, IsWrittenOnThePool) {
  Pipe pipe;
  RunAsOtherUser([&] {
    Runtime runtime = MakeRuntime();
    StandardOutput output = Output(pipe.writer.get());
    EXPECT_TRUE(runtime.BlockOn(WriteAll(output, "abc")).ok());
    EXPECT_TRUE(runtime.BlockOn(Flush(output)).ok());
    char buffer[16];
    EXPECT_EQ(read(pipe.reader.get(), buffer, sizeof buffer), 3);
  });
}

// A pipe that nobody reads would delay the shutdown forever.
TEST_F(OtherUsersStreamTest, TheShutdownDoesNotWaitForAFullPipe) {
  Pipe pipe;
  const std::string data(size_t{2} << 20, 'x');
  RunAsOtherUser([&] {
    Runtime runtime = MakeRuntime();
    StandardOutput output = Output(pipe.writer.get());
    auto first_poll = PollFn([&](Context& cx) -> PollResult<void> {
      while (output.PollWrite(cx, data).IsReady()) {
      }
      return {};
    });
    runtime.BlockOn(first_poll);
  });
  // Lets the thread that is left behind end, which closes its descriptor.
  std::string drained(65536, '\0');
  size_t size = 0;
  pipe.writer.Reset();
  for (;;) {
    const ssize_t more =
        read(pipe.reader.get(), drained.data(), drained.size());
    ASSERT_GE(more, 0);
    if (more == 0) break;
    size += static_cast<size_t>(more);
  }
  EXPECT_GT(size, 0u);
}

}  // namespace
}  // namespace rouse
