// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs random trees of coroutines and combinators against a reference that
// knows nothing of either: the reference computes from the tree what the result
// is, and at which poll it comes. Each tree is run to completion, and destroyed
// after a random number of polls. Every local must be destroyed once, innermost
// first.
//
// A failure names its seed. `--gtest_random_seed` and `--gtest_shuffle` try
// other seeds.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/co/co.h"
#include "rouse/future/co/gen.h"
#include "rouse/future/combine/join.h"
#include "rouse/future/combine/race.h"
#include "rouse/future/combine/select.h"
#include "rouse/future/combine/try_join.h"
#include "rouse/future/coro_attributes.h"
#include "rouse/future/many/join_all.h"
#include "rouse/future/or_return.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/stream.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

constexpr int kModulus = 1'000'003;

// ---- What a tree is -------------------------------------------------------

enum class Kind {
  kLeaf,         // pending `polls` times, then returns or throws `value`
  kSequence,     // runs one child after the other
  kChain,        // `value` coroutines around the one child
  kByReference,  // a child that is a separate root
  kMoved,        // a separate root, moved before every poll
  kUnstarted,    // never polled
  kGenerator,    // yields the children's values
  kOrReturn,     // a child whose value may be an error
  kCatch,        // a child whose exception is caught
  kJoin,
  kJoinAll,
  kTryJoin,
  kSelectBiased,
  kSelect,
  kRace,
};

struct Node {
  Kind kind = Kind::kLeaf;
  int polls = 0;
  int value = 0;
  bool throws = false;
  std::vector<Node> children;
};

// Describes the result of a node: `polls` times pending, then a value or an
// exception.
struct Outcome {
  int polls = 0;
  bool throws = false;
  int value = 0;
};

int Mix(int a, int b) {
  return static_cast<int>((int64_t{a} * 31 + b) % kModulus);
}

// Returns whether `kOrReturn` and `kTryJoin` take `value` for an error.
bool IsError(int value) { return value % 5 == 0; }

// ---- The reference --------------------------------------------------------

Outcome Evaluate(const Node& node);

// Evaluates children that are all polled in every poll. Each poll begins with
// the next child if `rotates` is set, or else with the first child. Errors end
// the join only if `errors` is set.
Outcome EvaluateJoin(const std::vector<Node>& children, bool rotates,
                     bool errors) {
  std::vector<Outcome> outcomes;
  for (const Node& child : children) outcomes.push_back(Evaluate(child));
  const int n = static_cast<int>(children.size());
  int left = n;
  for (int round = 0;; ++round) {
    for (int i = 0; i < n; ++i) {
      const Outcome& outcome = outcomes[((rotates ? round : 0) + i) % n];
      if (outcome.polls != round) continue;
      if (outcome.throws) return outcome;
      if (errors && IsError(outcome.value)) return {round, false, 9};
      --left;
    }
    if (left > 0) continue;
    Outcome all = {round, false, 0};
    for (const Outcome& o : outcomes) all.value = Mix(all.value, o.value);
    return all;
  }
}

Outcome EvaluateSequence(const std::vector<Node>& children) {
  Outcome all;
  for (const Node& child : children) {
    const Outcome outcome = Evaluate(child);
    all.polls += outcome.polls;
    if (outcome.throws) return {all.polls, true, outcome.value};
    all.value = Mix(all.value, outcome.value);
  }
  return all;
}

Outcome Evaluate(const Node& node) {
  switch (node.kind) {
    case Kind::kLeaf:
      return {node.polls, node.throws, node.value};
    case Kind::kSequence:
    case Kind::kGenerator:
      return EvaluateSequence(node.children);
    case Kind::kUnstarted:
      return {0, false, node.value};
    case Kind::kChain: {
      Outcome outcome = Evaluate(node.children[0]);
      if (!outcome.throws)
        outcome.value = (outcome.value + node.value) % kModulus;
      return outcome;
    }
    case Kind::kByReference:
    case Kind::kMoved:
      return Evaluate(node.children[0]);
    case Kind::kOrReturn: {
      Outcome outcome = Evaluate(node.children[0]);
      if (!outcome.throws && IsError(outcome.value)) outcome.value = 7;
      return outcome;
    }
    case Kind::kCatch: {
      Outcome outcome = Evaluate(node.children[0]);
      outcome.throws = false;
      return outcome;
    }
    case Kind::kJoin:
      return EvaluateJoin(node.children, /*rotates=*/true, /*errors=*/false);
    case Kind::kJoinAll:
      return EvaluateJoin(node.children, /*rotates=*/false, /*errors=*/false);
    case Kind::kTryJoin:
      return EvaluateJoin(node.children, /*rotates=*/true, /*errors=*/true);
    case Kind::kSelectBiased:
    case Kind::kSelect:
    case Kind::kRace: {
      Outcome first = Evaluate(node.children[0]);
      int winner = 0;
      for (int i = 1; i < 3; ++i) {
        const Outcome outcome = Evaluate(node.children[i]);
        if (outcome.polls >= first.polls) continue;
        first = outcome;
        winner = i;
      }
      if (!first.throws && node.kind != Kind::kRace) {
        first.value = Mix(winner, first.value);
      }
      return first;
    }
  }
  return {};
}

// ---- Random trees ---------------------------------------------------------

Node MakeLeaf(FastRand& rand, int polls) {
  Node leaf;
  leaf.polls = polls;
  leaf.value = static_cast<int>(rand.Below(1000));
#ifdef ABSL_HAVE_EXCEPTIONS
  leaf.throws = rand.Below(12) == 0;
#endif
  return leaf;
}

Node MakeTree(FastRand& rand, int depth) {
  if (depth == 0 || rand.Below(6) == 0) {
    return MakeLeaf(rand, static_cast<int>(rand.Below(4)));
  }
  Node node;
  node.kind = static_cast<Kind>(1 + rand.Below(14));
  node.value = static_cast<int>(rand.Below(100));
  size_t children = 1;
  switch (node.kind) {
    case Kind::kSequence:
    case Kind::kGenerator:
    case Kind::kJoinAll:
      children = 1 + rand.Below(4);
      break;
    case Kind::kJoin:
    case Kind::kTryJoin:
    case Kind::kSelectBiased:
    case Kind::kSelect:
    case Kind::kRace:
      children = 3;
      break;
    default:
      break;
  }
  for (size_t i = 0; i < children; ++i) {
    node.children.push_back(MakeTree(rand, depth - 1));
  }
  if (node.kind == Kind::kSelect || node.kind == Kind::kRace) {
    // The reference could not tell the result if any arm might win, so no two
    // arms are ready at the same poll.
    for (int i = 0; i < 3; ++i) {
      Node wait = MakeLeaf(rand, 0);
      wait.throws = false;
      const int polls = Evaluate(node.children[i]).polls;
      wait.polls = (i + 3 - polls % 3) % 3;
      Node sequence;
      sequence.kind = Kind::kSequence;
      sequence.children.push_back(std::move(wait));
      sequence.children.push_back(std::move(node.children[i]));
      node.children[i] = std::move(sequence);
    }
  }
  return node;
}

// ---- The tree as coroutines -----------------------------------------------

int live_objects = 0;

// Exists once for each running coroutine, before the coroutine's other locals.
class Scope {
 public:
  explicit Scope(Scope* parent) : parent_(parent) {
    ++live_objects;
    if (parent_ != nullptr) ++parent_->children_;
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    EXPECT_TRUE(locals_.empty());
    EXPECT_EQ(children_, 0) << "a caller's locals went before its callee's";
    if (parent_ != nullptr) --parent_->children_;
    --live_objects;
  }

 private:
  friend class Tracked;

  Scope* const parent_;
  int children_ = 0;
  std::vector<const void*> locals_;
};

class Tracked {
 public:
  explicit Tracked(Scope& scope) : scope_(scope) {
    ++live_objects;
    scope_.locals_.push_back(this);
  }
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;
  ~Tracked() {
    EXPECT_EQ(scope_.children_, 0) << "a caller's local went before a callee's";
    --live_objects;
    if (scope_.locals_.empty() || scope_.locals_.back() != this) {
      ADD_FAILURE() << "destroyed twice or out of order";
    } else {
      scope_.locals_.pop_back();
    }
  }

 private:
  Scope& scope_;
};

class Leaf {
 public:
  explicit Leaf(const Node& node) : node_(node), left_(node.polls) {
    ++live_objects;
  }
  Leaf(const Leaf&) = delete;
  Leaf& operator=(const Leaf&) = delete;
  ~Leaf() { --live_objects; }

  PollResult<int> Poll(Context& cx) {
    if (left_-- > 0) {
      cx.waker().WakeByRef();
      return kPending;
    }
#ifdef ABSL_HAVE_EXCEPTIONS
    if (node_.throws) throw std::runtime_error(std::to_string(node_.value));
#endif
    return node_.value;
  }

 private:
  const Node& node_;
  int left_;
};

Co<int> Run(const Node& node, Scope* parent);

Co<int> RunLeaf(const Node& node, Scope* parent) {
  Scope scope(parent);
  const Tracked local(scope);
  co_return co_await Leaf(node);
}

Co<int> RunSequence(const Node& node, Scope* parent) {
  Scope scope(parent);
  int value = 0;
  for (const Node& child : node.children) {
    const Tracked local(scope);
    if (child.kind == Kind::kLeaf) {
      Leaf leaf(child);
      value = Mix(value, co_await leaf);
    } else {
      value = Mix(value, co_await Run(child, &scope));
    }
  }
  co_return value;
}

Co<int> RunChain(const Node& node, int depth, Scope* parent) {
  Scope scope(parent);
  const Tracked local(scope);
  if (depth == 0) co_return co_await Run(node.children[0], &scope);
  co_return (1 + co_await RunChain(node, depth - 1, &scope)) % kModulus;
}

Co<int> RunByReference(const Node& node, Scope* parent) {
  Scope scope(parent);
  Co<int> child = Run(node.children[0], &scope);
  co_return co_await child;
}

Co<int> RunMoved(const Node& node, Scope* parent) {
  Scope scope(parent);
  auto child = std::make_unique<Co<int>>(Run(node.children[0], &scope));
  auto poll = [&child](Context& cx) {
    child = std::make_unique<Co<int>>(std::move(*child));
    return child->Poll(cx);
  };
  auto future = PollFn(poll);
  co_return co_await future;
}

Co<int> RunUnstarted(const Node& node, Scope* parent) {
  Scope scope(parent);
  const Co<int> child = Run(node.children[0], &scope);
  co_return node.value;
}

Gen<int> Generate(const Node& node, Scope* parent) {
  Scope scope(parent);
  const Tracked local(scope);
  for (const Node& child : node.children) {
    const Tracked inner(scope);
    co_yield co_await Run(child, &scope);
  }
}

Co<int> RunGenerator(const Node& node, Scope* parent) {
  Scope scope(parent);
  Gen<int> gen = Generate(node, &scope);
  int value = 0;
  while (std::optional<int> x = co_await Next(gen)) value = Mix(value, *x);
  co_return value;
}

Co<absl::StatusOr<int>> Fallible(const Node& node, Scope* parent) {
  Scope scope(parent);
  const int value = co_await Run(node, &scope);
  if (IsError(value)) co_return absl::AbortedError("value");
  co_return value;
}

Co<absl::StatusOr<int>> PassOn(const Node& node, Scope* parent) {
  Scope scope(parent);
  const Tracked local(scope);
  co_return co_await OrReturn(Fallible(node, &scope));
}

Co<int> RunOrReturn(const Node& node, Scope* parent) {
  Scope scope(parent);
  const absl::StatusOr<int> value = co_await PassOn(node.children[0], &scope);
  co_return value.ok() ? *value : 7;
}

Co<int> RunCatch(const Node& node, Scope* parent) {
  Scope scope(parent);
  const Tracked local(scope);
#ifdef ABSL_HAVE_EXCEPTIONS
  try {
    const Tracked inner(scope);
    co_return co_await Run(node.children[0], &scope);
  } catch (const std::runtime_error& e) {
    co_return std::stoi(e.what());
  }
#else
  co_return co_await Run(node.children[0], &scope);
#endif
}

Co<int> RunJoin(const Node& node, Scope* parent) {
  Scope scope(parent);
  const Tracked local(scope);
  const auto [a, b, c] = co_await Join(Run(node.children[0], &scope),
                                       Run(node.children[1], &scope),
                                       Run(node.children[2], &scope));
  co_return Mix(Mix(Mix(0, a), b), c);
}

Co<int> RunJoinAll(const Node& node, Scope* parent) {
  Scope scope(parent);
  std::vector<Co<int>> children;
  for (const Node& child : node.children) {
    children.push_back(Run(child, &scope));
  }
  int value = 0;
  for (int x : co_await JoinAll(std::move(children))) value = Mix(value, x);
  co_return value;
}

Co<int> RunTryJoin(const Node& node, Scope* parent) {
  Scope scope(parent);
  const auto all = co_await TryJoin(PassOn(node.children[0], &scope),
                                    PassOn(node.children[1], &scope),
                                    Fallible(node.children[2], &scope));
  if (!all.ok()) co_return 9;
  const auto [a, b, c] = *all;
  co_return Mix(Mix(Mix(0, a), b), c);
}

int MixWinner(const std::variant<int, int, int>& winner) {
  const int value = std::visit([](int x) { return x; }, winner);
  return Mix(static_cast<int>(winner.index()), value);
}

Co<int> RunSelect(const Node& node, Scope* parent) {
  Scope scope(parent);
  const Tracked local(scope);
  co_return MixWinner(co_await Select(Run(node.children[0], &scope),
                                      Run(node.children[1], &scope),
                                      Run(node.children[2], &scope)));
}

Co<int> RunSelectBiased(const Node& node, Scope* parent) {
  Scope scope(parent);
  auto select =
      SelectBiased(Run(node.children[0], &scope), Run(node.children[1], &scope),
                   Run(node.children[2], &scope));
  const int value = MixWinner(co_await select);
  // The losers have been destroyed, while `select` still exists.
  const Tracked local(scope);
  co_return value;
}

Co<int> RunRace(const Node& node, Scope* parent) {
  Scope scope(parent);
  // The race does not own one of the arms.
  Co<int> second = Run(node.children[1], &scope);
  co_return co_await Race(Run(node.children[0], &scope), second,
                          Run(node.children[2], &scope));
}

ROUSE_CORO_WRAPPER Co<int> Run(const Node& node, Scope* parent) {
  switch (node.kind) {
    case Kind::kLeaf:
      return RunLeaf(node, parent);
    case Kind::kSequence:
      return RunSequence(node, parent);
    case Kind::kChain:
      return RunChain(node, node.value, parent);
    case Kind::kByReference:
      return RunByReference(node, parent);
    case Kind::kMoved:
      return RunMoved(node, parent);
    case Kind::kUnstarted:
      return RunUnstarted(node, parent);
    case Kind::kGenerator:
      return RunGenerator(node, parent);
    case Kind::kOrReturn:
      return RunOrReturn(node, parent);
    case Kind::kCatch:
      return RunCatch(node, parent);
    case Kind::kJoin:
      return RunJoin(node, parent);
    case Kind::kJoinAll:
      return RunJoinAll(node, parent);
    case Kind::kTryJoin:
      return RunTryJoin(node, parent);
    case Kind::kSelectBiased:
      return RunSelectBiased(node, parent);
    case Kind::kSelect:
      return RunSelect(node, parent);
    case Kind::kRace:
      break;
  }
  return RunRace(node, parent);
}

// ---- The test -------------------------------------------------------------

// Returns the outcome of one poll. An exception is also an outcome.
std::optional<Outcome> PollOutcome(Co<int>& co, FastRand& rand) {
  const Waker waker;
  Context cx(waker, &rand);
#ifdef ABSL_HAVE_EXCEPTIONS
  try {
#endif
    PollResult<int> result = co.Poll(cx);
    if (result.IsPending()) return std::nullopt;
    return Outcome{0, false, *result};
#ifdef ABSL_HAVE_EXCEPTIONS
  } catch (const std::runtime_error& e) {
    return Outcome{0, true, std::stoi(e.what())};
  }
#endif
}

void CheckTree(uint64_t seed, bool threads) {
  FastRand rand(seed);
  const Node tree = MakeTree(rand, 2 + static_cast<int>(rand.Below(4)));
  const Outcome expected = Evaluate(tree);

  // Polls on this thread or on a new one.
  auto poll = [&](Co<int>& co) {
    if (!threads || rand.Below(2) == 0) return PollOutcome(co, rand);
    std::optional<Outcome> outcome;
    std::thread([&] { outcome = PollOutcome(co, rand); }).join();
    return outcome;
  };

  {
    Co<int> co = Run(tree, nullptr);
    for (int i = 0; i < expected.polls; ++i) {
      ASSERT_FALSE(poll(co).has_value()) << "ready too early, at poll " << i;
      if (rand.Below(4) == 0) {
        Co<int> moved = std::move(co);
        co = std::move(moved);
      }
    }
    const std::optional<Outcome> outcome = poll(co);
    ASSERT_TRUE(outcome.has_value()) << "not ready after " << expected.polls;
    EXPECT_EQ(outcome->throws, expected.throws);
    EXPECT_EQ(outcome->value, expected.value);
    EXPECT_EQ(live_objects, 0) << "left behind by a coroutine that has ended";
  }
  {
    Co<int> co = Run(tree, nullptr);
    const uint32_t polls =
        rand.Below(static_cast<uint32_t>(expected.polls) + 1);
    for (uint32_t i = 0; i < polls; ++i) {
      ASSERT_FALSE(poll(co).has_value());
    }
  }
  EXPECT_EQ(live_objects, 0) << "left behind by a coroutine that was destroyed";
}

TEST(CoroutineProperty, RandomTreesBehaveLikeTheReference) {
  const uint64_t base =
      uint64_t{10'000} * ::testing::UnitTest::GetInstance()->random_seed();
  for (uint64_t seed = base; seed < base + 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    CheckTree(seed, /*threads=*/false);
    if (HasFailure()) return;
  }
}

TEST(CoroutineProperty,
     RandomTreesThatMoveBetweenThreadsBehaveLikeTheReference) {
  const uint64_t base =
      uint64_t{10'000} * ::testing::UnitTest::GetInstance()->random_seed();
  for (uint64_t seed = base; seed < base + 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    CheckTree(seed, /*threads=*/true);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace rouse
