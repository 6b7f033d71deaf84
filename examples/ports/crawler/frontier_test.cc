// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/ports/crawler/frontier.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/examples/ports/crawler/url.h"
#include "rouse/rouse.h"
#include "rouse/testing/poll_once.h"

namespace crawler {
namespace {

using ::testing::ElementsAre;

Url At(const std::string& text) { return Url::Parse(text).value(); }

class FrontierTest : public testing::Test {
 protected:
  // Polls for a job, and returns its URL, "end" or "pending".
  std::string Next() {
    auto polled = rouse::PollNextOnce(frontier_);
    if (!polled.IsReady()) return "pending";
    if (!polled->has_value()) return "end";
    jobs_.push_back(**std::move(polled));
    return jobs_.back().url.ToString();
  }
  void Done(size_t i) { frontier_.Done(jobs_[i]); }

  Frontier frontier_{2};
  std::vector<Job> jobs_;
};

TEST_F(FrontierTest, EndsWithoutJobs) {
  EXPECT_EQ(Next(), "end");
  EXPECT_EQ(Next(), "end");
}

TEST_F(FrontierTest, GivesEachUrlOnce) {
  EXPECT_TRUE(frontier_.Add(At("http://a/"), 0));
  EXPECT_FALSE(frontier_.Add(At("http://A:80/#top"), 1));
  EXPECT_EQ(Next(), "http://a/");
  EXPECT_EQ(Next(), "pending");
  EXPECT_FALSE(frontier_.Add(At("http://a/"), 1));
  EXPECT_TRUE(frontier_.Add(At("http://a/b"), 1));
  Done(0);
  EXPECT_EQ(Next(), "http://a/b");
  EXPECT_EQ(jobs_[1].depth, 1u);
  Done(1);
  EXPECT_EQ(Next(), "end");
}

TEST_F(FrontierTest, LimitsTheJobsOfEachHost) {
  for (const char* path : {"1", "2", "3", "4"}) {
    frontier_.Add(At(std::string("http://a/") + path), 0);
    frontier_.Add(At(std::string("http://b/") + path), 0);
  }
  EXPECT_EQ(frontier_.waiting(), 8u);
  std::vector<std::string> urls;
  for (int i = 0; i < 5; ++i) urls.push_back(Next());
  EXPECT_THAT(urls, ElementsAre("http://a/1", "http://b/1", "http://a/2",
                                "http://b/2", "pending"));
  EXPECT_EQ(frontier_.running(), 4u);
  Done(1);
  EXPECT_EQ(Next(), "http://b/3");
  EXPECT_EQ(Next(), "pending");
  // Another port is another host.
  frontier_.Add(At("http://a:81/"), 0);
  EXPECT_EQ(Next(), "http://a:81/");
  EXPECT_EQ(frontier_.hosts(), 3u);
  EXPECT_EQ(frontier_.waiting(), 3u);
}

}  // namespace
}  // namespace crawler
