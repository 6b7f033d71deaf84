// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/framed.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/future/or_return.h"
#include "rouse/future/stream.h"
#include "rouse/io/codec.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/length_codec.h"
#include "rouse/io/line_codec.h"
#include "rouse/io/read.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;

using Reading = Framed<ScriptedReader&, LineCodec>;
using Writing = Framed<ScriptedWriter&, LineCodec>;
static_assert(Stream<Reading>);
static_assert(!Stream<Writing>);
static_assert(Future<Writing::SendFuture>);
static_assert(Future<Writing::FlushFuture>);

class FramedTest : public IoTest {
 protected:
  // Returns all items.
  template <class F>
  std::vector<std::string> ReadFrames(F& framed) {
    std::vector<std::string> frames;
    for (;;) {
      std::optional<absl::StatusOr<std::string>> frame = Run(Next(framed));
      if (!frame.has_value()) return frames;
      frames.push_back(frame->ok()
                           ? "'" + **frame + "'"
                           : absl::StatusCodeToString(frame->status().code()));
    }
  }
};

TEST_F(FramedTest, RefersToAnLvalueAndOwnsAnRvalue) {
  ScriptedReader stream("one\n");
  Framed refers(stream, LineCodec());
  static_assert(std::is_same_v<decltype(refers), Reading>);
  EXPECT_EQ(&refers.stream(), &stream);
  Framed owns(std::move(stream), LineCodec());
  static_assert(
      std::is_same_v<decltype(owns), Framed<ScriptedReader, LineCodec>>);
  EXPECT_THAT(ReadFrames(owns), ElementsAre("'one'"));
}

TEST_F(FramedTest, ReturnsFramesHoweverTheyAreSplit) {
  ScriptedReader stream;
  stream.Bytes("on").Pending().Bytes("e\ntw").Pending().Bytes("o\nthree\nlast");
  Framed framed(stream, LineCodec());
  EXPECT_THAT(ReadFrames(framed),
              ElementsAre("'one'", "'two'", "'three'", "'last'"));
  // After the end, every further item is empty.
  EXPECT_FALSE(Run(Next(framed)).has_value());
}

TEST_F(FramedTest, ADestroyedNextLosesNothing) {
  ScriptedReader stream;
  stream.Bytes("on").Pending().Bytes("e\n");
  Framed framed(stream, LineCodec());
  {
    auto next = Next(framed);
    ASSERT_TRUE(Poll(next).IsPending());
  }
  EXPECT_EQ(framed.buffered(), "on");
  EXPECT_THAT(ReadFrames(framed), ElementsAre("'one'"));
}

TEST_F(FramedTest, AnErrorOfTheCodecConcernsOneFrame) {
  ScriptedReader stream("1234\n12345678\nx\n");
  Framed framed(stream, LineCodec(4));
  EXPECT_THAT(ReadFrames(framed),
              ElementsAre("'1234'", "RESOURCE_EXHAUSTED", "'x'"));
}

// A codec whose frames a StatusOr would take for errors. '?' is an error.
class StatusCodec {
 public:
  using Frame = absl::Status;

  absl::StatusOr<std::optional<absl::Status>> Decode(std::string_view& bytes) {
    if (bytes.empty()) return std::nullopt;
    const char first = bytes.front();
    bytes.remove_prefix(1);
    if (first == '?') return absl::InvalidArgumentError("no frame");
    return std::optional<absl::Status>(absl::NotFoundError("a frame"));
  }
  absl::StatusOr<std::optional<absl::Status>> DecodeEnd(
      std::string_view& bytes) {
    return Decode(bytes);
  }
  absl::Status Encode(const absl::Status&, std::string&) {
    return absl::OkStatus();
  }
};

TEST_F(FramedTest, AnErrorDiffersFromAFrameThatIsAnError) {
  ScriptedReader stream;
  stream.Bytes("x?").Error(absl::UnavailableError("reset"));
  Framed framed(stream, StatusCodec());
  std::vector<std::string> items;
  while (auto item = Run(Next(framed))) {
    items.push_back(item->ok()
                        ? "a frame"
                        : absl::StatusCodeToString(item->status().code()));
  }
  EXPECT_THAT(items, ElementsAre("a frame", "INVALID_ARGUMENT", "UNAVAILABLE"));
}

TEST_F(FramedTest, AnErrorOfTheStreamIsTheLastItem) {
  ScriptedReader stream;
  stream.Bytes("one\nt").Error(absl::UnavailableError("reset")).Bytes("wo\n");
  Framed framed(stream, LineCodec());
  EXPECT_THAT(ReadFrames(framed), ElementsAre("'one'", "UNAVAILABLE"));
}

TEST_F(FramedTest, AnEndWithinAFrameIsAnError) {
  ScriptedReader stream(std::string_view("\0\0\0\1x\0\0\0\2y", 10));
  Framed framed(stream, LengthCodec());
  EXPECT_THAT(ReadFrames(framed), ElementsAre("'x'", "OUT_OF_RANGE"));
}

TEST_F(FramedTest, ALongFrameIsReturnedWhole) {
  std::string sent(1'000'000, '\0');
  for (size_t i = 0; i < sent.size(); ++i) {
    sent[i] = static_cast<char>(i * 2654435761u >> 13);
  }
  std::string bytes;
  ASSERT_TRUE(LengthCodec().Encode(sent, bytes).ok());
  ScriptedReader stream(bytes + bytes);
  Framed framed(stream, LengthCodec());
  for (int i = 0; i < 2; ++i) {
    auto frame = Run(Next(framed));
    ASSERT_TRUE(frame.has_value() && frame->ok());
    EXPECT_TRUE(**frame == sent);
  }
  EXPECT_FALSE(Run(Next(framed)).has_value());
}

TEST_F(FramedTest, ManySmallFramesDoNotMakeTheBufferGrow) {
  ScriptedReader stream;
  for (int i = 0; i < 1000; ++i) stream.Bytes(std::string(99, 'x') + "\n12");
  Framed framed(stream, LineCodec());
  for (int i = 0; i < 1000; ++i) {
    auto frame = Run(Next(framed));
    ASSERT_TRUE(frame.has_value() && frame->ok());
    ASSERT_LE(framed.buffered().size(), 8192u);
  }
}

// Records the calls.
class WatchedCodec : public LineCodec {
 public:
  absl::StatusOr<std::optional<std::string>> Decode(std::string_view& bytes) {
    ++decodes;
    return LineCodec::Decode(bytes);
  }
  absl::Status Encode(std::string_view line, std::string& out) {
    most_before = std::max(most_before, out.size());
    return LineCodec::Encode(line, out);
  }

  int decodes = 0;
  size_t most_before = 0;
};

TEST_F(FramedTest, TheSameBytesAreNotDecodedAgain) {
  ScriptedReader stream("incompl");
  stream.Pending().Pending().Bytes("ete\n");
  Framed framed(stream, WatchedCodec());
  for (int i = 0; i < 2; ++i) {
    auto next = Next(framed);
    ASSERT_TRUE(Poll(next).IsPending());
    EXPECT_EQ(framed.codec().decodes, 1);
  }
  EXPECT_THAT(ReadFrames(framed), ElementsAre("'incomplete'"));
}

TEST_F(FramedTest, SentBytesAreReleasedWhileMoreAreSent) {
  ScriptedWriter stream;
  stream.TakeAtMost(8);
  stream.BePendingInTurns();
  Framed framed(stream, WatchedCodec());
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(framed.Feed("1234567").ok());
    if (i < 2) continue;
    auto flush = framed.Flush();
    while (framed.unsent() > 16) ASSERT_TRUE(Poll(flush).IsPending());
  }
  EXPECT_LE(framed.codec().most_before, 64u);
  EXPECT_TRUE(Run(framed.Flush()).ok());
  EXPECT_EQ(stream.written().size(), 8000u);
}

TEST_F(FramedTest, SendsFrames) {
  ScriptedWriter stream;
  stream.TakeAtMost(2);
  stream.BePendingInTurns();
  Framed framed(stream, LineCodec());
  EXPECT_TRUE(Run(framed.Send("one")).ok());
  EXPECT_TRUE(Run(framed.Send(std::string("two"))).ok());
  EXPECT_TRUE(Run(framed.Send(std::string_view("three"))).ok());
  EXPECT_EQ(stream.written(), "one\ntwo\nthree\n");
  EXPECT_EQ(stream.flushed(), 14u);
}

TEST_F(FramedTest, AFedFrameIsSentWithTheNext) {
  ScriptedWriter stream;
  Framed framed(stream, LineCodec());
  EXPECT_TRUE(framed.Feed("one").ok());
  EXPECT_TRUE(framed.Feed("two").ok());
  EXPECT_EQ(framed.unsent(), 8u);
  EXPECT_EQ(stream.written(), "");
  EXPECT_TRUE(Run(framed.Flush()).ok());
  EXPECT_EQ(stream.written(), "one\ntwo\n");
  EXPECT_EQ(stream.writes(), 1);
  EXPECT_EQ(framed.unsent(), 0u);
}

TEST_F(FramedTest, ADestroyedSendTearsNoFrame) {
  ScriptedWriter stream;
  stream.TakeAtMost(2);
  stream.BePendingInTurns();
  Framed framed(stream, LineCodec());
  {
    auto never_polled = framed.Send("zero");
    auto send = framed.Send("one");
    ASSERT_TRUE(Poll(send).IsPending());
    ASSERT_TRUE(Poll(send).IsPending());
  }
  EXPECT_EQ(stream.written(), "on");
  EXPECT_TRUE(Run(framed.Send("two")).ok());
  EXPECT_EQ(stream.written(), "one\ntwo\n");
}

TEST_F(FramedTest, ARefusedFrameIsNotSent) {
  ScriptedWriter stream;
  Framed framed(stream, LineCodec(4));
  EXPECT_EQ(Run(framed.Send("12345")).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(framed.Feed("a\nb").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Run(framed.Send("1234")).ok());
  EXPECT_EQ(stream.written(), "1234\n");
}

TEST_F(FramedTest, ErrorsOfWritingArePassedOn) {
  ScriptedWriter stream;
  Framed framed(stream, LineCodec());
  stream.Error(absl::UnavailableError("reset"));
  EXPECT_EQ(Run(framed.Send("one")), absl::UnavailableError("reset"));
  stream.TakeAtMost(0);
  EXPECT_EQ(Run(framed.Flush()).code(), absl::StatusCode::kInternal);
}

TEST_F(FramedTest, ADestroyedNextIsNotWoken) {
  auto [near, far] = Duplex(64);
  Framed framed(std::move(near), LineCodec());
  {
    auto next = Next(framed);
    ASSERT_TRUE(Poll(next).IsPending());
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
  ASSERT_TRUE(Run(WriteAll(far, "one\n")).ok());
  EXPECT_EQ(task_.wakes(), 0);
  EXPECT_EQ(Run(Next(framed))->value(), "one");
}

TEST_F(FramedTest, ReleasesItsStream) {
  auto [near, far] = Duplex(64);
  ASSERT_TRUE(Run(WriteAll(far, "one\n")).ok());
  Framed framed(std::move(near), LineCodec());
  EXPECT_EQ(Run(Next(framed))->value(), "one");
  DuplexStream stream = std::move(framed).IntoInner();
  ASSERT_TRUE(Run(WriteAll(far, "rest")).ok());
  char buffer[8];
  EXPECT_EQ(Run(Read(stream, absl::MakeSpan(buffer))).value(), 4u);
}

TEST_F(FramedTest, ReleasesItsPartsWithAllBytes) {
  auto [near, far] = Duplex(64);
  ASSERT_TRUE(Run(WriteAll(far, "one\ntwo\nth")).ok());
  Framed framed(std::move(near), LineCodec());
  EXPECT_EQ(Run(Next(framed))->value(), "one");
  ASSERT_TRUE(framed.Feed("unsent").ok());
  FramedParts parts = std::move(framed).IntoParts();
  EXPECT_EQ(parts.read, "two\nth");
  EXPECT_EQ(parts.unsent, "unsent\n");

  // A frame that has begun goes on, and unsent bytes come first.
  Framed again(std::move(parts));
  ASSERT_TRUE(Run(again.Send("more")).ok());
  ASSERT_TRUE(Run(WriteAll(far, "ree\n")).ok());
  EXPECT_EQ(Run(Next(again))->value(), "two");
  EXPECT_EQ(Run(Next(again))->value(), "three");
  char buffer[16];
  EXPECT_EQ(Run(Read(far, absl::MakeSpan(buffer))).value(), 12u);
  EXPECT_EQ(std::string_view(buffer, 12), "unsent\nmore\n");
}

TEST_F(FramedTest, AnotherCodecContinuesWithTheBytes) {
  ScriptedReader reader("binary\n\3abc\1d");
  Framed lines(reader, LineCodec());
  EXPECT_EQ(Run(Next(lines))->value(), "binary");
  auto parts = std::move(lines).IntoParts();
  Framed frames(FramedParts(parts.stream, LengthCodec(100, 1),
                            std::move(parts.read), std::move(parts.unsent)));
  EXPECT_THAT(ReadFrames(frames), ElementsAre("'abc'", "'d'"));
}

// A frame that was sent in part is in the parts as far as it is unsent.
TEST_F(FramedTest, PartsHaveTheRestOfATornFrame) {
  ScriptedWriter writer;
  writer.TakeAtMost(2);
  Writing framed(writer);
  ASSERT_TRUE(framed.Feed("abcd").ok());
  writer.BePendingInTurns();
  {
    auto flush = framed.Flush();
    ASSERT_TRUE(Poll(flush).IsPending());
    ASSERT_TRUE(Poll(flush).IsPending());
  }
  EXPECT_EQ(writer.written(), "ab");
  EXPECT_EQ(std::move(framed).IntoParts().unsent, "cd\n");
}

// Codecs for one direction.
class Doubler {
 public:
  using Frame = std::string;
  absl::Status Encode(std::string_view frame, std::string& out) const {
    out += frame;
    out += frame;
    return absl::OkStatus();
  }
};
class Bytewise {
 public:
  using Frame = std::string;
  absl::StatusOr<std::optional<std::string>> Decode(
      std::string_view& bytes) const {
    if (bytes.empty()) return std::nullopt;
    std::string frame(bytes.substr(0, 1));
    bytes.remove_prefix(1);
    return frame;
  }
  absl::StatusOr<std::optional<std::string>> DecodeEnd(
      std::string_view& bytes) const {
    return Decode(bytes);
  }
};
static_assert(Encoder<Doubler> && !Decoder<Doubler> && !Codec<Doubler>);
static_assert(Decoder<Bytewise> && !Encoder<Bytewise> && !Codec<Bytewise>);
static_assert(Stream<Framed<DuplexStream, Bytewise>>);
static_assert(!Stream<Framed<DuplexStream, Doubler>>);

TEST_F(FramedTest, ACodecForOneDirectionIsEnough) {
  auto [near, far] = Duplex(64);
  Framed writing(near, Doubler());
  ASSERT_TRUE(Run(writing.Send("a")).ok());
  ASSERT_TRUE(Run(Shutdown(near)).ok());
  Framed reading(far, Bytewise());
  EXPECT_THAT(ReadFrames(reading), ElementsAre("'a'", "'a'"));
}

Co<absl::Status> Echo(DuplexStream stream) {
  Framed connection(std::move(stream), LineCodec());
  while (auto line = co_await Next(connection)) {
    co_await OrReturn(line->status());
    co_await OrReturn(connection.Send(**line + "!"));
  }
  co_return absl::OkStatus();
}

TEST_F(FramedTest, ACoroutineServesAStreamOfFrames) {
  auto [near, far] = Duplex(64);
  Co<absl::Status> echo = Echo(std::move(near));
  ASSERT_TRUE(Poll(echo).IsPending());
  ASSERT_TRUE(Run(WriteAll(far, "one\ntwo\n")).ok());
  ASSERT_TRUE(Run(Shutdown(far)).ok());
  EXPECT_TRUE(Run(echo).ok());
  Framed answers(far, LineCodec());
  echo = Echo(Duplex(1).first);  // the first end is destroyed
  EXPECT_THAT(ReadFrames(answers), ElementsAre("'one!'", "'two!'"));
}

// R13.
TEST_F(FramedTest, ManyFramesLetOtherTasksRun) {
  std::string text;
  for (uint32_t i = 0; i < 2 * kBudgetPerPoll; ++i) text += "x\n";
  ScriptedReader stream(text);
  Framed framed(stream, LineCodec());
  Context cx(task_.waker());
  uint32_t frames = 0;
  while (framed.PollNext(cx).IsReady()) ++frames;
  EXPECT_GT(frames, 0u);
  EXPECT_LE(frames, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(FramedTest, PollingACompleteFuturePanics) {
  ScriptedWriter stream;
  Framed framed(stream, LineCodec(4));
  auto send = framed.Send("one");
  ASSERT_TRUE(Poll(send).IsReady());
  EXPECT_PANIC((void)Poll(send), "Framed::Send() was polled after");
  auto refused = framed.Send("12345");
  ASSERT_TRUE(Poll(refused).IsReady());
  EXPECT_PANIC((void)Poll(refused), "Framed::Send() was polled after");
  auto flush = framed.Flush();
  ASSERT_TRUE(Poll(flush).IsReady());
  EXPECT_PANIC((void)Poll(flush), "Framed::Flush() was polled after");
}

}  // namespace
}  // namespace rouse
