// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/log/vlog.h"

#include <cerrno>
#include <new>
#include <string>
#include <vector>

#include "absl/base/config.h"
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

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_F(VlogTest, AnExceptionLosesOnlyTheMessage) {
  SetVlog(1, [](const VlogMessage&) { throw std::bad_alloc(); });
  errno = ENOENT;
  ROUSE_VLOG(1, "text");
  EXPECT_EQ(errno, ENOENT);
}
#endif

TEST_F(VlogTest, KeepsErrno) {
  SetVlog(1, [](const VlogMessage&) { errno = EINVAL; });
  errno = ENOENT;
  ROUSE_VLOG(1, "text");
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(VlogTest, TurningOffKeepsTheSinkForMessagesUnderWay) {
  SetVlog(1, &Keep);
  SetVlog(0);
  internal::Vlog({1, "late", "vlog_test.cc", 1});
  EXPECT_THAT(Logged(), ElementsAre("1: late"));
}

}  // namespace
}  // namespace rouse
