// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes random reads and writes through buffers, each destroyed at random and
// begun again, and compares the results with the plain input string.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/buf_writer.h"
#include "rouse/io/copy.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_until.h"
#include "rouse/io/write.h"
#include "rouse/testing/internal/io_fixture.h"

namespace rouse {
namespace {

constexpr uint64_t kSeeds = 300;

std::string RandomText(FastRand& rand) {
  std::string text(rand.Below(2000), '\0');
  for (char& c : text) c = static_cast<char>('a' + rand.Below(12));
  return text;
}

// Returns a reader of `text` in random pieces, with pauses.
ScriptedReader InPieces(std::string_view text, FastRand& rand) {
  ScriptedReader reader;
  while (!text.empty()) {
    if (rand.Below(3) == 0) reader.Pending();
    const size_t size = std::min<size_t>(1 + rand.Below(50), text.size());
    reader.Bytes(text.substr(0, size));
    text.remove_prefix(size);
  }
  return reader;
}

class BuffersPropertyTest : public IoTest {};

TEST_F(BuffersPropertyTest, ReadsReturnTheBytesOfTheStream) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    FastRand rand(seed);
    const std::string text = RandomText(rand);
    BufReader reader(InPieces(text, rand), 1 + rand.Below(60));
    std::string received;
    for (bool ended = false; !ended;) {
      if (rand.Below(2) == 0) {
        char buffer[70];
        auto read = Read(reader, absl::MakeSpan(buffer, 1 + rand.Below(70)));
        const auto size = Poll(read);
        if (size.IsPending()) continue;
        ended = **size == 0;
        received.append(buffer, **size);
      } else {
        const size_t before = received.size();
        const size_t limit = 1 + rand.Below(100);
        auto read = ReadUntil(reader, 'a', received, limit);
        const auto size = Poll(read);
        ASSERT_LE(received.size(), before + limit);
        // A limit that was reached takes nothing else away.
        if (size.IsPending() || !size->ok()) continue;
        ended = **size == 0;
        // The only delimiter is at the end.
        const std::string_view added =
            std::string_view(received).substr(before);
        ASSERT_EQ(added.substr(0, added.size() - !ended).find('a'),
                  std::string_view::npos);
      }
    }
    ASSERT_EQ(received, text);
  }
}

TEST_F(BuffersPropertyTest, WritesArriveInOrder) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    FastRand rand(seed);
    const std::string text = RandomText(rand);
    ScriptedWriter stream;
    stream.TakeAtMost(1 + rand.Below(40));
    if (rand.Below(2) == 0) stream.BePendingInTurns();
    BufWriter writer(stream, 1 + rand.Below(60));
    std::string_view left = text;
    while (!left.empty()) {
      if (rand.Below(5) == 0) {
        // The flush is destroyed wherever it is.
        auto flush = Flush(writer);
        const auto flushed = Poll(flush);
        ASSERT_TRUE(flushed.IsPending() || flushed->ok());
        continue;
      }
      auto write = Write(writer, left.substr(0, 1 + rand.Below(80)));
      const auto size = Poll(write);
      if (size.IsReady()) left.remove_prefix(**size);
    }
    ASSERT_TRUE(Run(Flush(writer)).ok());
    ASSERT_EQ(stream.written(), text);
    ASSERT_EQ(stream.flushed(), text.size());
  }
}

TEST_F(BuffersPropertyTest, ACancelledAndRestartedCopyLosesNothing) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    FastRand rand(seed);
    const std::string text = RandomText(rand);
    BufReader reader(InPieces(text, rand), 1 + rand.Below(60));
    ScriptedWriter stream;
    stream.TakeAtMost(1 + rand.Below(40));
    stream.BePendingInTurns();
    BufWriter writer(stream, 1 + rand.Below(60));
    for (bool ended = false; !ended;) {
      auto copy = Copy(reader, writer);
      for (uint32_t polls = 1 + rand.Below(4); polls > 0 && !ended; --polls) {
        const auto copied = Poll(copy);
        ended = copied.IsReady();
        ASSERT_TRUE(!ended || copied->ok());
      }
    }
    ASSERT_EQ(stream.written(), text);
  }
}

}  // namespace
}  // namespace rouse
