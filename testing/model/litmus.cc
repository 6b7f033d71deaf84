// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/litmus.h"

#include <cctype>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model::litmus {
namespace {

Outcomes OutcomesOf(const Litmus& litmus, Mode mode) {
  Outcomes outcomes;
  const Result result =
      Check({.mode = mode, .spurious_failures = litmus.spurious_failures}, [&] {
        Shared shared;
        {
          std::vector<Thread> threads;
          for (const Body& body : litmus.threads) {
            threads.emplace_back([&] { body(shared); });
          }
        }
        std::string outcome;
        for (const char name : litmus.observed) {
          absl::StrAppend(&outcome, shared.Value(name));
        }
        outcomes.insert(std::move(outcome));
      });
  EXPECT_FALSE(result.failed) << result.message << "\n" << result.trace;
  EXPECT_TRUE(result.complete);
  return outcomes;
}

}  // namespace

void PrintTo(const Litmus& litmus, std::ostream* out) { *out << litmus.name; }

Outcomes Only(std::string_view outcomes) {
  return absl::StrSplit(outcomes, ' ');
}

Outcomes AllBut(std::string_view forbidden, int count, int base) {
  Outcomes outcomes = {""};
  for (int i = 0; i < count; ++i) {
    Outcomes longer;
    for (const std::string& outcome : outcomes) {
      for (int value = 0; value < base; ++value) {
        longer.insert(absl::StrCat(outcome, value));
      }
    }
    outcomes = std::move(longer);
  }
  for (const std::string_view outcome : absl::StrSplit(forbidden, ' ')) {
    outcomes.erase(std::string(outcome));
  }
  return outcomes;
}

std::string NameOf(const testing::TestParamInfo<Litmus>& info) {
  std::string name;
  bool upper = true;
  for (const char c : info.param.name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      upper = true;
      continue;
    }
    name += static_cast<char>(
        upper ? std::toupper(static_cast<unsigned char>(c)) : c);
    upper = false;
  }
  return name;
}

TEST_P(LitmusTest, HasTheExpectedOutcomes) {
  EXPECT_EQ(OutcomesOf(GetParam(), Mode::kExhaustive), GetParam().outcomes);
}
TEST_P(LitmusTest, HasTheExpectedOutcomesWithoutReduction) {
  EXPECT_EQ(OutcomesOf(GetParam(), Mode::kNaive), GetParam().outcomes);
}

}  // namespace rouse::model::litmus
