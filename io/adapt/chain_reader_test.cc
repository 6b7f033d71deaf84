// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/adapt/chain_reader.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/adapt/constant_io.h"
#include "rouse/io/async_read.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read.h"
#include "rouse/io/read_to_end.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

static_assert(AsyncRead<ChainReader<ScriptedReader&, EmptyReader>>);

class ChainReaderTest : public IoTest {};

TEST_F(ChainReaderTest, ReadsOneStreamAfterTheOther) {
  ScriptedReader first;
  first.Bytes("ab").Pending().Bytes("c");
  ChainReader whole(first, ScriptedReader("def"));
  std::string all;
  EXPECT_EQ(Run(ReadToEnd(whole, all)).value(), 6u);
  EXPECT_EQ(all, "abcdef");
  // The end stays.
  EXPECT_EQ(Run(ReadToEnd(whole, all)).value(), 0u);
}

TEST_F(ChainReaderTest, AnEmptyBufferDoesNotEndTheFirstStream) {
  ChainReader whole(ScriptedReader("a"), ScriptedReader("b"));
  EXPECT_EQ(Run(Read(whole, {})).value(), 0u);
  std::string all;
  EXPECT_TRUE(Run(ReadToEnd(whole, all)).ok());
  EXPECT_EQ(all, "ab");
}

TEST_F(ChainReaderTest, AnErrorDoesNotBeginTheSecondStream) {
  ScriptedReader first;
  first.Bytes("a").Error(absl::UnavailableError("reset")).Bytes("b");
  ScriptedReader second("c");
  ChainReader whole(first, second);
  std::string all;
  EXPECT_EQ(Run(ReadToEnd(whole, all)).status(),
            absl::UnavailableError("reset"));
  EXPECT_EQ(all, "a");
  EXPECT_EQ(second.polls(), 0);
  EXPECT_TRUE(Run(ReadToEnd(whole, all)).ok());
  EXPECT_EQ(all, "abc");
}

TEST_F(ChainReaderTest, ADestroyedReadLeavesBothStreams) {
  auto [a, b] = Duplex(16);
  ChainReader whole(EmptyReader(), std::move(a));
  char buffer[4];
  {
    auto read = Read(whole, absl::MakeSpan(buffer));
    ASSERT_TRUE(Poll(read).IsPending());
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
  {
    Context cx(task_.waker());
    ASSERT_TRUE(b.PollWrite(cx, "abc").IsReady());
  }
  EXPECT_EQ(Run(Read(whole, absl::MakeSpan(buffer))).value(), 3u);
}

TEST_F(ChainReaderTest, TheStreamsCanBeTakenOut) {
  ScriptedReader first("ab");
  ChainReader whole(first, ScriptedReader("cd"));
  EXPECT_EQ(&whole.first(), &first);
  char byte;
  EXPECT_EQ(Run(Read(whole, absl::MakeSpan(&byte, 1))).value(), 1u);
  auto [rest, second] = std::move(whole).IntoInner();
  std::string all;
  EXPECT_TRUE(Run(ReadToEnd(rest, all)).ok());
  EXPECT_TRUE(Run(ReadToEnd(second, all)).ok());
  EXPECT_EQ(all, "bcd");
}

TEST_F(ChainReaderTest, SeveralBuffersAreFilledByOneStreamAtATime) {
  ChainReader whole(ScriptedReader("ab"), ScriptedReader("cd"));
  char bytes[4];
  const absl::Span<char> buffers[] = {absl::Span<char>(),
                                      absl::MakeSpan(bytes)};
  EXPECT_EQ(Run(ReadVectored(whole, {})).value(), 0u);
  EXPECT_EQ(Run(ReadVectored(whole, buffers)).value(), 2u);
  EXPECT_EQ(std::string_view(bytes, 2), "ab");
  EXPECT_EQ(Run(ReadVectored(whole, buffers)).value(), 2u);
  EXPECT_EQ(std::string_view(bytes, 2), "cd");
  EXPECT_EQ(Run(ReadVectored(whole, buffers)).value(), 0u);
}

}  // namespace
}  // namespace rouse
