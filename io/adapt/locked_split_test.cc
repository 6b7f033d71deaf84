// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/adapt/locked_split.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/buf_writer.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

// Is not thread-safe, and has no `Waiter` of its own for each direction.
using Buffered = BufReader<BufWriter<DuplexStream>>;

static_assert(AsyncRead<LockedReadHalf<Buffered>>);
static_assert(!AsyncWrite<LockedReadHalf<Buffered>>);
static_assert(AsyncWrite<LockedWriteHalf<Buffered>>);
static_assert(!AsyncRead<LockedWriteHalf<Buffered>>);

class LockedSplitTest : public IoTest {
 protected:
  static Buffered Make(DuplexStream stream) {
    return Buffered(BufWriter<DuplexStream>(std::move(stream)));
  }
  template <class R>
  std::string ReadSome(R& reader) {
    char buffer[64];
    const size_t size = Run(Read(reader, absl::MakeSpan(buffer))).value();
    return std::string(buffer, size);
  }
};

TEST_F(LockedSplitTest, TheHalvesReadAndWriteTheStream) {
  auto [a, b] = Duplex(64);
  auto [reader, writer] = SplitLocked(Make(std::move(a)));
  ASSERT_TRUE(Run(WriteAll(writer, "pi")).ok());
  const std::string_view parts[] = {"n", "g"};
  EXPECT_EQ(Run(WriteVectored(writer, parts)).value(), 2u);
  ASSERT_TRUE(Run(Flush(writer)).ok());
  EXPECT_EQ(ReadSome(b), "ping");
  ASSERT_TRUE(Run(WriteAll(b, "pong")).ok());
  EXPECT_EQ(ReadSome(reader), "pong");
  ASSERT_TRUE(Run(Shutdown(writer)).ok());
  EXPECT_EQ(ReadSome(b), "");
}

TEST_F(LockedSplitTest, TheStreamLivesAsLongAsAHalf) {
  auto [a, b] = Duplex(64);
  {
    auto halves = SplitLocked(Make(std::move(a)));
    {
      const auto dropped = std::move(halves.second);
    }
    // The destroyed half did not end the stream, and the other half works.
    auto read = Read(halves.first, {});
    EXPECT_TRUE(Poll(read).IsReady());
    ASSERT_TRUE(Run(WriteAll(b, "x")).ok());
    EXPECT_EQ(ReadSome(halves.first), "x");
  }
  EXPECT_EQ(ReadSome(b), "");
}

TEST_F(LockedSplitTest, APendingReadDoesNotHinderAWrite) {
  auto [a, b] = Duplex(64);
  auto [reader, writer] = SplitLocked(Make(std::move(a)));
  char buffer[8];
  auto read = Read(reader, absl::MakeSpan(buffer));
  ASSERT_TRUE(Poll(read).IsPending());
  ASSERT_TRUE(Run(WriteAll(writer, "x")).ok());
  ASSERT_TRUE(Run(Flush(writer)).ok());
  EXPECT_EQ(ReadSome(b), "x");
  ASSERT_TRUE(Run(WriteAll(b, "y")).ok());
  EXPECT_EQ(Run(read).value(), 1u);
}

TEST_F(LockedSplitTest, UnsplitReturnsTheStreamWithItsBuffers) {
  auto [a, b] = Duplex(64);
  auto [reader, writer] = SplitLocked(Make(std::move(a)));
  ASSERT_TRUE(Run(WriteAll(b, "abc")).ok());
  char byte;
  ASSERT_EQ(Run(Read(reader, absl::MakeSpan(&byte, 1))).value(), 1u);
  ASSERT_TRUE(Run(WriteAll(writer, "def")).ok());  // stays in the buffer
  Buffered whole = Unsplit(std::move(reader), std::move(writer)).value();
  EXPECT_EQ(whole.buffered(), "bc");
  ASSERT_TRUE(Run(Flush(whole)).ok());
  EXPECT_EQ(ReadSome(b), "def");
}

TEST_F(LockedSplitTest, HalvesOfDifferentStreamsStayApart) {
  auto [a, b] = Duplex(64);
  auto [a_reader, a_writer] = SplitLocked(std::move(a));
  auto [b_reader, b_writer] = SplitLocked(std::move(b));
  EXPECT_EQ(Unsplit(std::move(a_reader), std::move(b_writer)).status().code(),
            absl::StatusCode::kInvalidArgument);
  // NOLINTNEXTLINE(bugprone-use-after-move): a failed Unsplit() takes nothing
  ASSERT_TRUE(Run(WriteAll(b_writer, "x")).ok());
  EXPECT_EQ(ReadSome(a_reader), "x");
}

// Both halves at once, on a stream that is not thread-safe: for TSan.
TEST_F(LockedSplitTest, TheHalvesCanBeOnDifferentThreads) {
  auto [a, b] = Duplex(16);
  auto halves = SplitLocked(Make(std::move(a)));
  const std::string text(20'000, 'x');
  // Returns all bytes that it is sent.
  std::thread echo([stream = std::move(b), size = text.size()] {
    char buffer[64];
    for (size_t left = size; left > 0;) {
      const size_t read = BlockOn(Read(stream, absl::MakeSpan(buffer))).value();
      ASSERT_TRUE(
          BlockOn(WriteAll(stream, std::string_view(buffer, read))).ok());
      left -= read;
    }
    ASSERT_TRUE(BlockOn(Shutdown(stream)).ok());
  });
  std::thread sending([&writer = halves.second, &text] {
    ASSERT_TRUE(BlockOn(WriteAll(writer, text)).ok());
    ASSERT_TRUE(BlockOn(Flush(writer)).ok());
  });
  std::string all;
  EXPECT_TRUE(BlockOn(ReadToEnd(halves.first, all)).ok());
  EXPECT_EQ(all, text);
  sending.join();
  echo.join();
}

TEST_F(LockedSplitTest, AReadFillsSeveralBuffers) {
  auto [a, b] = Duplex(64);
  auto [reader, writer] = SplitLocked(std::move(a));
  ASSERT_TRUE(Run(WriteAll(b, "abc")).ok());
  char first[1];
  char second[4];
  const absl::Span<char> buffers[] = {absl::MakeSpan(first),
                                      absl::MakeSpan(second)};
  EXPECT_EQ(Run(ReadVectored(reader, buffers)).value(), 3u);
  EXPECT_EQ(std::string_view(second, 2), "bc");
}

}  // namespace
}  // namespace rouse
