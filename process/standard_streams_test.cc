// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of standard_streams.h by hand: futures are polled on a reactor without
// a blocking pool.

#include "rouse/process/standard_streams.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/process/standard_streams_fixture.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/testing/internal/failing_calls.h"
#include "rouse/testing/internal/reactor_fixture.h"

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
using reactor::WithFailingCalls;

// docs/guide/io.md states the sizes.
static_assert(sizeof(Stdin) == 4 * sizeof(void*));
static_assert(sizeof(Stdout) == 4 * sizeof(void*));

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
      GTEST_SKIP() << "this machine has no filters of system calls (seccomp)";
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

}  // namespace
}  // namespace rouse
