// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests when the codecs allocate memory.

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/command_decoder.h"
#include "rouse/examples/mini_redis/resp/value.h"
#include "rouse/examples/mini_redis/resp/value_decoder.h"
#include "rouse/testing/failing_allocations.h"

namespace mini_redis::resp {
namespace {

#ifdef ROUSE_CAN_FAIL_ALLOCATIONS

// Calls `call`, whose result must be true, and returns how many allocations the
// call makes.
template <class Call>
int CountAllocations(Call call) {
  const auto check = [](std::optional<bool> result) {
    if (result.has_value()) {
      EXPECT_TRUE(*result);
    }
  };
  return rouse::FailEachAllocation(call, check);
}

TEST(CodecsMemoryTest, AClaimedLengthOfARequestTakesNoMemory) {
  const auto decode = [] {
    CommandDecoder decoder;
    std::string_view bytes = "*1048576\r\n$67108864\r\nabc";
    const absl::StatusOr<std::optional<Command>> command =
        decoder.Decode(bytes);
    return command.ok() && !command->has_value() && bytes.empty() &&
           decoder.IsWithinRequest();
  };
  EXPECT_EQ(CountAllocations(decode), 0);
}

TEST(CodecsMemoryTest, AClaimedLengthOfAReplyTakesNoMemory) {
  const auto decode = [] {
    ValueDecoder decoder;
    std::string_view bytes = "$500000000\r\nabc";
    const absl::StatusOr<std::optional<Value>> value = decoder.Decode(bytes);
    return value.ok() && !value->has_value() && bytes.empty();
  };
  EXPECT_EQ(CountAllocations(decode), 0);
}

TEST(CodecsMemoryTest, AnArrayGrowsWithItsElementsOnly) {
  // The list of the arrays that are open, and the first element.
  const auto decode = [] {
    ValueDecoder decoder;
    std::string_view bytes = "*1000000\r\n:1\r\n";
    const absl::StatusOr<std::optional<Value>> value = decoder.Decode(bytes);
    return value.ok() && !value->has_value() && bytes.empty();
  };
  EXPECT_EQ(CountAllocations(decode), 2);
}

TEST(CodecsMemoryTest, ACommandThatIsUsedAgainTakesNoMemory) {
  const std::string_view request =
      "*3\r\n$3\r\nSET\r\n$10\r\nkey:000001\r\n$20\r\n01234567890123456789\r\n";
  CommandDecoder decoder;
  Command command;
  const auto decode = [&] {
    std::string_view bytes = request;
    return decoder.DecodeInto(bytes, command).value() && command.size() == 3;
  };
  // The decoder and the caller take turns with two commands.
  EXPECT_TRUE(decode());
  EXPECT_TRUE(decode());
  EXPECT_EQ(CountAllocations(decode), 0);
}

#endif  // ROUSE_CAN_FAIL_ALLOCATIONS

TEST(CodecsMemoryTest, AShortRequestIsWithinTheCommandItself) {
  CommandDecoder decoder;
  Command command;
  std::string_view bytes = "*2\r\n$3\r\nGET\r\n$10\r\nkey:000001\r\n";
  ASSERT_TRUE(decoder.DecodeInto(bytes, command).value());
  const auto* const begin = reinterpret_cast<const char*>(&command);
  EXPECT_GE(command[0].data(), begin);
  EXPECT_LT(command[0].data(), begin + sizeof(command));
}

}  // namespace
}  // namespace mini_redis::resp
