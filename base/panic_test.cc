// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/panic.h"

#include <stdexcept>
#include <string>

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

#ifdef ABSL_HAVE_EXCEPTIONS

using ::testing::StrEq;
using ::testing::ThrowsMessage;

TEST(Panic, ThrowsWithTheMessage) {
  EXPECT_THAT([] { Panic("a finished future was polled; make another"); },
              ThrowsMessage<PanicError>(
                  StrEq("a finished future was polled; make another")));
}

TEST(Panic, IsAProgrammingErrorToStd) {
  EXPECT_THROW(Panic("x"), std::logic_error);
}

TEST(Panic, CopiesTheMessage) {
  std::string message(100, 'x');
  try {
    Panic(message);
  } catch (const PanicError& error) {
    const std::string copy = message;
    message.assign(100, 'y');
    EXPECT_EQ(error.what(), copy);
  }
}

#else

TEST(PanicDeathTest, LogsTheMessageAndAborts) {
  EXPECT_DEATH(Panic("a finished future was polled; make another"),
               "a finished future was polled; make another");
}

#endif

}  // namespace
}  // namespace rouse
