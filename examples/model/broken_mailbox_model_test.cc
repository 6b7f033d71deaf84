// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the checker finds the bug, and prints the message quoted by
// docs/guide/model.md. mailbox_model_test.cc is a test that must pass.

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/model/broken_mailbox.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/thread.h"

namespace rouse::examples {
namespace {

using model::Check;
using model::Require;
using model::Result;
using model::Thread;
using testing::HasSubstr;

void ALetterArrives() {
  BrokenMailbox mailbox;
  Thread sender([&] { mailbox.Put(42); });
  if (std::optional<int> letter = mailbox.Take()) Require(*letter == 42);
}

TEST(BrokenMailboxTest, TheBugIsFound) {
  const Result result = Check({}, &ALetterArrives);
  EXPECT_TRUE(result.failed);
  EXPECT_EQ(result.message,
            "data race: thread 0 reads plain data at broken_mailbox.h:36, and "
            "thread 1 wrote it at broken_mailbox.h:29; neither happens before "
            "the other");
  EXPECT_THAT(result.trace, HasSubstr("thread 1  writes plain data  "
                                      "[broken_mailbox.h:29]\n"));
  EXPECT_THAT(result.trace, HasSubstr(".store(1, relaxed)  "
                                      "[broken_mailbox.h:30]\n"));
  EXPECT_THAT(result.trace, HasSubstr(".load(acquire) = 1, of step 2  "
                                      "[broken_mailbox.h:35]\n"));
}

TEST(BrokenMailboxTest, TheBugIsReplayed) {
  const Result result = Check({.replay = "m2:1100"}, &ALetterArrives);
  EXPECT_TRUE(result.failed);
  EXPECT_EQ(result.executions, 1);
  EXPECT_EQ(result.message, Check({}, &ALetterArrives).message);
}

}  // namespace
}  // namespace rouse::examples
