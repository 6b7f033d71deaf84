// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/memory/simplex.h"

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
#include "rouse/io/flush.h"
#include "rouse/io/memory/memory_pipe.h"
#include "rouse/io/read.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

static_assert(AsyncRead<const SimplexReader>);
static_assert(AsyncWrite<const SimplexWriter>);
static_assert(!AsyncWrite<SimplexReader>);
static_assert(!AsyncRead<SimplexWriter>);
// docs/guide/io.md states the sizes.
static_assert(sizeof(SimplexReader) == 2 * sizeof(void*));
static_assert(sizeof(SimplexWriter) == 2 * sizeof(void*));
static_assert(sizeof(void*) != 8 || sizeof(internal::MemoryPipe) == 112);

class SimplexTest : public IoTest {
 protected:
  char buffer_[64];
};

TEST_F(SimplexTest, TransfersBytesInOrder) {
  auto [reader, writer] = Simplex(4);
  EXPECT_EQ(Run(Write(writer, "abcdef")).value(), 4u);
  auto write = Write(writer, "ef");
  ASSERT_TRUE(Poll(write).IsPending());
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_, 3))).value(), 3u);
  EXPECT_EQ(std::string_view(buffer_, 3), "abc");
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(Poll(write)->value(), 2u);
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_))).value(), 3u);
  EXPECT_EQ(std::string_view(buffer_, 3), "def");
  const std::string_view parts[] = {"1", "", "23"};
  EXPECT_EQ(Run(WriteVectored(writer, parts)).value(), 3u);
  EXPECT_TRUE(Run(Flush(writer)).ok());
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_))).value(), 3u);
}

TEST_F(SimplexTest, AReadWaitsForAWrite) {
  auto [reader, writer] = Simplex(4);
  auto read = Read(reader, absl::MakeSpan(buffer_));
  ASSERT_TRUE(Poll(read).IsPending());
  EXPECT_EQ(Run(Write(writer, "x")).value(), 1u);
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(Poll(read)->value(), 1u);
}

TEST_F(SimplexTest, AShutdownEndsTheStreamBehindItsBytes) {
  auto [reader, writer] = Simplex(16);
  ASSERT_TRUE(Run(WriteAll(writer, "last")).ok());
  ASSERT_TRUE(Run(Shutdown(writer)).ok());
  ASSERT_TRUE(Run(Shutdown(writer)).ok());
  const absl::Status late = Run(WriteAll(writer, "x"));
  EXPECT_EQ(late.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(late.message(), "write to a Simplex: this end was shut down");
  std::string all;
  EXPECT_EQ(Run(ReadToEnd(reader, all)).value(), 4u);
}

TEST_F(SimplexTest, DestroyingTheWriterEndsTheStream) {
  auto [reader, writer] = Simplex(16);
  auto read = Read(reader, absl::MakeSpan(buffer_));
  ASSERT_TRUE(Poll(read).IsPending());
  {
    SimplexWriter closed = std::move(writer);
  }
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(Poll(read)->value(), 0u);
}

TEST_F(SimplexTest, DestroyingTheReaderFailsWrites) {
  auto [reader, writer] = Simplex(1);
  ASSERT_TRUE(Run(WriteAll(writer, "x")).ok());
  auto write = Write(writer, "y");
  ASSERT_TRUE(Poll(write).IsPending());
  {
    SimplexReader closed = std::move(reader);
  }
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(Poll(write)->status().message(),
            "write to a Simplex: the other end was destroyed");
}

TEST_F(SimplexTest, AssignmentClosesTheOldEnds) {
  auto [reader, writer] = Simplex(4);
  auto [other_reader, other_writer] = Simplex(4);
  ASSERT_TRUE(Run(WriteAll(other_writer, "x")).ok());
  reader = std::move(other_reader);
  EXPECT_FALSE(Run(WriteAll(writer, "y")).ok());
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_))).value(), 1u);
  writer = std::move(other_writer);
  ASSERT_TRUE(Run(WriteAll(writer, "z")).ok());
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_))).value(), 1u);
}

TEST_F(SimplexTest, ADestroyedFutureIsNotWoken) {
  auto [reader, writer] = Simplex(1);
  {
    auto read = Read(reader, absl::MakeSpan(buffer_));
    ASSERT_TRUE(Poll(read).IsPending());
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
  ASSERT_TRUE(Run(WriteAll(writer, "x")).ok());
  EXPECT_EQ(task_.wakes(), 0);
}

TEST_F(SimplexTest, MovingAPolledFuturePanics) {
  auto [reader, writer] = Simplex(1);
  auto read = Read(reader, absl::MakeSpan(buffer_));
  ASSERT_TRUE(Poll(read).IsPending());
  EXPECT_PANIC(auto moved = std::move(read), "a future of a Duplex or Simplex");
}

TEST_F(SimplexTest, NeedsCapacity) {
  EXPECT_PANIC(Simplex(0), "Simplex: the capacity is 0");
}

TEST_F(SimplexTest, TheEndsWorkOnTwoThreads) {
  auto ends = Simplex(7);
  std::string sent;
  for (int i = 0; i < 5000; ++i) sent += std::to_string(i);
  std::thread thread([&, writer = std::move(ends.second)]() mutable {
    EXPECT_TRUE(BlockOn(WriteAll(writer, sent)).ok());
    EXPECT_TRUE(BlockOn(Shutdown(writer)).ok());
  });
  std::string received;
  EXPECT_TRUE(BlockOn(ReadToEnd(ends.first, received)).ok());
  thread.join();
  EXPECT_EQ(received, sent);
}

TEST_F(SimplexTest, AReadFillsSeveralBuffersInOrder) {
  auto [reader, writer] = Simplex(8);
  ASSERT_TRUE(Run(WriteAll(writer, "abc")).ok());
  const absl::Span<char> buffers[] = {absl::MakeSpan(buffer_, 1),
                                      absl::MakeSpan(buffer_ + 8, 8)};
  EXPECT_EQ(Run(ReadVectored(reader, buffers)).value(), 3u);
  EXPECT_EQ(std::string_view(buffer_ + 8, 2), "bc");
}

}  // namespace
}  // namespace rouse
