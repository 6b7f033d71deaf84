// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/bridge/chunk_writer.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/io/async_write.h"
#include "rouse/io/buf_writer.h"
#include "rouse/io/flush.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

#ifdef ABSL_HAVE_EXCEPTIONS
#include <stdexcept>
#endif

namespace rouse {
namespace {

using ::testing::ElementsAre;

// Keeps the chunks that it was sent. A send waits while `blocked` is set.
struct Chunks {
  class SendFuture {
   public:
    SendFuture(Chunks& chunks, std::string chunk)
        : chunks_(&chunks), chunk_(std::move(chunk)) {}

    PollResult<absl::Status> Poll(Context&) {
#ifdef ABSL_HAVE_EXCEPTIONS
      if (chunks_->throws) throw std::runtime_error("of the sink");
#endif
      if (chunks_->blocked) return kPending;
      if (!chunks_->error.ok()) return std::exchange(chunks_->error, {});
      chunks_->received.push_back(std::move(chunk_));
      return absl::OkStatus();
    }

   private:
    Chunks* chunks_;
    std::string chunk_;
  };

  SendFuture Send(std::string chunk) {
    return SendFuture(*this, std::move(chunk));
  }

  std::vector<std::string> received;
  bool blocked = false;
  bool throws = false;
  absl::Status error;
};

// Takes a chunk at once.
struct Log {
  absl::Status Send(std::string chunk) {
    if (received.size() == 2) return absl::ResourceExhaustedError("full");
    received.push_back(std::move(chunk));
    return absl::OkStatus();
  }

  std::vector<std::string> received;
};

static_assert(AsyncWrite<ChunkWriter<Chunks>>);
static_assert(AsyncWrite<ChunkWriter<Log&>>);
// docs/guide/io.md states the size.
static_assert(sizeof(ChunkWriter<Log>) == sizeof(void*));

class ChunkWriterTest : public IoTest {
 protected:
  Chunks chunks_;
};

TEST_F(ChunkWriterTest, EachWriteIsAChunk) {
  ChunkWriter writer(chunks_);
  static_assert(std::is_same_v<decltype(writer), ChunkWriter<Chunks&>>);
  EXPECT_EQ(&writer.inner(), &chunks_);
  ASSERT_TRUE(Run(WriteAll(writer, "abc")).ok());
  EXPECT_EQ(Run(Write(writer, "")).value(), 0u);
  const std::string_view parts[] = {"d", "", "ef"};
  EXPECT_EQ(Run(WriteVectored(writer, parts)).value(), 3u);
  EXPECT_THAT(chunks_.received, ElementsAre("abc", "def"));
  EXPECT_TRUE(Run(Shutdown(writer)).ok());
}

TEST_F(ChunkWriterTest, AChunkCanBeOnTheWay) {
  chunks_.blocked = true;
  ChunkWriter writer(chunks_);
  EXPECT_EQ(Run(Write(writer, "abc")).value(), 3u);
  {
    auto write = Write(writer, "def");
    EXPECT_TRUE(Poll(write).IsPending());
    auto flush = Flush(writer);
    EXPECT_TRUE(Poll(flush).IsPending());
  }
  // The destroyed write has sent nothing, and the chunk is still on the way.
  ChunkWriter moved = std::move(writer);
  chunks_.blocked = false;
  EXPECT_TRUE(Run(Flush(moved)).ok());
  EXPECT_THAT(chunks_.received, ElementsAre("abc"));
}

TEST_F(ChunkWriterTest, AnErrorOfAChunkOnTheWayIsReturnedNext) {
  chunks_.blocked = true;
  ChunkWriter writer(chunks_);
  EXPECT_EQ(Run(Write(writer, "abc")).value(), 3u);
  chunks_.blocked = false;
  chunks_.error = absl::FailedPreconditionError("closed");
  EXPECT_EQ(Run(Write(writer, "def")).status(),
            absl::FailedPreconditionError("closed"));
  EXPECT_TRUE(Run(Flush(writer)).ok());
  chunks_.error = absl::FailedPreconditionError("closed");
  EXPECT_EQ(Run(Write(writer, "ghi")).status(),
            absl::FailedPreconditionError("closed"));
  EXPECT_THAT(chunks_.received, ElementsAre());
}

TEST_F(ChunkWriterTest, ASinkNeedNotWait) {
  ChunkWriter writer((Log()));
  ASSERT_TRUE(Run(WriteAll(writer, "a")).ok());
  ASSERT_TRUE(Run(WriteAll(writer, "b")).ok());
  EXPECT_TRUE(Run(Flush(writer)).ok());
  EXPECT_EQ(Run(WriteAll(writer, "c")), absl::ResourceExhaustedError("full"));
  const Log log = std::move(writer).IntoInner();
  EXPECT_THAT(log.received, ElementsAre("a", "b"));
}

TEST_F(ChunkWriterTest, ABufWriterGathersSmallWrites) {
  BufWriter writer{ChunkWriter(chunks_), 8};
  for (const std::string_view piece : {"ab", "cd", "ef"}) {
    ASSERT_TRUE(Run(WriteAll(writer, piece)).ok());
  }
  ASSERT_TRUE(Run(Flush(writer)).ok());
  EXPECT_THAT(chunks_.received, ElementsAre("abcdef"));
}

TEST_F(ChunkWriterTest, EveryChunkTakesBudget) {
  ChunkWriter writer(chunks_);
  Context cx(task_.waker());
  while (cx.HasBudget()) ASSERT_TRUE(writer.PollWrite(cx, "x").IsReady());
  EXPECT_TRUE(writer.PollWrite(cx, "x").IsPending());
  EXPECT_EQ(chunks_.received.size(), size_t{kBudgetPerPoll});
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_F(ChunkWriterTest, AnExceptionOfTheSinkEndsOnlyItsChunk) {
  ChunkWriter writer(chunks_);
  chunks_.throws = true;
  EXPECT_THROW((void)Run(WriteAll(writer, "abc")), std::runtime_error);
  chunks_.throws = false;
  ASSERT_TRUE(Run(WriteAll(writer, "def")).ok());
  EXPECT_THAT(chunks_.received, ElementsAre("def"));
}
#endif

}  // namespace
}  // namespace rouse
