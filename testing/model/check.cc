// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/check.h"

#include <algorithm>
#include <cstddef>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/log/check.h"
#include "absl/log/log.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "rouse/testing/model/execution.h"
#include "rouse/testing/model/fiber.h"
#include "rouse/testing/model/mutation.h"
#include "rouse/testing/model/search.h"

namespace rouse::model {
namespace {

// What a replay string begins with: the version of its encoding.
constexpr std::string_view kReplayPrefix = "m2:";

constexpr std::string_view kNotDeterministic =
    "not deterministic: the body did not do the same again, though every "
    "decision was the same";

Strategy StrategyOf(Mode mode) {
  switch (mode) {
    case Mode::kExhaustive:
      return Strategy::kReduced;
    case Mode::kNaive:
      return Strategy::kNaive;
    case Mode::kBounded:
      return Strategy::kBounded;
    case Mode::kRandom:
      return Strategy::kRandom;
  }
  return Strategy::kReduced;
}

Execution::Config ExecutionConfig(const Options& options) {
  return {.max_steps = options.max_steps,
          .spurious_failures = options.spurious_failures,
          .fibers = options.system_threads ? Fiber::Kind::kThread
                                           : Fiber::Kind::kStack};
}

// Runs the execution that `decisions` says, and writes its trace down.
Result Replay(const Options& options, std::string_view decisions,
              Mutation* mutation, absl::FunctionRef<void()> body,
              absl::FunctionRef<bool()> failed_otherwise) {
  Search search({.strategy = Strategy::kReplay, .replay = decisions});
  Execution execution(ExecutionConfig(options), search, mutation);
  execution.EnableTrace();
  Result result;
  const Execution::Outcome outcome = execution.Run(body);
  result.executions = 1;
  result.trace = execution.Trace();
  const bool failed_elsewhere = failed_otherwise();
  // One that fails may well do so before the string's end: something has been
  // mended, and something else not.
  if (outcome != Execution::Outcome::kFailed && !failed_elsewhere) {
    search.EndExecution(execution.unfinished(), execution.next());
  }
  if (search.diverged()) {
    result.failed = true;
    result.message =
        "the replay string is not one of this model as it is now, or the body "
        "is not deterministic";
  } else if (outcome == Execution::Outcome::kFailed) {
    result.failed = true;
    result.message = execution.failure();
  } else if (failed_elsewhere) {
    result.failed = true;
    result.message = "an expectation does not hold";
  }
  return result;
}

Result Explore(const Options& options, Mutation* mutation,
               absl::FunctionRef<void()> body,
               absl::FunctionRef<bool()> failed_otherwise) {
  if (!options.replay.empty()) {
    std::string_view decisions = options.replay;
    CHECK(absl::ConsumePrefix(&decisions, kReplayPrefix) &&
          Search::CanDecode(decisions))
        << "not a replay string of this version: " << options.replay;
    return Replay(options, decisions, mutation, body, failed_otherwise);
  }

  Search search({.strategy = StrategyOf(options.mode),
                 .preemptions = options.preemption_bound,
                 .depth = options.pct_depth,
                 .seed = options.seed,
                 .replay = {}});
  Execution execution(ExecutionConfig(options), search, mutation);
  const bool timed = options.max_time != absl::InfiniteDuration();
  const absl::Time deadline = absl::Now() + options.max_time;
  Result result;
  for (;;) {
    const Execution::Outcome outcome = execution.Run(body);
    ++(outcome == Execution::Outcome::kPruned ? result.pruned
                                              : result.executions);
    if (outcome == Execution::Outcome::kFailed) {
      result.failed = true;
      result.message = execution.failure();
    } else if (failed_otherwise()) {
      result.failed = true;
      result.message = "an expectation does not hold";
    }
    if (result.failed) break;
    const bool more =
        search.EndExecution(execution.unfinished(), execution.next());
    if (search.diverged()) {
      result.failed = true;
      result.message = kNotDeterministic;
      return result;
    }
    if (!more) {
      result.complete = !search.truncated();
      return result;
    }
    if (result.executions + result.pruned >= options.max_executions ||
        (timed && absl::Now() > deadline)) {
      return result;
    }
  }

  const std::string decisions = search.Encoded();
  const Result replayed =
      Replay(options, decisions, mutation, body, failed_otherwise);
  if (replayed.message != result.message) {
    // A trace of something else would mislead.
    absl::StrAppend(
        &result.message, "\n  and ", kNotDeterministic, ": run again, it ",
        replayed.failed ? absl::StrCat("fails otherwise: ", replayed.message)
                        : "passes");
    return result;
  }
  result.replay = absl::StrCat(kReplayPrefix, decisions);
  result.trace = replayed.trace;
  return result;
}

// "Class::Function", of what a compiler calls a function.
std::string ShortName(std::string_view function) {
  std::string name;
  int depth = 0;
  for (const char c : absl::StrReplaceAll(
           function, {{"(anonymous namespace)", "anonymous"}})) {
    if (c == '(' && depth == 0) break;
    if (c == '<') ++depth;
    if (depth == 0) name += c == ' ' ? ':' : c;
    if (c == '>') --depth;
  }
  const std::vector<std::string_view> parts =
      absl::StrSplit(name, ':', absl::SkipEmpty());
  const size_t from = parts.size() < 2 ? 0 : parts.size() - 2;
  return absl::StrJoin(parts.begin() + static_cast<ptrdiff_t>(from),
                       parts.end(), "::");
}

std::string NameOf(const Mutation::Change& change) {
  const std::string_view file = change.place.file;
  std::string name = absl::StrCat(ShortName(change.place.function), " at ",
                                  file.substr(file.rfind('/') + 1), ":",
                                  change.place.line, ": ");
  if (change.torn) return absl::StrCat(name, "torn");
  switch (change.place.role) {
    case Role::kLoad:
      absl::StrAppend(&name, "load ");
      break;
    case Role::kStore:
      absl::StrAppend(&name, "store ");
      break;
    case Role::kModify:
      absl::StrAppend(&name, "modify ");
      break;
    case Role::kFailure:
      absl::StrAppend(&name, "failure ");
      break;
    case Role::kFence:
      absl::StrAppend(&name, "fence ");
      break;
  }
  return absl::StrCat(name, Name(change.from), " -> ", Name(change.to));
}

}  // namespace

Result Check(const Options& options, absl::FunctionRef<void()> body,
             absl::FunctionRef<bool()> failed_otherwise) {
  return Explore(options, nullptr, body, failed_otherwise);
}

void Require(bool condition, std::string_view what,
             std::source_location where) {
  if (condition) return;
  const std::string_view file = where.file_name();
  std::string message =
      absl::StrCat("required at ", file.substr(file.rfind('/') + 1), ":",
                   where.line(), what.empty() ? "" : ": ", what);
  Execution* execution = Execution::current();
  CHECK(execution != nullptr) << message;
  execution->Fail(std::move(message));
}

int Choose(int count) {
  CHECK(Execution::current() != nullptr) << "Choose() is for models";
  return Execution::current()->Choose(count);
}

std::vector<Mutant> CheckMutants(const std::vector<Model>& models,
                                 std::string_view files,
                                 std::string_view except,
                                 absl::FunctionRef<bool()> failed_otherwise) {
  Mutation seen{std::string(files), std::string(except)};
  const auto original_fails = [&] {
    for (const Model& model : models) {
      const Result result =
          Explore(model.options, &seen, model.body, failed_otherwise);
      if (!result.failed) continue;
      LOG(ERROR) << "a model fails without any mutation: " << result.message;
      return true;
    }
    return false;
  };
  if (original_fails()) return {};
  std::vector<Mutant> mutants;
  for (const Mutation::Change& change : seen.Changes()) {
    Mutant& mutant = mutants.emplace_back();
    mutant.name = NameOf(change);
    for (const Model& model : models) {
      Mutation mutation{std::string(files), std::string(except)};
      mutation.Apply(change);
      const Result result =
          Explore(model.options, &mutation, model.body, failed_otherwise);
      mutant.executions += result.executions + result.pruned;
      // That the body did something else says nothing about the mutant.
      if (!result.failed ||
          absl::StrContains(result.message, kNotDeterministic)) {
        continue;
      }
      mutant.killed = true;
      mutant.message = result.message;
      break;
    }
  }
  // An execution that fails stops where it is. Plain static data that it leaves
  // behind may have "killed" all that came after it.
  const bool any_killed = std::ranges::any_of(mutants, &Mutant::killed);
  if (any_killed && original_fails()) return {};
  return mutants;
}

}  // namespace rouse::model
