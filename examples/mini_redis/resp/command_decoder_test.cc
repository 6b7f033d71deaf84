// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/resp/command_decoder.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/decode_in_pieces.h"
#include "rouse/io/codec.h"

namespace mini_redis::resp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

static_assert(rouse::Codec<CommandDecoder>);

std::string Bytes(const std::vector<Command>& commands) {
  std::string bytes;
  for (const Command& command : commands) AppendCommand(command, bytes);
  return bytes;
}

// Decodes `text` with every split in two, and byte by byte, and expects
// `commands` each time.
void ExpectCommands(std::string_view text,
                    const std::vector<Command>& commands) {
  for (size_t split = 1; split <= text.size(); ++split) {
    SCOPED_TRACE(split);
    bool first = true;
    const auto next_size = [&] {
      return std::exchange(first, false) ? split : text.size();
    };
    const Decoded<Command> decoded =
        DecodeInPieces(CommandDecoder(), text, next_size);
    EXPECT_EQ(decoded.frames, commands);
    EXPECT_THAT(decoded.errors, IsEmpty());
  }
  const Decoded<Command> decoded =
      DecodeInPieces(CommandDecoder(), text, size_t{1});
  EXPECT_EQ(decoded.frames, commands);
  EXPECT_THAT(decoded.errors, IsEmpty());
}

// Expects that `text` is one error, however it arrives, and that nothing behind
// the error is decoded.
void ExpectError(std::string_view text, const absl::Status& error,
                 const CommandLimits& limits = {}) {
  const std::string with_more = absl::StrCat(text, Bytes({{"PING"}}));
  for (size_t step = 1; step <= with_more.size(); ++step) {
    SCOPED_TRACE(absl::StrCat(text.substr(0, 30), " in steps of ", step));
    const Decoded<Command> decoded =
        DecodeInPieces(CommandDecoder(limits), with_more, step);
    EXPECT_THAT(decoded.frames, IsEmpty());
    EXPECT_THAT(decoded.errors, ElementsAre(error));
  }
}

absl::Status Malformed(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("Protocol error: ", what));
}

absl::Status TooBig(std::string_view what) {
  return absl::ResourceExhaustedError(absl::StrCat("Protocol error: ", what));
}

TEST(CommandTest, ArgumentsAreWhatWasAdded) {
  Command command = {"SET", "", "value"};
  EXPECT_EQ(command.size(), 3u);
  EXPECT_EQ(command.bytes(), 8u);
  EXPECT_EQ(command[0], "SET");
  EXPECT_EQ(command[1], "");
  EXPECT_EQ(command[2], "value");
  command.AddPart("a");
  command.AddPart("b");
  command.EndArgument();
  EXPECT_EQ(command[3], "ab");
  EXPECT_EQ(std::move(command).Take(2), "value");
  EXPECT_TRUE(command.empty());  // NOLINT(bugprone-use-after-move)
  command.Add("again");
  EXPECT_EQ(command, (Command{"again"}));
}

TEST(CommandTest, TheSameBytesInOtherArgumentsAreAnotherCommand) {
  EXPECT_FALSE((Command{"ab", "c"}) == (Command{"a", "bc"}));
}

TEST(CommandDecoderTest, ArraysOfBulkStrings) {
  ExpectCommands("*1\r\n$4\r\nPING\r\n", {{"PING"}});
  ExpectCommands("*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nPING\r\n",
                 {{"GET", "a"}, {"PING"}});
  ExpectCommands("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$6\r\n\r\n$1\r\n\r\n",
                 {{"SET", "", "\r\n$1\r\n"}});
}

TEST(CommandDecoderTest, EmptyRequestsAreSkipped) {
  ExpectCommands("*0\r\n*-1\r\n\r\n \t \n*1\r\n$4\r\nPING\r\n\n", {{"PING"}});
}

TEST(CommandDecoderTest, Lines) {
  ExpectCommands("PING\r\n", {{"PING"}});
  ExpectCommands("  SET\tkey   value \nGET key\r\n",
                 {{"SET", "key", "value"}, {"GET", "key"}});
  ExpectCommands("SET \"a b\" ''\r\n", {{"SET", "a b", ""}});
  ExpectCommands(R"(ECHO "\x41\n\r\t\b\a\q\"\\" 'it\'s \x41')"
                 "\n",
                 {{"ECHO", "A\n\r\t\b\aq\"\\", "it's \\x41"}});
  ExpectCommands("ECHO a\"b c\"\n", {{"ECHO", "ab c"}});
  ExpectCommands("ECHO \"\\x4\"\n", {{"ECHO", "x4"}});
}

TEST(CommandDecoderTest, MalformedRequests) {
  const absl::Status count = Malformed("invalid multibulk length");
  for (std::string_view text :
       {"*\r\n", "*a\r\n", "*1 \r\n", "* 1\r\n", "*01\r\n", "*+1\r\n", "*1\n",
        "*-0\r\n", "*99999999999999999999\r\n", "*1\r1\r\n"}) {
    ExpectError(text, count);
  }
  const absl::Status length = Malformed("invalid bulk length");
  for (std::string_view text :
       {"*1\r\n$\r\n", "*1\r\n$-1\r\n", "*1\r\n$x\r\n", "*1\r\n$4\n",
        "*1\r\n$99999999999999999999\r\n", "*1\r\n$00\r\n"}) {
    ExpectError(text, length);
  }
  ExpectError("*1\r\n:4\r\n", Malformed("expected '$', got ':'"));
  ExpectError("*1\r\n\r\n", Malformed("expected '$', got '\\x0d'"));
  ExpectError("*1\r\n$4\r\nPINGPONG",
              Malformed("expected a line end behind a bulk string"));
  const absl::Status quotes = Malformed("unbalanced quotes in request");
  for (std::string_view text :
       {"GET \"a\n", "GET 'a\n", "GET \"a\"b\n", "GET 'a'b\n", "GET \"\\\n"}) {
    ExpectError(text, quotes);
  }
}

TEST(CommandDecoderTest, LimitsAreExact) {
  CommandLimits limits;
  limits.max_arguments = 2;
  limits.max_bulk_size = 4;
  limits.max_inline_size = 8;
  limits.max_request_size = 6;
  const Decoded<Command> decoded =
      DecodeInPieces(CommandDecoder(limits),
                     "*2\r\n$4\r\n1234\r\n$2\r\n56\r\n1234  5\r\n", size_t{3});
  EXPECT_THAT(decoded.frames,
              ElementsAre(Command{"1234", "56"}, Command{"1234", "5"}));
  EXPECT_THAT(decoded.errors, IsEmpty());

  ExpectError("*3\r\n", TooBig("invalid multibulk length"), limits);
  ExpectError("*2\r\n$5\r\n", TooBig("invalid bulk length"), limits);
  ExpectError("*2\r\n$4\r\n1234\r\n$3\r\n", TooBig("too big request"), limits);
  ExpectError("123456789", TooBig("too big inline request"), limits);
  ExpectError("1234 567\r\n", TooBig("too big inline request"), limits);
  ExpectError("1 2 3\r\n", TooBig("too big inline request"), limits);
  ExpectError("*00000001", TooBig("too big mbulk count string"), limits);
  ExpectError("*1\r\n$00000001", TooBig("too big bulk count string"), limits);
}

TEST(CommandDecoderTest, ALengthBeyondTheUsualLimitsIsRefused) {
  ExpectError("*1\r\n$536870912\r\n", TooBig("invalid bulk length"));
  ExpectError("*2147483647\r\n", TooBig("invalid multibulk length"));
}

TEST(CommandDecoderTest, ALongArgumentIsNotKeptTwice) {
  const std::string value(1 << 20, 'v');
  const std::string text = Bytes({{"SET", "key", value}});
  const Decoded<Command> decoded =
      DecodeInPieces(CommandDecoder(), text, size_t{4096});
  EXPECT_THAT(decoded.frames, ElementsAre(Command{"SET", "key", value}));
  EXPECT_LE(decoded.most_kept, 20000u);
}

TEST(CommandDecoderTest, EveryTruncatedRequestIsCutOff) {
  const std::string text = Bytes({{"SET", "key", "value"}});
  for (size_t size = 1; size < text.size(); ++size) {
    for (size_t step : {size_t{1}, size_t{3}, size}) {
      const Decoded<Command> decoded =
          DecodeInPieces(CommandDecoder(), text.substr(0, size), step);
      EXPECT_THAT(decoded.frames, IsEmpty()) << size;
      ASSERT_THAT(decoded.errors, SizeIs(1)) << size;
      EXPECT_TRUE(absl::IsOutOfRange(decoded.errors[0])) << decoded.errors[0];
    }
  }
  EXPECT_THAT(DecodeInPieces(CommandDecoder(), "", size_t{1}).errors,
              IsEmpty());
}

TEST(CommandDecoderTest, DecodeIntoUsesTheMemoryAgain) {
  CommandDecoder decoder;
  Command command = {"old"};
  std::string_view bytes = "*1\r\n$3\r\nGE";
  absl::StatusOr<bool> complete = decoder.DecodeInto(bytes, command);
  ASSERT_TRUE(complete.ok());
  EXPECT_FALSE(*complete);
  EXPECT_EQ(command, (Command{"old"}));
  EXPECT_EQ(bytes, "GE");
  bytes = "GET\r\nPING\r\n";
  EXPECT_TRUE(decoder.DecodeInto(bytes, command).value());
  EXPECT_EQ(command, (Command{"GET"}));
  EXPECT_TRUE(decoder.DecodeInto(bytes, command).value());
  EXPECT_EQ(command, (Command{"PING"}));
  EXPECT_THAT(bytes, IsEmpty());
  EXPECT_FALSE(decoder.IsWithinRequest());
}

std::string RandomArgument(std::mt19937_64& random) {
  // A few arguments are long enough to be taken in parts.
  std::string argument(random() % 50 == 0 ? random() % 60000 : random() % 30,
                       '\0');
  for (char& c : argument) c = "\r\n$*0123456789ab\0\"' "[random() % 21];
  return argument;
}

TEST(CommandDecoderTest, RandomCommandsComeBackHoweverTheyArrive) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<Command> commands(1 + random() % 10);
    for (Command& command : commands) {
      const size_t size = 1 + random() % 12;
      for (size_t i = 0; i < size; ++i) command.Add(RandomArgument(random));
    }
    const size_t most = 1 + random() % 5000;
    const auto next_size = [&random, most] { return 1 + random() % most; };
    const Decoded<Command> decoded =
        DecodeInPieces(CommandDecoder(), Bytes(commands), next_size);
    EXPECT_EQ(decoded.frames, commands);
    EXPECT_THAT(decoded.errors, IsEmpty());
  }
}

// Whether bytes are a request must not depend on how the bytes arrive.
TEST(CommandDecoderTest, RandomBytesMeanTheSameHoweverTheyArrive) {
  CommandLimits limits;
  limits.max_arguments = 4;
  limits.max_bulk_size = 9;
  limits.max_inline_size = 12;
  limits.max_request_size = 20;
  const std::vector<std::string_view> pieces = {
      "*1\r\n", "*2\r\n", "$1\r\n", "$3\r\n", "\r\n", "a", "GET",    "\"",
      "'",      " ",      "\n",     "*",      "$",    "9", "-1\r\n", "\\x41"};
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::string text;
    const size_t size = random() % 12;
    for (size_t i = 0; i < size; ++i) text += pieces[random() % pieces.size()];
    const Decoded<Command> whole =
        DecodeInPieces(CommandDecoder(limits), text, text.size() + 1);
    const Decoded<Command> bytewise =
        DecodeInPieces(CommandDecoder(limits), text, size_t{1});
    EXPECT_EQ(whole.frames, bytewise.frames);
    EXPECT_EQ(whole.errors, bytewise.errors);
    EXPECT_LE(whole.errors.size(), 1u);
  }
}

}  // namespace
}  // namespace mini_redis::resp
