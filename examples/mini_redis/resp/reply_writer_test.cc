// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/resp/reply_writer.h"

#include <cstdint>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/resp/numbers.h"

namespace mini_redis::resp {
namespace {

std::string WriteAll(int protocol) {
  std::string out;
  ReplyWriter reply(out, protocol);
  reply.Ok();
  reply.SimpleString("PONG");
  reply.Error("ERR bad");
  reply.Integer(std::numeric_limits<int64_t>::min());
  reply.Bulk("a\r\n");
  reply.BulkInteger(-12);
  reply.Null();
  reply.NullArray();
  reply.ArrayHeader(0);
  reply.SetHeader(1);
  reply.PushHeader(2);
  reply.MapHeader(3);
  reply.Double(1.5);
  reply.Boolean(true);
  reply.Boolean(false);
  reply.BigNumber("123");
  reply.Verbatim("txt:abc");
  return out;
}

TEST(ReplyWriterTest, Version2) {
  EXPECT_EQ(WriteAll(2),
            "+OK\r\n+PONG\r\n-ERR bad\r\n:-9223372036854775808\r\n"
            "$3\r\na\r\n\r\n$3\r\n-12\r\n$-1\r\n*-1\r\n*0\r\n*1\r\n*2\r\n*6\r\n"
            "$3\r\n1.5\r\n:1\r\n:0\r\n$3\r\n123\r\n$3\r\nabc\r\n");
}

TEST(ReplyWriterTest, Version3) {
  EXPECT_EQ(WriteAll(3),
            "+OK\r\n+PONG\r\n-ERR bad\r\n:-9223372036854775808\r\n"
            "$3\r\na\r\n\r\n$3\r\n-12\r\n_\r\n_\r\n*0\r\n~1\r\n>2\r\n%3\r\n"
            ",1.5\r\n#t\r\n#f\r\n(123\r\n=7\r\ntxt:abc\r\n");
}

TEST(ReplyWriterTest, ALineEndIsNoReplyOfItsOwn) {
  std::string out;
  ReplyWriter reply(out);
  reply.Error("ERR unknown command 'a\r\n+OK'");
  reply.SimpleString("\n");
  EXPECT_EQ(out, "-ERR unknown command 'a  +OK'\r\n+ \r\n");
}

TEST(NumbersTest, IntegersHaveOneForm) {
  int64_t number = 7;
  for (const char* text : {"", "-", "+1", " 1", "1 ", "01", "-0", "00", "1a",
                           "--1", "9223372036854775808", "-9223372036854775809",
                           "99999999999999999999", "123456789012345678x"}) {
    EXPECT_FALSE(ParseInteger(text, number)) << text;
  }
  for (int64_t value :
       {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{123456789012345678},
        int64_t{-999999999999999999}, std::numeric_limits<int64_t>::max(),
        std::numeric_limits<int64_t>::min()}) {
    std::string text;
    AppendInteger(value, text);
    ASSERT_TRUE(ParseInteger(text, number)) << text;
    EXPECT_EQ(number, value);
  }
}

TEST(NumbersTest, DoublesComeBack) {
  for (double value : {0.0, -1.5, 0.1, 1e300, 5e-324, 3.0,
                       std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity()}) {
    std::string text;
    AppendDouble(value, text);
    double number = 7;
    ASSERT_TRUE(ParseDouble(text, number)) << text;
    EXPECT_EQ(number, value);
  }
  std::string text;
  AppendDouble(-std::numeric_limits<double>::quiet_NaN(), text);
  EXPECT_EQ(text, "nan");
}

}  // namespace
}  // namespace mini_redis::resp
