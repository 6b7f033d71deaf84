// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/resp/value_decoder.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/resp/decode_in_pieces.h"
#include "rouse/examples/mini_redis/resp/value.h"
#include "rouse/io/codec.h"
#include "rouse/testing/expect_panic.h"

namespace mini_redis::resp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

static_assert(rouse::Codec<ValueDecoder>);

void ExpectValue(std::string_view text, const Value& value) {
  for (size_t step = 1; step <= text.size(); ++step) {
    SCOPED_TRACE(absl::StrCat(text, " in steps of ", step));
    const Decoded<Value> decoded =
        DecodeInPieces(ValueDecoder(), absl::StrCat(text, text), step);
    EXPECT_THAT(decoded.frames, ElementsAre(value, value));
    EXPECT_THAT(decoded.errors, IsEmpty());
  }
}

void ExpectError(std::string_view text, absl::StatusCode code,
                 std::string_view message, const ValueLimits& limits = {}) {
  const std::string with_more = absl::StrCat(text, "+OK\r\n");
  for (size_t step = 1; step <= with_more.size(); ++step) {
    SCOPED_TRACE(absl::StrCat(text.substr(0, 40), " in steps of ", step));
    const Decoded<Value> decoded =
        DecodeInPieces(ValueDecoder(limits), with_more, step);
    EXPECT_THAT(decoded.frames, IsEmpty());
    ASSERT_THAT(decoded.errors, SizeIs(1));
    EXPECT_EQ(decoded.errors[0].code(), code);
    EXPECT_THAT(decoded.errors[0].message(), HasSubstr(message));
  }
}

TEST(ValueDecoderTest, EveryType) {
  ExpectValue("+OK\r\n", Value::SimpleString("OK"));
  ExpectValue("-ERR no\r\n", Value::Error("ERR no"));
  ExpectValue("!6\r\nERR\r\nx\r\n", Value::Error("ERR\r\nx"));
  ExpectValue(":0\r\n", Value::Integer(0));
  ExpectValue(":-9223372036854775808\r\n",
              Value::Integer(std::numeric_limits<int64_t>::min()));
  ExpectValue(":9223372036854775807\r\n",
              Value::Integer(std::numeric_limits<int64_t>::max()));
  ExpectValue("$3\r\n\r\na\r\n", Value::BulkString("\r\na"));
  ExpectValue("$0\r\n\r\n", Value::BulkString(""));
  ExpectValue("$-1\r\n", Value::Null());
  ExpectValue("*-1\r\n", Value::Null());
  ExpectValue("_\r\n", Value::Null());
  ExpectValue("*0\r\n", Value::Array({}));
  ExpectValue("*2\r\n:1\r\n*1\r\n$-1\r\n",
              Value::Array({Value::Integer(1), Value::Array({Value::Null()})}));
  ExpectValue("%1\r\n+a\r\n:1\r\n",
              Value::Map({Value::SimpleString("a"), Value::Integer(1)}));
  ExpectValue("~1\r\n#t\r\n", Value::Set({Value::Boolean(true)}));
  ExpectValue(">1\r\n#f\r\n", Value::Push({Value::Boolean(false)}));
  ExpectValue(",1.5\r\n", Value::Double(1.5));
  ExpectValue(",-inf\r\n",
              Value::Double(-std::numeric_limits<double>::infinity()));
  ExpectValue("(-123456789012345678901234567890\r\n",
              Value::BigNumber("-123456789012345678901234567890"));
  ExpectValue("=7\r\ntxt:abc\r\n", Value::VerbatimString("txt:abc"));
}

TEST(ValueDecoderTest, AttributesAreSkipped) {
  ExpectValue("|1\r\n+ttl\r\n:3\r\n+OK\r\n", Value::SimpleString("OK"));
  ExpectValue("|0\r\n+OK\r\n", Value::SimpleString("OK"));
  ExpectValue("*2\r\n:1\r\n|1\r\n+ttl\r\n*1\r\n:3\r\n:2\r\n",
              Value::Array({Value::Integer(1), Value::Integer(2)}));
}

TEST(ValueDecoderTest, ANaN) {
  const Decoded<Value> decoded =
      DecodeInPieces(ValueDecoder(), ",nan\r\n", size_t{1});
  ASSERT_THAT(decoded.frames, SizeIs(1));
  EXPECT_EQ(decoded.frames[0].ToString(), "(double) nan");
}

TEST(ValueDecoderTest, MalformedReplies) {
  for (std::string_view text :
       {"OK\r\n",  "\r\n",          "+OK\n",         ":\r\n",   ":1a\r\n",
        ":01\r\n", "#\r\n",         "#true\r\n",     ",\r\n",   ",x\r\n",
        "_x\r\n",  "(1x\r\n",       "(\r\n",         "(-\r\n",  "$-2\r\n",
        "$\r\n",   "*-2\r\n",       "%-1\r\n",       "~-1\r\n", "!-1\r\n",
        "$?\r\n",  "=3\r\ntxt\r\n", "=4\r\ntxt.\r\n"}) {
    ExpectError(text, absl::StatusCode::kInvalidArgument,
                "not a reply of Redis");
  }
  ExpectError("$1\r\nabc", absl::StatusCode::kInvalidArgument,
              "not followed by a line end");
}

TEST(ValueDecoderTest, Limits) {
  constexpr auto kCode = absl::StatusCode::kResourceExhausted;
  ValueLimits limits;
  limits.max_depth = 2;
  limits.max_size = 1000;
  limits.max_line_size = 20;
  ExpectError("*1\r\n*1\r\n*1\r\n", kCode, "more than 2 levels", limits);
  ExpectError("$1001\r\n", kCode, "a string of 1001 bytes", limits);
  ExpectError("*2\r\n$900\r\n", absl::StatusCode::kOutOfRange, "the stream",
              limits);
  ExpectError("*1000\r\n", kCode, "an array of 1000 elements", limits);
  ExpectError("+12345678901234567890", kCode, "a line of a reply", limits);
  ExpectError("*9223372036854775807\r\n", kCode, "an array of");
  ExpectError("%9223372036854775807\r\n", kCode, "an array of");
  ExpectError("$9223372036854775807\r\n", kCode, "a string of");
  std::string many = "*2\r\n*10\r\n";
  for (int i = 0; i < 10; ++i) many += ":1\r\n";
  many += "*10\r\n";
  for (int i = 0; i < 8; ++i) many += ":1\r\n";
  ExpectError(many, kCode, "a reply exceeds the limit of 1000", limits);
}

TEST(ValueDecoderTest, LimitsAreOfEachReply) {
  ValueLimits limits;
  limits.max_size = 200;
  std::string text;
  for (int i = 0; i < 100; ++i) text += "$10\r\n0123456789\r\n";
  const Decoded<Value> decoded =
      DecodeInPieces(ValueDecoder(limits), text, size_t{7});
  EXPECT_THAT(decoded.frames, SizeIs(100));
  EXPECT_THAT(decoded.errors, IsEmpty());
}

TEST(ValueDecoderTest, ALongStringIsNotKeptTwice) {
  const Value value = Value::BulkString(std::string(1 << 20, 'v'));
  std::string text;
  AppendValue(value, 3, text);
  const Decoded<Value> decoded =
      DecodeInPieces(ValueDecoder(), text, size_t{4096});
  EXPECT_THAT(decoded.frames, ElementsAre(value));
  EXPECT_LE(decoded.most_kept, 20000u);
}

std::string RandomText(std::mt19937_64& random) {
  std::string text(random() % 60 == 0 ? random() % 50000 : random() % 20, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

Value RandomValue(std::mt19937_64& random, int depth) {
  const auto elements = [&](size_t multiple) {
    std::vector<Value> all(multiple * (random() % 4));
    for (Value& value : all) value = RandomValue(random, depth + 1);
    return all;
  };
  switch (random() % (depth < 4 ? 13 : 9)) {
    case 0:
      return Value::Null();
    case 1:
      return Value::SimpleString(absl::StrCat("OK", random() % 100));
    case 2:
      return Value::Error(absl::StrCat("ERR ", random() % 100));
    case 3:
      return Value::Integer(static_cast<int64_t>(random()) >> random() % 64);
    case 4:
      return Value::BulkString(RandomText(random));
    case 5:
      return Value::Double(static_cast<double>(random()) / 7);
    case 6:
      return Value::Boolean(random() % 2 == 0);
    case 7:
      return Value::BigNumber(absl::StrCat(random(), random()));
    case 8:
      return Value::VerbatimString(absl::StrCat("txt:", RandomText(random)));
    case 9:
      return Value::Array(elements(1));
    case 10:
      return Value::Map(elements(2));
    case 11:
      return Value::Set(elements(1));
    default:
      return Value::Push(elements(1));
  }
}

TEST(ValueDecoderTest, RandomValuesComeBackHoweverTheyArrive) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<Value> values(1 + random() % 5);
    std::string text;
    for (Value& value : values) {
      value = RandomValue(random, 0);
      AppendValue(value, 3, text);
    }
    const size_t most = 1 + random() % 3000;
    const auto next_size = [&random, most] { return 1 + random() % most; };
    const Decoded<Value> decoded =
        DecodeInPieces(ValueDecoder(), text, next_size);
    EXPECT_EQ(decoded.frames, values);
    EXPECT_THAT(decoded.errors, IsEmpty());
  }
}

TEST(ValueDecoderTest, EveryTruncatedReplyIsCutOff) {
  const std::string text =
      "*3\r\n%1\r\n+a\r\n$3\r\nabc\r\n|1\r\n+x\r\n:1\r\n#t\r\n,1.5\r\n";
  for (size_t size = 1; size < text.size(); ++size) {
    for (size_t step : {size_t{1}, size}) {
      const Decoded<Value> decoded =
          DecodeInPieces(ValueDecoder(), text.substr(0, size), step);
      EXPECT_THAT(decoded.frames, IsEmpty()) << size;
      ASSERT_THAT(decoded.errors, SizeIs(1)) << size;
      EXPECT_TRUE(absl::IsOutOfRange(decoded.errors[0])) << decoded.errors[0];
    }
  }
  EXPECT_THAT(DecodeInPieces(ValueDecoder(), text, size_t{1}).frames,
              SizeIs(1));
}

TEST(ValueDecoderTest, RandomBytesMeanTheSameHoweverTheyArrive) {
  ValueLimits limits;
  limits.max_depth = 3;
  limits.max_size = 400;
  limits.max_line_size = 10;
  const std::vector<std::string_view> pieces = {
      "*2\r\n", "%1\r\n", "$1\r\n", "a\r\n",  "+a\r\n", ":1\r\n", "|1\r\n",
      "_\r\n",  "#t\r\n", "\r\n",   "=4\r\n", "txt:",   "1",      "~0\r\n"};
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::string text;
    const size_t size = random() % 16;
    for (size_t i = 0; i < size; ++i) text += pieces[random() % pieces.size()];
    const Decoded<Value> whole =
        DecodeInPieces(ValueDecoder(limits), text, text.size() + 1);
    const Decoded<Value> bytewise =
        DecodeInPieces(ValueDecoder(limits), text, size_t{1});
    EXPECT_EQ(whole.frames, bytewise.frames);
    EXPECT_EQ(whole.errors, bytewise.errors);
    EXPECT_LE(whole.errors.size(), 1u);
  }
}

TEST(ValueTest, ToStringIsForPeople) {
  const Value value = Value::Array(
      {Value::Integer(1), Value::BulkString("a\n"), Value::Null(),
       Value::Error("ERR x"), Value::Boolean(true),
       Value::Map({Value::SimpleString("k"), Value::Double(1.5)})});
  EXPECT_EQ(value.ToString(),
            "[(integer) 1, \"a\\n\", (nil), (error) ERR x, (true), "
            "map{k, (double) 1.5}]");
}

TEST(ValueTest, AKeyWithoutAValueIsAPanic) {
  EXPECT_PANIC((void)Value::Map({Value::Null()}), "the last key has no value");
}

TEST(ValueTest, AnotherTypeIsAnotherValue) {
  EXPECT_NE(Value::SimpleString("a"), Value::BulkString("a"));
  EXPECT_NE(Value::Array({}), Value::Set({}));
}

}  // namespace
}  // namespace mini_redis::resp
