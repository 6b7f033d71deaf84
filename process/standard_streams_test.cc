// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/process/standard_streams.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
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
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/fd_fixture.h"
#include "rouse/testing/internal/reactor_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using internal::StandardInput;
using internal::StandardOutput;
using reactor::CountOpenFds;
using reactor::WithFailingCalls;

struct Pipe {
  Pipe() {
    int fds[2];
    EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0);
    reader.Reset(fds[0]);
    writer.Reset(fds[1]);
  }

  OwnedFd reader;
  OwnedFd writer;
};

// A pseudoterminal: `terminal` is the standard stream of a program, and `user`
// is what the user types and sees.
struct Terminal {
  Terminal() : user(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_EQ(grantpt(user.get()), 0);
    EXPECT_EQ(unlockpt(user.get()), 0);
    char name[128];
    EXPECT_EQ(ptsname_r(user.get(), name, sizeof name), 0);
    terminal.Reset(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    EXPECT_TRUE(terminal.IsValid());
  }

  OwnedFd user;
  OwnedFd terminal;
};

OwnedFd TemporaryFile() {
  std::string path = testing::TempDir() + "/rouse_standard_XXXXXX";
  OwnedFd file(mkostemp(path.data(), O_CLOEXEC));
  EXPECT_TRUE(file.IsValid());
  unlink(path.c_str());
  return file;
}

// Writes all of `data` to any kind of file with room for it.
void Put(int fd, std::string_view data) {
  ASSERT_EQ(write(fd, data.data(), data.size()),
            static_cast<ssize_t>(data.size()));
}

StandardInput Input(int fd) { return StandardInput(fd, "standard input"); }
StandardOutput Output(int fd) { return StandardOutput(fd, "standard output"); }

bool IsNonBlocking(int fd) { return (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0; }

// Returns all bytes of a file.
std::string ContentOf(int fd) {
  struct stat status;
  EXPECT_EQ(fstat(fd, &status), 0);
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  EXPECT_EQ(pread(fd, bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  return bytes;
}

Runtime MakeRuntime() { return Builder::CurrentThread().Build().value(); }

// A future that can be polled by hand has a reactor, and no blocking pool.
class StandardStreamsTest : public reactor::CurrentReactorTest {
 protected:
  std::string ReadSome(StandardInput& input) {
    char buffer[64];
    const auto size = Run(Read(input, absl::MakeSpan(buffer)));
    if (!size.ok()) return size.status().ToString();
    return std::string(buffer, *size);
  }

  // Fills a pipe, a socket or a terminal until a write is pending. Returns the
  // bytes written.
  std::string Fill(StandardOutput& output) {
    std::string all;
    const std::string piece(4096, 'x');
    for (;;) {
      auto write = Write(output, piece);
      const int before = wakes();
      auto size = task_.Poll(write);
      if (size.IsPending()) {
        if (wakes() == before && Turn() == 0) return all;
        continue;
      }
      EXPECT_TRUE(size->ok()) << size->status();
      all += piece.substr(0, **size);
    }
  }
};

TEST_F(StandardStreamsTest, ReadsAPipeAsItIsWritten) {
  Pipe pipe;
  StandardInput input = Input(pipe.reader.get());
  char buffer[16];
  {
    auto read = Read(input, absl::MakeSpan(buffer));
    EXPECT_TRUE(task_.Poll(read).IsPending());
    Put(pipe.writer.get(), "one");
    EXPECT_EQ(Run(read).value(), 3u);
  }
  Put(pipe.writer.get(), "two");
  EXPECT_EQ(ReadSome(input), "two");
  pipe.writer.Reset();
  EXPECT_EQ(ReadSome(input), "");
  EXPECT_EQ(ReadSome(input), "");
}

// O_NONBLOCK belongs to all processes that share the open file.
TEST_F(StandardStreamsTest, LeavesTheOpenFileBlocking) {
  Pipe pipe;
  Terminal pty;
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  const OwnedFd socket(fds[0]);
  const OwnedFd peer(fds[1]);
  for (const int fd : {pipe.reader.get(), pty.terminal.get(), socket.get()}) {
    StandardInput input = Input(fd);
    char buffer[16];
    auto read = Read(input, absl::MakeSpan(buffer));
    EXPECT_TRUE(task_.Poll(read).IsPending());
    EXPECT_FALSE(IsNonBlocking(fd));
  }
  for (const int fd : {pipe.writer.get(), pty.terminal.get(), socket.get()}) {
    StandardOutput output = Output(fd);
    Fill(output);
    EXPECT_FALSE(IsNonBlocking(fd));
  }
}

TEST_F(StandardStreamsTest, ReadsATerminalLineByLine) {
  Terminal pty;
  StandardInput input = Input(pty.terminal.get());
  char buffer[64];
  {
    auto read = Read(input, absl::MakeSpan(buffer));
    EXPECT_TRUE(task_.Poll(read).IsPending());
    Put(pty.user.get(), "half");
    Turn();
    EXPECT_TRUE(task_.Poll(read).IsPending());
    Put(pty.user.get(), " a line\nand a second\n");
    EXPECT_EQ(Run(read).value(), 12u);
    EXPECT_EQ(std::string_view(buffer, 12), "half a line\n");
  }
  EXPECT_EQ(ReadSome(input), "and a second\n");
  Put(pty.user.get(), "\x04");  // the end of the input
  EXPECT_EQ(ReadSome(input), "");
}

TEST_F(StandardStreamsTest, WritesToATerminal) {
  Terminal pty;
  StandardOutput output = Output(pty.terminal.get());
  ASSERT_TRUE(Run(WriteAll(output, "hello\n")).ok());
  ASSERT_TRUE(Run(Flush(output)).ok());
  char buffer[64];
  const ssize_t size = read(pty.user.get(), buffer, sizeof buffer);
  ASSERT_GT(size, 0);
  EXPECT_EQ(std::string_view(buffer, static_cast<size_t>(size)), "hello\r\n");
}

TEST_F(StandardStreamsTest, ReadsAndWritesASocket) {
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  OwnedFd socket(fds[0]);
  OwnedFd peer(fds[1]);
  StandardInput input = Input(socket.get());
  StandardOutput output = Output(socket.get());
  Put(peer.get(), "in");
  EXPECT_EQ(ReadSome(input), "in");
  const std::string_view parts[] = {"o", "", "ut"};
  EXPECT_EQ(Run(WriteVectored(output, absl::MakeConstSpan(parts))).value(), 3u);
  char buffer[16];
  ASSERT_EQ(read(peer.get(), buffer, sizeof buffer), 3);
  EXPECT_EQ(std::string_view(buffer, 3), "out");
  peer.Reset();
  EXPECT_EQ(ReadSome(input), "");
  EXPECT_EQ(Run(WriteAll(output, "x")).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(StandardStreamsTest, AFullPipeMakesAWriteWait) {
  Pipe pipe;
  StandardOutput output = Output(pipe.writer.get());
  const std::string all = Fill(output);
  EXPECT_GE(all.size(), 4096u);
  auto write = WriteAll(output, "more");
  EXPECT_TRUE(task_.Poll(write).IsPending());
  std::string drained(all.size(), '\0');
  ASSERT_EQ(read(pipe.reader.get(), drained.data(), drained.size()),
            static_cast<ssize_t>(drained.size()));
  EXPECT_TRUE(Run(write).ok());
  char buffer[16];
  ASSERT_EQ(read(pipe.reader.get(), buffer, sizeof buffer), 4);
}

TEST_F(StandardStreamsTest, AClosedPipeIsAnErrorWithoutASignal) {
  Pipe pipe;
  pipe.reader.Reset();
  StandardOutput output = Output(pipe.writer.get());
  const absl::Status status = Run(WriteAll(output, "x"));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("write to standard output"),
            std::string::npos);
}

// Two processes, such as a program and its child, read the same terminal. The
// slower one must wait, and must not block.
TEST_F(StandardStreamsTest, WhoeverIsSlowerWaits) {
  Pipe pipe;
  Terminal pty;
  for (const auto& [in, out] :
       {std::pair(pipe.reader.get(), pipe.writer.get()),
        std::pair(pty.terminal.get(), pty.user.get())}) {
    StandardInput first = Input(in);
    StandardInput second = Input(in);
    char buffer[16];
    char second_buffer[16];
    auto read = Read(first, absl::MakeSpan(buffer));
    auto second_read = Read(second, absl::MakeSpan(second_buffer));
    EXPECT_TRUE(task_.Poll(read).IsPending());
    EXPECT_TRUE(other_.Poll(second_read).IsPending());
    Put(out, "one\n");
    EXPECT_EQ(Run(read).value(), 4u);
    Turn();
    EXPECT_TRUE(other_.Poll(second_read).IsPending());
    Put(out, "two\n");
    EXPECT_EQ(Run(second_read).value(), 4u);
  }
}

// The last writer of the FIFO closed it before the stream was opened again.
TEST_F(StandardStreamsTest, AFifoWithoutAWriterHasEnded) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/rouse_fifo_", getpid());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const OwnedFd reader(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  {
    const OwnedFd writer(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_TRUE(writer.IsValid());
  }
  unlink(path.c_str());
  StandardInput input = Input(reader.get());
  EXPECT_EQ(ReadSome(input), "");
}

TEST_F(StandardStreamsTest, ADestroyedReadHasTakenNothing) {
  Pipe pipe;
  StandardInput input = Input(pipe.reader.get());
  char buffer[16];
  {
    auto read = Read(input, absl::MakeSpan(buffer));
    EXPECT_TRUE(task_.Poll(read).IsPending());
  }
  Put(pipe.writer.get(), "kept");
  EXPECT_EQ(ReadSome(input), "kept");
}

TEST_F(StandardStreamsTest, CanBeMovedBetweenReads) {
  Pipe pipe;
  StandardInput input = Input(pipe.reader.get());
  Put(pipe.writer.get(), "a");
  EXPECT_EQ(ReadSome(input), "a");
  StandardInput moved = std::move(input);
  Put(pipe.writer.get(), "b");
  EXPECT_EQ(ReadSome(moved), "b");
}

TEST_F(StandardStreamsTest, EmptyOperationsDoNothing) {
  StandardInput input = Input(-1);
  EXPECT_EQ(Run(Read(input, absl::Span<char>())).value(), 0u);
  StandardOutput output = Output(-1);
  EXPECT_EQ(Run(Write(output, "")).value(), 0u);
  EXPECT_TRUE(Run(Flush(output)).ok());
}

TEST_F(StandardStreamsTest, AStreamThatIsNotOpenIsNamed) {
  StandardInput input = Input(1000000);
  char buffer[16];
  const absl::Status status = Run(Read(input, absl::MakeSpan(buffer))).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("standard input is not open"),
            std::string::npos);
}

// A stream that could not be opened can be opened later.
TEST_F(StandardStreamsTest, AnErrorOfTheSystemIsReturnedOnce) {
  Pipe pipe;
  for (const auto& [call, error] :
       {std::pair(SYS_fcntl, EMFILE), std::pair(SYS_openat, EMFILE),
        std::pair(SYS_epoll_ctl, ENOSPC)}) {
    StandardInput input = Input(pipe.reader.get());
    StandardOutput output = Output(pipe.writer.get());
    char buffer[16];
    const bool has_filter = WithFailingCalls({call}, error, [&] {
      const reactor::ScopedDefault current(reactor_.handle());
      auto read = Read(input, absl::MakeSpan(buffer));
      const auto size = task_.Poll(read);
      ASSERT_TRUE(size.IsReady());
      EXPECT_EQ(size->status().code(), absl::StatusCode::kResourceExhausted);
      auto write = Write(output, "x");
      const auto written = task_.Poll(write);
      ASSERT_TRUE(written.IsReady());
      EXPECT_EQ(written->status().code(), absl::StatusCode::kResourceExhausted);
    });
    if (!has_filter) {
      GTEST_SKIP()
          << "this machine has no filters of system calls (seccomp)";
    }
    EXPECT_EQ(Run(Write(output, "x")).value(), 1u);
    EXPECT_EQ(ReadSome(input), "x");
  }
}

// By way of /proc, the end of a pipe could be opened in the other direction.
TEST_F(StandardStreamsTest, AStreamIsUsedOnlyInItsDirection) {
  Pipe pipe;
  Put(pipe.writer.get(), "kept");
  StandardOutput output = Output(pipe.reader.get());
  const absl::Status written = Run(WriteAll(output, "x"));
  EXPECT_EQ(written.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(written.message().find("not open for writing"), std::string::npos);
  StandardInput input = Input(pipe.writer.get());
  char buffer[16];
  const absl::Status read_status =
      Run(Read(input, absl::MakeSpan(buffer))).status();
  EXPECT_EQ(read_status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(read(pipe.reader.get(), buffer, sizeof buffer), 4);
}

TEST_F(StandardStreamsTest, AFileNeedsABlockingPool) {
  const OwnedFd file = TemporaryFile();
  StandardInput input = Input(file.get());
  char buffer[16];
  const absl::Status read = Run(Read(input, absl::MakeSpan(buffer))).status();
  EXPECT_EQ(read.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(read.message().find("blocking pool"), std::string::npos);
  StandardOutput output = Output(file.get());
  EXPECT_EQ(Run(WriteAll(output, "x")).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ContentOf(file.get()), "");
}

// The public classes, on descriptors 0 and 1.
TEST_F(StandardStreamsTest, TheClassesNameTheStreams) {
  Pipe in;
  Pipe out;
  const OwnedFd saved_in(fcntl(0, F_DUPFD_CLOEXEC, 10));
  const OwnedFd saved_out(fcntl(1, F_DUPFD_CLOEXEC, 10));
  const OwnedFd saved_err(fcntl(2, F_DUPFD_CLOEXEC, 10));
  ASSERT_EQ(dup2(in.reader.get(), 0), 0);
  ASSERT_EQ(dup2(out.writer.get(), 1), 1);
  ASSERT_EQ(dup2(out.writer.get(), 2), 2);
  std::string input_text;
  {
    Stdin input;
    Stdout output;
    Stderr errors;
    Put(in.writer.get(), "typed");
    input_text = ReadSome(input);
    EXPECT_TRUE(Run(WriteAll(output, "out,")).ok());
    EXPECT_TRUE(Run(WriteAll(errors, "err")).ok());
  }
  for (const auto& [saved, fd] :
       {std::pair(saved_in.get(), 0), std::pair(saved_out.get(), 1),
        std::pair(saved_err.get(), 2)}) {
    if (saved >= 0) {
      dup2(saved, fd);
    } else {
      close(fd);
    }
  }
  EXPECT_EQ(input_text, "typed");
  char buffer[16];
  ASSERT_EQ(read(out.reader.get(), buffer, sizeof buffer), 7);
  EXPECT_EQ(std::string_view(buffer, 7), "out,err");
}

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
      GTEST_SKIP()
          << "this machine has no filters of system calls (seccomp)";
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
