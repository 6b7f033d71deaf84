// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/pipe.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/net/unix/unix_datagram.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/internal/unix_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

class PipeTest : public UnixTest {
 protected:
  static std::pair<PipeReader, PipeWriter> Make() { return MakePipe().value(); }

  std::string NewFifo() {
    const std::string path = NewPath();
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    return path;
  }
};

TEST_F(PipeTest, TransfersBytes) {
  auto [reader, writer] = Make();
  const std::string_view parts[] = {"p", "", "ing"};
  EXPECT_EQ(Run(WriteVectored(writer, parts)).value(), 4u);
  EXPECT_TRUE(Run(Flush(writer)).ok());
  EXPECT_EQ(Run(Read(reader, Buffer())).value(), 4u);
  EXPECT_EQ(std::string_view(buffer_, 4), "ping");
  EXPECT_EQ(Run(Write(writer, "")).value(), 0u);
  EXPECT_EQ(Run(Read(reader, {})).value(), 0u);
}

TEST_F(PipeTest, AReadFillsSeveralBuffersInOrder) {
  auto [reader, writer] = Make();
  const absl::Span<char> buffers[] = {Buffer().first(1), Buffer().subspan(2)};
  EXPECT_EQ(reader.TryReadVectored(buffers), std::nullopt);
  auto read = ReadVectored(reader, buffers);
  ASSERT_TRUE(task_.Poll(read).IsPending());
  ASSERT_TRUE(Run(WriteAll(writer, "abc")).ok());
  EXPECT_EQ(Run(read).value(), 3u);
  EXPECT_EQ(std::string_view(buffer_ + 2, 2), "bc");
  EXPECT_EQ(Run(ReadVectored(reader, {})).value(), 0u);
}

TEST_F(PipeTest, APendingReadCanBeCancelled) {
  auto [reader, writer] = Make();
  auto read = Read(reader, Buffer());
  Turn();
  ASSERT_TRUE(task_.Poll(read).IsPending());
  {
    auto other = Read(reader, Buffer());
    ASSERT_TRUE(other_.Poll(other).IsPending());
  }
  EXPECT_EQ(other_.live(), 0);
  ASSERT_TRUE(Run(WriteAll(writer, "x")).ok());
  EXPECT_EQ(Run(read).value(), 1u);
}

// Each read returns one packet: a short read does not mean that the pipe is
// empty.
TEST_F(PipeTest, PacketsAreReadOneByOne) {
  auto [reader, writer] = Make();
  ASSERT_EQ(fcntl(writer.fd(), F_SETFL, O_DIRECT | O_NONBLOCK), 0);
  ASSERT_EQ(write(writer.fd(), "one", 3), 3);
  ASSERT_EQ(write(writer.fd(), "three", 5), 5);
  Turn();
  EXPECT_EQ(Run(Read(reader, Buffer())).value(), 3u);
  EXPECT_EQ(Run(Read(reader, Buffer())).value(), 5u);
}

TEST_F(PipeTest, AWriteWaitsForRoom) {
  auto [reader, writer] = Make();
  const std::string block(PIPE_BUF, 'x');
  Turn();
  size_t written = 0;
  for (;;) {
    auto write = Write(writer, block);
    const auto size = task_.Poll(write);
    if (size.IsPending()) break;
    written += size->value();
  }
  auto write = WriteAll(writer, block);
  ASSERT_TRUE(task_.Poll(write).IsPending());
  std::vector<char> buffer(written);
  EXPECT_GT(Run(Read(reader, absl::MakeSpan(buffer))).value(), 0u);
  EXPECT_TRUE(Run(write).ok());
}

TEST_F(PipeTest, ADestroyedWriterEndsTheStream) {
  auto [reader, writer] = Make();
  {
    const PipeWriter dropped = std::move(writer);
    ASSERT_TRUE(Run(WriteAll(dropped, "last")).ok());
    // A shutdown does not close the pipe.
    ASSERT_TRUE(Run(Shutdown(dropped)).ok());
    ASSERT_TRUE(Run(WriteAll(dropped, "!")).ok());
  }
  std::string all;
  EXPECT_EQ(Run(ReadToEnd(reader, all)).value(), 5u);
  EXPECT_EQ(all, "last!");
}

int signals = 0;

// The signal neither kills the process nor reaches a handler.
TEST_F(PipeTest, WritingWithoutAReaderFailsWithoutASignal) {
  auto [reader, writer] = Make();
  {
    const PipeReader dropped = std::move(reader);
  }
  EXPECT_EQ(Run(WriteAll(writer, "x")).code(),
            absl::StatusCode::kFailedPrecondition);

  struct sigaction count = {};
  count.sa_handler = [](int) { ++signals; };
  struct sigaction before;
  ASSERT_EQ(sigaction(SIGPIPE, &count, &before), 0);
  EXPECT_EQ(Run(WriteAll(writer, "x")).code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_EQ(sigaction(SIGPIPE, &before, nullptr), 0);
  EXPECT_EQ(signals, 0);

  sigset_t blocked;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &blocked), 0);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
}

TEST_F(PipeTest, AThreadThatBlocksTheSignalKeepsItBlocked) {
  auto [reader, writer] = Make();
  {
    const PipeReader dropped = std::move(reader);
  }
  sigset_t sigpipe, before, now;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &sigpipe, &before), 0);
  EXPECT_FALSE(Run(WriteAll(writer, "x")).ok());
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &now), 0);
  EXPECT_EQ(sigismember(&now, SIGPIPE), 1);
  // No signal is pending either, which would arrive when the thread unblocks
  // SIGPIPE.
  const timespec zero = {};
  EXPECT_EQ(sigtimedwait(&sigpipe, nullptr, &zero), -1);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

TEST_F(PipeTest, ADestroyedReaderWakesTheWriter) {
  auto pipe = std::make_optional(Make());
  const PipeWriter writer = std::move(pipe->second);
  const std::string block(1 << 20, 'x');
  auto write = WriteAll(writer, block);
  Turn();
  ASSERT_TRUE(task_.Poll(write).IsPending());
  pipe.reset();
  EXPECT_EQ(Run(write).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(PipeTest, AFifoEndsAndContinuesWithANewWriter) {
  const std::string path = NewFifo();
  EXPECT_EQ(PipeWriter::OpenFifo(path).status().code(),
            absl::StatusCode::kNotFound);
  const PipeReader reader = PipeReader::OpenFifo(path).value();
  auto read = Read(reader, Buffer());
  Turn();
  ASSERT_TRUE(task_.Poll(read).IsPending());
  {
    const PipeWriter writer = PipeWriter::OpenFifo(path).value();
    ASSERT_TRUE(Run(WriteAll(writer, "one")).ok());
  }
  EXPECT_EQ(Run(read).value(), 3u);
  EXPECT_EQ(Run(Read(reader, Buffer())).value(), 0u);
  {
    const PipeWriter writer = PipeWriter::OpenFifo(path).value();
    ASSERT_TRUE(Run(WriteAll(writer, "again")).ok());
    EXPECT_EQ(Run(Read(reader, Buffer())).value(), 5u);
  }
  EXPECT_EQ(Run(Read(reader, Buffer())).value(), 0u);
}

TEST_F(PipeTest, AFifoThatIsKeptOpenDoesNotEnd) {
  const std::string path = NewFifo();
  const PipeReader reader = PipeReader::OpenFifo(path, true).value();
  {
    const PipeWriter writer = PipeWriter::OpenFifo(path).value();
    ASSERT_TRUE(Run(WriteAll(writer, "one")).ok());
  }
  EXPECT_EQ(Run(Read(reader, Buffer())).value(), 3u);
  auto read = Read(reader, Buffer());
  Turn();
  EXPECT_TRUE(task_.Poll(read).IsPending());
}

TEST_F(PipeTest, RefusesFilesThatAreNotFifos) {
  EXPECT_EQ(PipeReader::OpenFifo(NewPath()).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(PipeWriter::OpenFifo(NewPath()).status().code(),
            absl::StatusCode::kNotFound);
  const UnixAddr socket = NewPathAddr();
  const UnixDatagram bound = UnixDatagram::Bind(socket).value();
  for (const std::string& path :
       {std::string("/dev/null"), std::string("/tmp"), socket.ToString()}) {
    EXPECT_EQ(PipeReader::OpenFifo(path).status().code(),
              absl::StatusCode::kInvalidArgument)
        << path;
    EXPECT_EQ(PipeWriter::OpenFifo(path).status().code(),
              absl::StatusCode::kInvalidArgument)
        << path;
  }
}

TEST_F(PipeTest, AdoptsAndReleasesAnEnd) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const absl::StatusOr<PipeReader> reader = PipeReader::FromFd(OwnedFd(fds[0]));
  ASSERT_TRUE(reader.ok()) << reader.status();
  absl::StatusOr<PipeWriter> writer = PipeWriter::FromFd(OwnedFd(fds[1]));
  ASSERT_TRUE(writer.ok()) << writer.status();
  auto read = Read(*reader, Buffer());
  Turn();
  ASSERT_TRUE(task_.Poll(read).IsPending());  // the reader is non-blocking
  ASSERT_TRUE(Run(WriteAll(*writer, "x")).ok());
  EXPECT_EQ(Run(read).value(), 1u);
  EXPECT_EQ(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(fcntl(fds[1], F_GETFD), FD_CLOEXEC);
  const OwnedFd taken = (*std::move(writer)).IntoFd();
  EXPECT_EQ(taken.get(), fds[1]);
}

TEST_F(PipeTest, AnEndCanBeReleasedInBlockingMode) {
  auto [reader, writer] = Make();
  const OwnedFd reading = std::move(reader).IntoBlockingFd();
  EXPECT_EQ(fcntl(reading.get(), F_GETFL) & O_NONBLOCK, 0);
  const OwnedFd writing = std::move(writer).IntoBlockingFd();
  EXPECT_EQ(fcntl(writing.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(PipeTest, AdoptsOnlyPipes) {
  auto [reader, writer] = Make();
  EXPECT_EQ(PipeWriter::FromFd(std::move(reader).IntoFd()).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(PipeReader::FromFd(std::move(writer).IntoFd()).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(PipeReader::FromFd(OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC)))
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(PipeReader::FromFd(OwnedFd()).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(PipeTest, EndsAreNonBlockingAndCloseOnExec) {
  auto [reader, writer] = Make();
  for (const int fd : {reader.fd(), writer.fd()}) {
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_NE(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  }
}

// Covers trap R13 of reactor/traps_test.cc.
TEST_F(PipeTest, APipeThatIsNeverEmptyLetsOtherTasksRun) {
  auto [reader, writer] = Make();
  ASSERT_TRUE(
      Run(WriteAll(writer, std::string(size_t{2} * kBudgetPerPoll, 'x'))).ok());
  Turn();
  Context cx(task_.waker());
  uint32_t reads = 0;
  while (reader.PollRead(cx, Buffer(1)).IsReady()) ++reads;
  EXPECT_EQ(reads, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(PipeTest, NeedsAReactor) {
  const reactor::ScopedDefault none((reactor::Handle()));
  EXPECT_EQ(MakePipe().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(MakePipe(reactor_.handle()).ok());
}

}  // namespace
}  // namespace rouse
