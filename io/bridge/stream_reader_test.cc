// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/bridge/stream_reader.h"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/async_read.h"
#include "rouse/io/bridge/reader_stream.h"
#include "rouse/io/read.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

// Returns items from a list, and then ends. A `std::nullopt` is pending once.
// Takes no budget.
template <class Item>
class Items {
 public:
  Items& Add(Item item) {
    items_.emplace_back(std::move(item));
    return *this;
  }
  Items& Pending() {
    items_.emplace_back();
    return *this;
  }

  PollResult<std::optional<Item>> PollNext(Context& cx) {
    ++polls_;
    if (items_.empty()) return std::optional<Item>();
    std::optional<Item> item = std::move(items_.front());
    items_.pop_front();
    if (item.has_value()) return item;
    cx.waker().WakeByRef();
    return kPending;
  }

  int polls() const { return polls_; }

 private:
  std::deque<std::optional<Item>> items_;
  int polls_ = 0;
};

using Strings = Items<std::string>;
using Results = Items<absl::StatusOr<std::string>>;

static_assert(AsyncBufRead<StreamReader<Strings>>);
static_assert(AsyncBufRead<StreamReader<Results&>>);
static_assert(AsyncBufRead<StreamReader<Items<std::string_view>>>);
// docs/guide/io.md states the size.
static_assert(sizeof(StreamReader<Strings&>) ==
              sizeof(Strings*) + sizeof(std::string) + 3 * sizeof(void*));

class StreamReaderTest : public IoTest {
 protected:
  char buffer_[16];
};

TEST_F(StreamReaderTest, ReadsChunksAsBytes) {
  Strings chunks;
  chunks.Add("on").Pending().Add("").Add("e\ntwo\nth").Add("ree");
  StreamReader reader(chunks);
  static_assert(std::is_same_v<decltype(reader), StreamReader<Strings&>>);
  std::string line;
  EXPECT_TRUE(Run(ReadLine(reader, line)).value());
  EXPECT_EQ(line, "one");
  EXPECT_EQ(reader.buffered(), "two\nth");
  EXPECT_EQ(Run(Read(reader, absl::MakeSpan(buffer_, 3))).value(), 3u);
  EXPECT_EQ(std::string_view(buffer_, 3), "two");
  std::string rest;
  EXPECT_EQ(Run(ReadToEnd(reader, rest)).value(), 6u);
  EXPECT_EQ(rest, "\nthree");
}

TEST_F(StreamReaderTest, TheEndStays) {
  Strings chunks;
  chunks.Add("x");
  StreamReader reader(std::move(chunks));
  std::string all;
  EXPECT_EQ(Run(ReadToEnd(reader, all)).value(), 1u);
  const int polls = reader.inner().polls();
  EXPECT_EQ(Run(ReadToEnd(reader, all)).value(), 0u);
  EXPECT_EQ(reader.inner().polls(), polls);
}

TEST_F(StreamReaderTest, AnErrorIsOneReadsError) {
  Results chunks;
  chunks.Add("ab").Add(absl::UnavailableError("reset")).Add("cd");
  StreamReader reader(chunks);
  std::string all;
  EXPECT_EQ(Run(ReadToEnd(reader, all)).status(),
            absl::UnavailableError("reset"));
  EXPECT_EQ(all, "ab");
  EXPECT_EQ(Run(ReadToEnd(reader, all)).value(), 2u);
  EXPECT_EQ(all, "abcd");
}

TEST_F(StreamReaderTest, BytesStayUntilTheyAreConsumed) {
  Strings chunks;
  chunks.Add("abc");
  StreamReader reader(chunks);
  Context cx(task_.waker());
  EXPECT_EQ(reader.PollFillBuf(cx)->value(), "abc");
  reader.Consume(1);
  EXPECT_EQ(reader.PollFillBuf(cx)->value(), "bc");
  EXPECT_PANIC(reader.Consume(3), "StreamReader::Consume");
  EXPECT_EQ(Run(Read(reader, {})).value(), 0u);
}

TEST_F(StreamReaderTest, ADestroyedReadLosesNothing) {
  Strings chunks;
  chunks.Pending().Add("abc");
  StreamReader reader(std::move(chunks));
  {
    auto read = Read(reader, absl::MakeSpan(buffer_));
    EXPECT_TRUE(Poll(read).IsPending());
  }
  StreamReader moved = std::move(reader);
  EXPECT_EQ(Run(Read(moved, absl::MakeSpan(buffer_))).value(), 3u);
}

TEST_F(StreamReaderTest, EndlessEmptyChunksLetOtherTasksRun) {
  Strings chunks;
  for (int i = 0; i < 1000; ++i) chunks.Add("");
  StreamReader reader(chunks);
  auto read = Read(reader, absl::MakeSpan(buffer_));
  EXPECT_TRUE(Poll(read).IsPending());
  EXPECT_EQ(task_.wakes(), 1);
  EXPECT_EQ(chunks.polls(), static_cast<int>(kBudgetPerPoll));
  EXPECT_EQ(Run(read).value(), 0u);
}

TEST_F(StreamReaderTest, UndoesAReaderStream) {
  ScriptedReader source;
  source.Bytes("abcdef").Pending().Bytes("gh");
  StreamReader reader(ReaderStream(source, 4));
  std::string all;
  EXPECT_EQ(Run(ReadToEnd(reader, all)).value(), 8u);
  EXPECT_EQ(all, "abcdefgh");
  ReaderStream<ScriptedReader&> chunks = std::move(reader).IntoInner();
  EXPECT_EQ(&chunks.inner(), &source);
}

}  // namespace
}  // namespace rouse
