// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// A table of commands and the replies of Redis 7.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/server/tests/service_test_base.h"

namespace mini_redis {
namespace {

using ::testing::HasSubstr;

using Script = std::vector<std::pair<std::string_view, std::string_view>>;

class CommandsTest : public ServiceTest {
 protected:
  // Sends each request of a script, and compares the replies.
  void Check(const Script& script) {
    TestClient client = Connect();
    for (const auto& [request, reply] : script) {
      EXPECT_EQ(client.Ask(request), absl::StrCat(reply, "\r\n")) << request;
    }
  }
};

constexpr std::string_view kOk = "+OK";
constexpr std::string_view kNull = "$-1";
constexpr std::string_view kNullArray = "*-1";
constexpr std::string_view kNotAnInteger =
    "-ERR value is not an integer or out of range";
constexpr std::string_view kSyntaxError = "-ERR syntax error";
constexpr std::string_view kWrongType =
    "-WRONGTYPE Operation against a key holding the wrong kind of value";

TEST_F(CommandsTest, Connection) {
  Check({{"PING", "+PONG"},
         {"ping hello", "$5\r\nhello"},
         {"PING a b", "-ERR wrong number of arguments for 'ping' command"},
         {"ECHO hello", "$5\r\nhello"},
         {"ECHO", "-ERR wrong number of arguments for 'echo' command"},
         {"SELECT 15", kOk},
         {"SELECT 16", "-ERR DB index is out of range"},
         {"SELECT x", kNotAnInteger},
         {"nosuch a b",
          "-ERR unknown command 'nosuch', with args beginning with: 'a' 'b' "},
         {"AUTH secret",
          "-ERR AUTH <password> called without any password configured for the "
          "default user. Are you sure your configuration is correct?"},
         {"RESET", "+RESET"}});
}

TEST_F(CommandsTest, GetAndSet) {
  Check({{"GET k", kNull},
         {"SET k v", kOk},
         {"GET k", "$1\r\nv"},
         {"SET k w NX", kNull},
         {"SET other w NX", kOk},
         {"SET k w XX", kOk},
         {"SET none w XX", kNull},
         {"SET k x GET", "$1\r\nw"},
         {"SET new x GET", kNull},
         {"SET k y NX GET", "$1\r\nx"},
         {"GET k", "$1\r\nx"},
         {"SET k", "-ERR wrong number of arguments for 'set' command"},
         {"SET k v NX XX", kSyntaxError},
         {"SET k v EX", kSyntaxError},
         {"SET k v EX 1 PX 1", kSyntaxError},
         {"SET k v EX 1 KEEPTTL", kSyntaxError},
         {"SET k v bogus", kSyntaxError},
         {"SET k v EX 0", "-ERR invalid expire time in 'set' command"},
         {"SET k v PX -1", "-ERR invalid expire time in 'set' command"},
         {"SET k v EX 9223372036854775807",
          "-ERR invalid expire time in 'set' command"},
         {"SET k v EX x", kNotAnInteger},
         {"GET k", "$1\r\nx"},
         {"SET \"a b\" \"\\x00\\r\\n\"", kOk},
         {"GET \"a b\"", std::string_view("$3\r\n\0\r\n", 7)},
         {"STRLEN \"a b\"", ":3"},
         {"STRLEN none", ":0"}});
}

TEST_F(CommandsTest, ManyKeys) {
  Check({{"MSET a 1 b 2", kOk},
         {"MSET a 1 b", "-ERR wrong number of arguments for 'mset' command"},
         {"RPUSH list x", ":1"},
         {"MGET a none list b", "*4\r\n$1\r\n1\r\n$-1\r\n$-1\r\n$1\r\n2"},
         {"EXISTS a a none b", ":3"},
         {"DBSIZE", ":3"},
         {"DEL a none list", ":2"},
         {"UNLINK b", ":1"},
         {"DBSIZE", ":0"}});
}

TEST_F(CommandsTest, Counters) {
  Check({{"INCR n", ":1"},
         {"INCRBY n 41", ":42"},
         {"DECR n", ":41"},
         {"DECRBY n 1", ":40"},
         {"GET n", "$2\r\n40"},
         {"SET n 9223372036854775807", kOk},
         {"INCR n", "-ERR increment or decrement would overflow"},
         {"DECRBY n -9223372036854775808", "-ERR decrement would overflow"},
         {"INCRBY n x", kNotAnInteger},
         {"SET n x", kOk},
         {"INCR n", kNotAnInteger},
         {"SET n \" 1\"", kOk},
         {"INCR n", kNotAnInteger},
         {"APPEND s ab", ":2"},
         {"APPEND s cd", ":4"},
         {"GET s", "$4\r\nabcd"}});
}

TEST_F(CommandsTest, Types) {
  Check({{"RPUSH list x", ":1"},
         {"SET s x", kOk},
         {"TYPE list", "+list"},
         {"TYPE s", "+string"},
         {"TYPE none", "+none"},
         {"GET list", kWrongType},
         {"INCR list", kWrongType},
         {"APPEND list x", kWrongType},
         {"STRLEN list", kWrongType},
         {"SET list x GET", kWrongType},
         {"LPUSH s x", kWrongType},
         {"LPOP s", kWrongType},
         {"LLEN s", kWrongType},
         {"LRANGE s 0 -1", kWrongType},
         {"BLPOP s 0", kWrongType},
         {"SET list x", kOk},
         {"TYPE list", "+string"}});
}

TEST_F(CommandsTest, Lists) {
  Check({{"RPUSH l b c", ":2"},
         {"LPUSH l a z", ":4"},
         {"LLEN l", ":4"},
         {"LRANGE l 0 -1", "*4\r\n$1\r\nz\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc"},
         {"LRANGE l -2 100", "*2\r\n$1\r\nb\r\n$1\r\nc"},
         {"LRANGE l 2 1", "*0"},
         {"LRANGE l 9 10", "*0"},
         {"LRANGE l -100 0", "*1\r\n$1\r\nz"},
         {"LRANGE none 0 -1", "*0"},
         {"LRANGE l x 1", kNotAnInteger},
         {"LPOP l", "$1\r\nz"},
         {"RPOP l", "$1\r\nc"},
         {"LPOP l 0", "*0"},
         {"LPOP l -1", "-ERR value is out of range, must be positive"},
         {"LPOP l x", "-ERR value is out of range, must be positive"},
         {"LPOP l 1 2", "-ERR wrong number of arguments for 'lpop' command"},
         {"RPOP l 9", "*2\r\n$1\r\nb\r\n$1\r\na"},
         {"EXISTS l", ":0"},
         {"LPOP l", kNull},
         {"LPOP l 2", kNullArray},
         {"LLEN l", ":0"},
         {"RPUSH l x", ":1"},
         {"BLPOP none l 0", "*2\r\n$1\r\nl\r\n$1\r\nx"},
         {"BLPOP l x", "-ERR timeout is not a float or out of range"},
         {"BLPOP l -1", "-ERR timeout is negative"},
         {"BLPOP l nan", "-ERR timeout is not a float or out of range"}});
}

TEST_F(CommandsTest, KeysAndScan) {
  TestClient client = Connect();
  EXPECT_EQ(client.Ask("SCAN 0"), "*2\r\n$1\r\n0\r\n*0\r\n");
  EXPECT_EQ(client.Ask("KEYS *"), "*0\r\n");
  client.Ask("MSET key:1 a other b");
  client.Ask("RPUSH list x");
  EXPECT_EQ(client.Ask("KEYS key:*"), "*1\r\n$5\r\nkey:1\r\n");
  EXPECT_EQ(client.Ask("SCAN 0 COUNT 1000 MATCH k*"),
            "*2\r\n$1\r\n0\r\n*1\r\n$5\r\nkey:1\r\n");
  EXPECT_EQ(client.Ask("SCAN 0 TYPE list COUNT 1000"),
            "*2\r\n$1\r\n0\r\n*1\r\n$4\r\nlist\r\n");
  EXPECT_EQ(client.Ask("SCAN x"), "-ERR invalid cursor\r\n");
  EXPECT_EQ(client.Ask("SCAN 0 COUNT 0"), "-ERR syntax error\r\n");
  EXPECT_EQ(client.Ask("SCAN 0 COUNT x"),
            "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(client.Ask("SCAN 0 MATCH"), "-ERR syntax error\r\n");
  EXPECT_EQ(client.Ask("SCAN 99999999"), "*2\r\n$1\r\n0\r\n*0\r\n");
  client.Ask("SELECT 1");
  EXPECT_EQ(client.Ask("SET a 1"), "+OK\r\n");
  EXPECT_EQ(client.Ask("FLUSHDB"), "+OK\r\n");
  EXPECT_EQ(client.Ask("DBSIZE"), ":0\r\n");
  client.Ask("SELECT 0");
  EXPECT_EQ(client.Ask("DBSIZE"), ":3\r\n");
  EXPECT_EQ(client.Ask("FLUSHALL nonsense"), "-ERR syntax error\r\n");
  EXPECT_EQ(client.Ask("FLUSHALL ASYNC"), "+OK\r\n");
  EXPECT_EQ(client.Ask("DBSIZE"), ":0\r\n");
}

TEST_F(CommandsTest, Expiry) {
  TestClient client = Connect();
  EXPECT_EQ(client.Ask("TTL k"), ":-2\r\n");
  client.Ask("SET k v");
  EXPECT_EQ(client.Ask("PTTL k"), ":-1\r\n");
  EXPECT_EQ(client.Ask("EXPIRE k 100"), ":1\r\n");
  EXPECT_EQ(client.Ask("TTL k"), ":100\r\n");
  Advance(absl::Milliseconds(500));
  EXPECT_EQ(client.Ask("PTTL k"), ":99500\r\n");
  EXPECT_EQ(client.Ask("TTL k"), ":100\r\n");
  EXPECT_EQ(client.Ask("EXPIRE k 50 GT"), ":0\r\n");
  EXPECT_EQ(client.Ask("EXPIRE k 50 NX"), ":0\r\n");
  EXPECT_EQ(client.Ask("EXPIRE k 50 XX LT"), ":1\r\n");
  EXPECT_EQ(client.Ask("EXPIRE k 50 NX XX"),
            "-ERR NX and XX, GT or LT options at the same time are not "
            "compatible\r\n");
  EXPECT_EQ(client.Ask("EXPIRE k 50 what"), "-ERR Unsupported option what\r\n");
  EXPECT_EQ(client.Ask("SET k w KEEPTTL"), "+OK\r\n");
  EXPECT_EQ(client.Ask("TTL k"), ":50\r\n");
  EXPECT_EQ(client.Ask("INCR n"), ":1\r\n");
  EXPECT_EQ(client.Ask("PERSIST k"), ":1\r\n");
  EXPECT_EQ(client.Ask("PERSIST k"), ":0\r\n");
  EXPECT_EQ(client.Ask("SET k v PX 1500"), "+OK\r\n");
  EXPECT_EQ(client.Ask("TTL k"), ":2\r\n");
  Advance(absl::Milliseconds(1499));
  EXPECT_EQ(client.Ask("GET k"), "$1\r\nv\r\n");
  Advance(absl::Milliseconds(1));
  EXPECT_EQ(client.Ask("GET k"), "$-1\r\n");
  client.Ask("SET k v EX 10");
  EXPECT_EQ(client.Ask("SET k v"), "+OK\r\n");
  EXPECT_EQ(client.Ask("TTL k"), ":-1\r\n");
  EXPECT_EQ(client.Ask("PEXPIRE k -1"), ":1\r\n");
  EXPECT_EQ(client.Ask("EXISTS k"), ":0\r\n");
  EXPECT_EQ(client.Ask("PEXPIRE k 1"), ":0\r\n");
  EXPECT_EQ(client.Ask("EXPIRE k x"),
            "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(client.Ask("EXPIRE k 9223372036854775807"),
            "-ERR invalid expire time in 'expire' command\r\n");
  client.Ask("SET k v");
  EXPECT_EQ(client.Ask("EXPIREAT k 1"), ":1\r\n");
  EXPECT_EQ(client.Ask("EXISTS k"), ":0\r\n");
}

TEST_F(CommandsTest, Hello) {
  TestClient client = Connect();
  EXPECT_THAT(client.Ask("HELLO"), HasSubstr("*14\r\n$6\r\nserver\r\n"));
  EXPECT_THAT(client.Ask("HELLO 3 SETNAME me"),
              HasSubstr("%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n"));
  EXPECT_EQ(client.Ask("CLIENT GETNAME"), "$2\r\nme\r\n");
  EXPECT_EQ(client.Ask("GET k"), "_\r\n");
  EXPECT_EQ(client.Ask("CONFIG GET save"), "%1\r\n$4\r\nsave\r\n$0\r\n\r\n");
  EXPECT_EQ(client.Ask("HELLO 4"), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_EQ(client.Ask("HELLO x"),
            "-ERR Protocol version is not an integer or out of range\r\n");
  EXPECT_EQ(client.Ask("HELLO 2 bogus"),
            "-ERR Syntax error in HELLO option 'bogus'\r\n");
  EXPECT_THAT(client.Ask("HELLO 2 AUTH default x"), HasSubstr("*14\r\n"));
  EXPECT_THAT(client.Ask("HELLO 2 AUTH other x"), HasSubstr("-WRONGPASS"));
}

TEST_F(CommandsTest, Client) {
  TestClient a = Connect();
  TestClient b = Connect();
  EXPECT_EQ(a.Ask("CLIENT ID"), ":1\r\n");
  EXPECT_EQ(b.Ask("CLIENT ID"), ":2\r\n");
  EXPECT_EQ(a.Ask("CLIENT GETNAME"), "$-1\r\n");
  EXPECT_EQ(a.Ask("CLIENT SETNAME \"a b\""),
            "-ERR Client names cannot contain spaces, newlines or special "
            "characters.\r\n");
  EXPECT_EQ(a.Ask("CLIENT SETNAME alice"), "+OK\r\n");
  EXPECT_EQ(a.Ask("CLIENT SETINFO LIB-NAME test"), "+OK\r\n");
  EXPECT_THAT(b.Ask("CLIENT LIST"), HasSubstr("id=1 addr=test:1 name=alice "));
  EXPECT_THAT(a.Ask("CLIENT INFO"), HasSubstr("lib-name=test"));
  EXPECT_EQ(a.Ask("CLIENT KILL ID 99"), ":0\r\n");
  EXPECT_EQ(a.Ask("CLIENT KILL nobody:1"), "-ERR No such client\r\n");
  EXPECT_EQ(a.Ask("CLIENT KILL ID 0"),
            "-ERR client-id should be greater than 0\r\n");
  EXPECT_EQ(a.Ask("CLIENT BOGUS"),
            "-ERR unknown subcommand 'BOGUS'. Try CLIENT HELP.\r\n");
  EXPECT_EQ(a.Ask("CLIENT SETNAME"),
            "-ERR wrong number of arguments for 'client|setname' command\r\n");
  EXPECT_EQ(a.Ask("CLIENT KILL test:2"), "+OK\r\n");
  EXPECT_TRUE(b.HasEnded());
  EXPECT_EQ(a.Ask("CLIENT KILL ADDR test:1 SKIPME no"), ":1\r\n");
  EXPECT_TRUE(a.HasEnded());
}

TEST_F(CommandsTest, Server) {
  TestClient client = Connect();
  EXPECT_EQ(client.Ask("CONFIG GET appendonly"),
            "*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n");
  EXPECT_EQ(client.Ask("CONFIG GET nosuch"), "*0\r\n");
  EXPECT_EQ(client.Ask("CONFIG SET appendonly yes"),
            "-ERR CONFIG SET failed (possibly related to argument "
            "'appendonly') - can't set immutable config\r\n");
  EXPECT_EQ(client.Ask("CONFIG SET appendonly no"), "+OK\r\n");
  EXPECT_EQ(client.Ask("CONFIG SET nosuch 1"),
            "-ERR Unknown option or number of arguments for CONFIG SET - "
            "'nosuch'\r\n");
  EXPECT_EQ(client.Ask("CONFIG RESETSTAT"), "+OK\r\n");
  EXPECT_EQ(client.Ask("COMMAND DOCS"), "*0\r\n");
  EXPECT_EQ(client.Ask("COMMAND INFO nosuch mset"),
            "*2\r\n*-1\r\n*6\r\n$4\r\nmset\r\n:-3\r\n*1\r\n+write\r\n"
            ":1\r\n:-1\r\n:2\r\n");
  client.Ask("SET k v EX 10");
  EXPECT_THAT(client.Ask("INFO keyspace"),
              HasSubstr("# Keyspace\r\ndb0:keys=1,expires=1\r\n"));
  EXPECT_THAT(client.Ask("INFO"), HasSubstr("redis_version:7.0.15\r\n"));
  EXPECT_EQ(client.Ask("QUIT"), "+OK\r\n");
  EXPECT_EQ(client.Read(), "");
}

}  // namespace
}  // namespace mini_redis
