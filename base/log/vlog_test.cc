// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/log/vlog.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;

std::vector<std::string>& Logged() {
  static std::vector<std::string> logged;
  return logged;
}

void Keep(const VlogMessage& message) {
  Logged().push_back(absl::StrCat(message.level, ": ", message.text));
  EXPECT_THAT(message.file, EndsWith("vlog_test.cc"));
  EXPECT_GT(message.line, 0);
}

class VlogTest : public testing::Test {
 protected:
  ~VlogTest() override {
    SetVlog(0);
    Logged().clear();
  }
};

TEST_F(VlogTest, LogsNothingAtFirst) {
  testing::internal::CaptureStderr();
  ROUSE_VLOG(1, "text");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(VlogTest, LogsUpToTheLevel) {
  SetVlog(2, &Keep);
  ROUSE_VLOG(1, "one ", 1);
  ROUSE_VLOG(2, "two");
  ROUSE_VLOG(3, "three");
  EXPECT_THAT(Logged(), ElementsAre("1: one 1", "2: two"));
  SetVlog(0, &Keep);
  ROUSE_VLOG(1, "off");
  EXPECT_EQ(Logged().size(), 2u);
}

TEST_F(VlogTest, ArgumentsAreEvaluatedOnlyIfTheLevelIsOn) {
  int calls = 0;
  const auto text = [&calls] {
    ++calls;
    return "text";
  };
  SetVlog(1, &Keep);
  ROUSE_VLOG(2, text());
  EXPECT_EQ(calls, 0);
  ROUSE_VLOG(1, text());
  EXPECT_EQ(calls, 1);
}

TEST_F(VlogTest, WithoutASinkWritesToStderr) {
  testing::internal::CaptureStderr();
  SetVlog(1);
  ROUSE_VLOG(1, "text");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "rouse: text\n");
  EXPECT_THAT(Logged(), IsEmpty());
}

}  // namespace
}  // namespace rouse
