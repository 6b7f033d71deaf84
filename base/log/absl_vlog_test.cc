// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/log/absl_vlog.h"

#include <string>
#include <vector>

#include "absl/base/log_severity.h"
#include "absl/log/globals.h"
#include "absl/log/log_entry.h"
#include "absl/log/log_sink.h"
#include "absl/log/log_sink_registry.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/log/vlog.h"

namespace rouse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Keeps the messages of absl/log.
class Kept : public absl::LogSink {
 public:
  void Send(const absl::LogEntry& entry) override {
    EXPECT_EQ(entry.log_severity(), absl::LogSeverity::kInfo);
    messages_.push_back(absl::StrCat(entry.source_basename(), " ",
                                     entry.verbosity(), " ",
                                     entry.text_message()));
  }

  const std::vector<std::string>& messages() const { return messages_; }

 private:
  std::vector<std::string> messages_;
};

class AbslVlogTest : public testing::Test {
 protected:
  AbslVlogTest() { absl::AddLogSink(&kept_); }
  ~AbslVlogTest() override {
    absl::RemoveLogSink(&kept_);
    SetVlog(0);
  }

  Kept kept_;
};

TEST_F(AbslVlogTest, SendsMessagesWithTheirPlaceAndLevel) {
  VlogToAbsl(2);
  ROUSE_VLOG(1, "one");
  ROUSE_VLOG(2, "two");
  ROUSE_VLOG(3, "three");
  EXPECT_THAT(kept_.messages(), ElementsAre("absl_vlog_test.cc 1 one",
                                            "absl_vlog_test.cc 2 two"));
}

TEST_F(AbslVlogTest, TakesTheLevelOfAbseil) {
  VlogToAbsl();
  ROUSE_VLOG(1, "off");
  EXPECT_THAT(kept_.messages(), IsEmpty());
  absl::SetVLogLevel("absl_vlog", 1);
  VlogToAbsl();
  ROUSE_VLOG(1, "one");
  ROUSE_VLOG(2, "two");
  EXPECT_THAT(kept_.messages(), ElementsAre("absl_vlog_test.cc 1 one"));
}

}  // namespace
}  // namespace rouse
