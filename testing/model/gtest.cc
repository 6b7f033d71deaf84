// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/gtest.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/check.h"

namespace rouse::model::internal {
namespace {

std::map<std::string, std::vector<Model>, std::less<>>& Models() {
  static auto& models =
      *new std::map<std::string, std::vector<Model>, std::less<>>;
  return models;
}

std::string_view Extent(const Options& options, const Result& result) {
  if (!options.replay.empty()) return "replayed";
  if (result.failed) return "failed";
  if (options.mode == Mode::kRandom) return "at random";
  if (!result.complete) return "cut off";
  return options.mode == Mode::kBounded ? "bounded" : "exhaustive";
}

std::string Report(const Result& result) {
  return absl::StrCat(
      result.message, "\n  after ", result.executions + result.pruned,
      " executions, in this execution (the threads' steps in order):\n",
      result.trace,
      result.replay.empty()
          ? ""
          : absl::StrCat("  to replay this execution: ROUSE_MODEL_REPLAY=",
                         result.replay));
}

// Splits an entry into a part of mutants' names, and the reason why the mutants
// survive.
std::pair<std::string_view, std::string_view> SplitEntry(
    std::string_view entry) {
  const size_t colon = entry.rfind(':');
  if (colon == std::string_view::npos) return {entry, ""};
  return {entry.substr(0, colon),
          absl::StripLeadingAsciiWhitespace(entry.substr(colon + 1))};
}

}  // namespace

bool Register(std::string_view suite, const Model& model) {
  Models()[std::string(suite)].push_back(model);
  return true;
}

void RunTest(const Options& options, void (*body)()) {
  Options with_replay = options;
  if (const char* replay = std::getenv("ROUSE_MODEL_REPLAY")) {
    with_replay.replay = replay;
  }
  const absl::Time start = absl::Now();
  const Result result =
      Check(with_replay, body, [] { return testing::Test::HasFailure(); });
  const std::string_view extent = Extent(with_replay, result);
  std::cout << "[  MODEL   ] " << result.executions << " executions, "
            << result.pruned << " pruned, " << extent << ", "
            << absl::ToInt64Milliseconds(absl::Now() - start) << " ms\n";
  testing::Test::RecordProperty("executions", absl::StrCat(result.executions));
  testing::Test::RecordProperty("pruned", absl::StrCat(result.pruned));
  testing::Test::RecordProperty("extent", std::string(extent));
  if (result.failed) {
    GTEST_FAIL() << Report(result);
  } else if (extent == "cut off") {
    GTEST_FAIL() << "cut off after " << result.executions + result.pruned
                 << " executions; make the model smaller, choose another mode, "
                    "or raise the limit";
  }
}

void RunMutants(std::string_view suite, std::string_view files,
                std::string_view test_file,
                const std::vector<std::string_view>& survivors) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || \
    defined(ABSL_HAVE_THREAD_SANITIZER) ||  \
    ABSL_HAVE_FEATURE(undefined_behavior_sanitizer)
  GTEST_SKIP() << "a sanitizer could end the program because of a mutant";
#endif
  const auto models = Models().find(suite);
  ASSERT_NE(models, Models().end()) << "no models in suite " << suite;
  const absl::Time start = absl::Now();
  const std::string_view except =
      absl::EndsWith(test_file, files) ? "" : test_file;
  std::vector<bool> met(survivors.size());
  // Returns false for a mutant that is left to another test.
  const auto is_wanted = [&](std::string_view mutant) {
    bool wanted = true;
    for (size_t i = 0; i < survivors.size(); ++i) {
      const auto [name, reason] = SplitEntry(survivors[i]);
      if (!absl::StartsWith(reason, "killed by ") ||
          !absl::StrContains(mutant, name)) {
        continue;
      }
      met[i] = true;
      wanted = false;
    }
    return wanted;
  };
  // Expectations in the bodies fail if a mutant is killed. This array catches
  // the failures.
  testing::TestPartResultArray caught;
  std::vector<Mutant> mutants;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::
            INTERCEPT_ONLY_CURRENT_THREAD,
        &caught);
    int seen = 0;
    mutants = CheckMutants(
        models->second, files, except,
        [&] {
          const bool failed = caught.size() > seen;
          seen = caught.size();
          return failed;
        },
        is_wanted);
  }
  EXPECT_FALSE(mutants.empty())
      << "no operation in " << files
      << ", or a model fails without a mutation: before the mutants, or after "
         "them because a mutant changed plain static data";

  int killed = 0;
  int64_t executions = 0;
  for (const Mutant& mutant : mutants) {
    executions += static_cast<int64_t>(mutant.executions);
    bool tolerated = false;
    for (size_t i = 0; i < survivors.size(); ++i) {
      if (!absl::StrContains(mutant.name, SplitEntry(survivors[i]).first)) {
        continue;
      }
      tolerated = true;
      if (!mutant.killed) met[i] = true;
    }
    if (mutant.killed) {
      ++killed;
      std::cout << "[  KILLED  ] " << mutant.name << ": "
                << mutant.message.substr(0, mutant.message.find('\n')) << "\n";
    } else if (tolerated) {
      std::cout << "[ SURVIVES ] " << mutant.name << " (as expected)\n";
    } else {
      ADD_FAILURE() << "no model of " << suite << " kills the mutant "
                    << mutant.name;
    }
  }
  for (size_t i = 0; i < survivors.size(); ++i) {
    EXPECT_TRUE(met[i]) << "no surviving mutant matches the expected survivor: "
                        << survivors[i];
  }
  std::cout << "[  MODEL   ] " << killed << " of " << mutants.size()
            << " mutants killed, " << executions << " executions, "
            << absl::ToInt64Milliseconds(absl::Now() - start) << " ms\n";
  testing::Test::RecordProperty("mutants", absl::StrCat(mutants.size()));
  testing::Test::RecordProperty("killed", killed);
}

}  // namespace rouse::model::internal
