// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
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

// The prefix of a replay string: the version of the encoding.
constexpr std::string_view kReplayPrefix = "m2:";

constexpr std::string_view kNotDeterministic =
    "not deterministic: the body behaved differently although every decision "
    "was the same";

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

// Runs the execution that `decisions` describes, and records its trace.
Result Replay(const Options& options, std::string_view decisions,
              Mutation* mutation, absl::FunctionRef<void()> body,
              absl::FunctionRef<bool()> failed_otherwise) {
  Search search({.strategy = Strategy::kReplay, .replay = decisions});
  Execution execution(ExecutionConfig(options), search, mutation);
  execution.EnableTrace();
  Result result;
  const Execution::Outcome outcome = execution.Run(body);
  result.executions = 1;
  result.trace = execution.trace().Text();
  const bool failed_elsewhere = failed_otherwise();
  // An execution that fails can do so before the string's end, for example if
  // one bug has been fixed, but another has not.
  if (outcome != Execution::Outcome::kFailed && !failed_elsewhere) {
    search.EndExecution(execution.unfinished(), execution.next());
  }
  if (search.diverged()) {
    result.failed = true;
    result.message =
        "the replay string does not match the current model, or the body is "
        "not deterministic";
  } else if (outcome == Execution::Outcome::kFailed) {
    result.failed = true;
    result.message = execution.failure();
  } else if (failed_elsewhere) {
    result.failed = true;
    result.message = "an expectation failed";
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
        << "not a replay string of this version of the model checker: "
        << options.replay;
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
      result.message = "an expectation failed";
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
        &result.message, "\n  and ", kNotDeterministic, ": the second run ",
        replayed.failed ? absl::StrCat("fails differently: ", replayed.message)
                        : "passes");
    return result;
  }
  result.replay = absl::StrCat(kReplayPrefix, decisions);
  result.trace = replayed.trace;
  return result;
}

// Returns "Class::Function" for a compiler's name of a function.
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

// Describes in words how a mutant changes an operation.
std::string DescriptionOf(const Mutation::Change& change) {
  const std::string_view operation = [&change] {
    switch (change.place.role) {
      case Role::kLoad:
        return "load";
      case Role::kStore:
        return "store";
      case Role::kModify:
        return "modify";
      case Role::kFailure:
        return "failure";
      case Role::kFence:
        return "fence";
      case Role::kWake:
        return "wake";
      case Role::kCondition:
        return "condition";
      case Role::kCall:
        return "call";
      case Role::kOrder:
        return "steps";
    }
    return "?";
  }();
  switch (change.kind) {
    case Mutation::Kind::kWeaker:
      return absl::StrCat(operation, " ", Name(change.from), " -> ",
                          Name(change.to));
    case Mutation::Kind::kTorn:
      return "torn";
    case Mutation::Kind::kSkipped:
      return absl::StrCat(operation, " skipped");
    case Mutation::Kind::kAlwaysTrue:
      return absl::StrCat(operation, " always true");
    case Mutation::Kind::kAlwaysFalse:
      return absl::StrCat(operation, " always false");
    case Mutation::Kind::kNegated:
      return absl::StrCat(operation, " negated");
    case Mutation::Kind::kSwapped:
      return absl::StrCat(operation, " swapped");
  }
  return "?";
}

std::string NameOf(const Mutation::Change& change) {
  const std::string_view file = change.place.file;
  return absl::StrCat(ShortName(change.place.function), " at ",
                      file.substr(file.rfind('/') + 1), ":", change.place.line,
                      ": ", DescriptionOf(change));
}

// Returns the limit of executions for a mutant, which can have far more
// executions than the original. A mutant that is not killed within the limit is
// given to the next model.
uint64_t MostExecutions(uint64_t of_original, const Options& options) {
  return std::min(options.max_executions, 10 * of_original + 10'000);
}

// The limit of executions of a model that is run again after all mutants.
constexpr uint64_t kMostAgain = 1'000;

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
      absl::StrCat("requirement failed at ", file.substr(file.rfind('/') + 1),
                   ":", where.line(), what.empty() ? "" : ": ", what);
  Execution* execution = Execution::current();
  CHECK(execution != nullptr) << message;
  execution->Fail(std::move(message));
}

int Choose(int count) {
  CHECK(Execution::current() != nullptr)
      << "Choose() was called outside a model";
  return Execution::current()->Choose(count);
}

std::vector<Mutant> CheckMutants(
    const std::vector<Model>& models, std::string_view files,
    std::string_view except, absl::FunctionRef<bool()> failed_otherwise,
    absl::FunctionRef<bool(std::string_view)> is_wanted) {
  // The number of each model's executions; and for each change, the models that
  // run into the changed operation when no mutant is active. A change makes no
  // difference to the other models.
  std::vector<uint64_t> executions;
  std::map<Mutation::Change, std::vector<size_t>> models_of;
  const auto fails = [&](const Model& model, const Options& options,
                         Mutation* mutation) {
    const Result result =
        Explore(options, mutation, model.body, failed_otherwise);
    executions.push_back(result.executions + result.pruned);
    if (!result.failed) return false;
    LOG(ERROR) << "a model fails without a mutation: " << result.message;
    return true;
  };
  for (size_t i = 0; i < models.size(); ++i) {
    Mutation seen(files, except);
    if (fails(models[i], models[i].options, &seen)) return {};
    for (const Mutation::Change& change : seen.Changes()) {
      models_of[change].push_back(i);
    }
  }
  std::vector<Mutant> mutants;
  for (auto& [change, numbers] : models_of) {
    std::string name = NameOf(change);
    if (!is_wanted(name)) continue;
    Mutant& mutant = mutants.emplace_back();
    mutant.name = std::move(name);
    // The quickest models come first.
    std::ranges::sort(numbers, {},
                      [&](size_t i) { return std::pair(executions[i], i); });
    for (const size_t i : numbers) {
      Mutation mutation(change);
      Options options = models[i].options;
      options.max_executions = MostExecutions(executions[i], options);
      const Result result =
          Explore(options, &mutation, models[i].body, failed_otherwise);
      mutant.executions += result.executions + result.pruned;
      // A body that did something else says nothing about the mutant.
      if (!result.failed ||
          absl::StrContains(result.message, kNotDeterministic)) {
        continue;
      }
      mutant.killed = true;
      mutant.message = result.message;
      break;
    }
  }
  // An execution that fails stops where it is. It may have left plain static
  // data behind, which then "killed" all later mutants. Some executions of each
  // model show this: what is left behind affects the first execution already.
  const auto fails_now = [&](const Model& model) {
    Options options = model.options;
    options.max_executions = std::min(options.max_executions, kMostAgain);
    return fails(model, options, nullptr);
  };
  if (std::ranges::any_of(mutants, &Mutant::killed) &&
      std::ranges::any_of(models, fails_now)) {
    return {};
  }
  return mutants;
}

}  // namespace rouse::model
