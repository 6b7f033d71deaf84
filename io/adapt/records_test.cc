// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/adapt/records.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/stream.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read_to_end.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

static_assert(Stream<RecordStream<BufReader<ScriptedReader>>>);

class RecordsTest : public IoTest {
 protected:
  // Returns the items of `stream` until its end: "'record'", or the name of an
  // error's code.
  template <class S>
  std::vector<std::string> Items(S& stream) {
    std::vector<std::string> items;
    for (;;) {
      const auto item = Run(Next(stream));
      if (!item.has_value()) return items;
      items.push_back(item->ok()
                          ? "'" + **item + "'"
                          : absl::StatusCodeToString(item->status().code()));
    }
  }
};

TEST_F(RecordsTest, LinesEndWithEitherLineEnd) {
  // A capacity of 2 bytes divides every line.
  for (const size_t capacity : {2, 8192}) {
    BufReader reader(ScriptedReader("one\ntwo\r\n\r\n\n\rx\nlast"), capacity);
    auto lines = Lines(reader);
    EXPECT_THAT(Items(lines),
                ElementsAre("'one'", "'two'", "''", "''", "'\rx'", "'last'"));
    EXPECT_TRUE(Items(lines).empty());
  }
}

TEST_F(RecordsTest, ALastEmptyLineIsNoLine) {
  auto lines = Lines(BufReader(ScriptedReader("one\n")));
  EXPECT_THAT(Items(lines), ElementsAre("'one'"));
  auto none = Lines(BufReader(ScriptedReader("")));
  EXPECT_TRUE(Items(none).empty());
}

TEST_F(RecordsTest, RecordsEndWithTheDelimiter) {
  auto records = SplitOn(BufReader(ScriptedReader("a,b\r,,c\n")), ',');
  EXPECT_THAT(Items(records), ElementsAre("'a'", "'b\r'", "''", "'c\n'"));
}

TEST_F(RecordsTest, ATooLongRecordIsReportedOnceAndSkipped) {
  for (const size_t capacity : {1, 3, 8192}) {
    BufReader reader(ScriptedReader("abc\nabcd\nabcdefgh\nx\nabcdef"),
                     capacity);
    auto lines = Lines(reader, 3);
    EXPECT_THAT(Items(lines),
                ElementsAre("'abc'", "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED",
                            "'x'", "RESOURCE_EXHAUSTED"));
  }
}

TEST_F(RecordsTest, TheErrorNamesTheLimit) {
  auto lines = Lines(BufReader(ScriptedReader("abcd\n")), 3);
  EXPECT_EQ(Run(Next(lines))->status(),
            absl::ResourceExhaustedError(
                "Lines: a line exceeds the limit of 3 bytes"));
  auto records = SplitOn(BufReader(ScriptedReader("abcd")), ',', 3);
  EXPECT_EQ(Run(Next(records))->status(),
            absl::ResourceExhaustedError(
                "SplitOn: a record exceeds the limit of 3 bytes"));
}

TEST_F(RecordsTest, AnErrorOfTheReaderIsTheLastItem) {
  ScriptedReader scripted;
  scripted.Bytes("a\nb").Error(absl::UnavailableError("reset")).Bytes("c\n");
  auto lines = Lines(BufReader(std::move(scripted)));
  EXPECT_THAT(Items(lines), ElementsAre("'a'", "UNAVAILABLE"));
}

TEST_F(RecordsTest, BytesBehindARecordStayInTheReader) {
  BufReader reader(ScriptedReader("GET\nbody"));
  {
    auto lines = Lines(reader);
    EXPECT_EQ(Run(Next(lines))->value(), "GET");
  }
  std::string body;
  EXPECT_TRUE(Run(ReadToEnd(reader, body)).ok());
  EXPECT_EQ(body, "body");
}

TEST_F(RecordsTest, ADestroyedNextLosesNothing) {
  auto [a, b] = Duplex(16);
  auto lines = Lines(BufReader(std::move(a)));
  const auto write = [&b = b, this](std::string_view text) {
    Context cx(task_.waker());
    ASSERT_TRUE(b.PollWrite(cx, text).IsReady());
  };
  write("on");
  {
    auto next = Next(lines);
    ASSERT_TRUE(Poll(next).IsPending());
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
  write("e\n");
  EXPECT_EQ(Run(Next(lines))->value(), "one");
}

TEST_F(RecordsTest, EveryItemTakesBudget) {
  const std::string text(kBudgetPerPoll + 1, '\n');
  auto lines = Lines(BufReader(ScriptedReader(text)));
  Context cx(task_.waker());
  size_t items = 0;
  while (lines.PollNext(cx).IsReady()) ++items;
  EXPECT_EQ(items, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
}

}  // namespace
}  // namespace rouse
