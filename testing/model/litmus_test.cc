// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Litmus tests: small programs must have exactly the outcomes that C++20
// allows. The features that are not modelled are at the end, under "Limits".
//
// The clauses are those of the C++20 standard: [intro.races] for
// happens-before, coherence and release sequences, [atomics.order] for the
// order S of sequentially consistent operations, [atomics.fences] for fences.
// The names of the tests come from the literature (Alglave, Maranget,
// Tautschnig, "Herding Cats", TOPLAS 2014).

#include <atomic>
#include <cctype>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/futex.h"
#include "rouse/testing/model/mutex.h"
#include "rouse/testing/model/thread.h"

namespace rouse::model {
namespace {

using enum std::memory_order;
using testing::HasSubstr;

// The data of a program: three locations, and registers. One thread writes each
// register.
struct Shared {
  Atomic<int> x = 0;
  Atomic<int> y = 0;
  Atomic<int> z = 0;
  int a = 0;
  int b = 0;
  int c = 0;
  int d = 0;

  // Returns the value of a register or the last value of a location, by name.
  int Value(char name) const {
    switch (name) {
      case 'a':
        return a;
      case 'b':
        return b;
      case 'c':
        return c;
      case 'd':
        return d;
      case 'x':
        return x.load();
      case 'y':
        return y.load();
      default:
        return z.load();
    }
  }
};

using Body = std::function<void(Shared&)>;
// Each outcome has a digit for each of the observed names.
using Outcomes = std::set<std::string>;

struct Litmus {
  std::string name;
  std::vector<Body> threads;
  std::string observed;  // names of registers and locations, as in "abx"
  Outcomes outcomes;     // all possible outcomes
  int spurious_failures = 1;
};

void PrintTo(const Litmus& litmus, std::ostream* out) { *out << litmus.name; }

// Splits a list such as "00 01 11".
Outcomes Only(std::string_view outcomes) {
  return absl::StrSplit(outcomes, ' ');
}

// Returns all outcomes of `count` digits below `base`, except `forbidden`.
Outcomes AllBut(std::string_view forbidden, int count, int base = 2) {
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

Outcomes All(int count, int base = 2) { return AllBut("", count, base); }

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

class LitmusTest : public testing::TestWithParam<Litmus> {};

TEST_P(LitmusTest, HasTheseOutcomes) {
  EXPECT_EQ(OutcomesOf(GetParam(), Mode::kExhaustive), GetParam().outcomes);
}
TEST_P(LitmusTest, HasTheseOutcomesWithoutReduction) {
  EXPECT_EQ(OutcomesOf(GetParam(), Mode::kNaive), GetParam().outcomes);
}

// The programs below are passed by value.
// NOLINTBEGIN(performance-unnecessary-value-param)

// Returns the body of a thread, which consists of small steps.
template <class... Steps>
Body Do(Steps... steps) {
  return [=](Shared& s) { (steps(s), ...); };
}

using Location = Atomic<int> Shared::*;
using Register = int Shared::*;
constexpr Location x = &Shared::x;
constexpr Location y = &Shared::y;
constexpr Location z = &Shared::z;
constexpr Register a = &Shared::a;
constexpr Register b = &Shared::b;
constexpr Register c = &Shared::c;
constexpr Register d = &Shared::d;

auto Store(Location location, int value, std::memory_order order) {
  return [=](Shared& s) { (s.*location).store(value, order); };
}
auto Load(Register into, Location location, std::memory_order order) {
  return [=](Shared& s) { s.*into = (s.*location).load(order); };
}
auto FenceAll() {
  return [](Shared&) { FenceAllThreads(); };
}
auto Fence(std::memory_order order) {
  return [=](Shared&) { AtomicThreadFence(order); };
}
auto Add(Location location, int value, std::memory_order order) {
  return [=](Shared& s) { (s.*location).fetch_add(value, order); };
}
auto Add(Register into, Location location, int value, std::memory_order order) {
  return [=](Shared& s) { s.*into = (s.*location).fetch_add(value, order); };
}
auto Exchange(Register into, Location location, int value,
              std::memory_order order) {
  return [=](Shared& s) { s.*into = (s.*location).exchange(value, order); };
}
// Stores in `into` whether the exchange succeeded.
auto Cas(Register into, Location location, int expected, int desired,
         std::memory_order success = relaxed,
         std::memory_order failure = relaxed) {
  return [=](Shared& s) {
    int value = expected;
    s.*into =
        (s.*location).compare_exchange_strong(value, desired, success, failure);
  };
}
auto WeakCas(Register into, Location location, int expected, int desired) {
  return [=](Shared& s) {
    int value = expected;
    s.*into =
        (s.*location).compare_exchange_weak(value, desired, relaxed, relaxed);
  };
}
// Stores in `into` the value that the exchange found.
auto CasFinds(Register into, Location location, int expected, int desired,
              std::memory_order success, std::memory_order failure) {
  return [=](Shared& s) {
    s.*into = expected;
    (s.*location).compare_exchange_strong(s.*into, desired, success, failure);
  };
}
auto Nothing() {
  return [](Shared&) {};
}

// ---- Two threads: each stores to one location and reads the other location.

Litmus StoreBuffering(std::string name, std::memory_order store_1,
                      std::memory_order load_1, std::memory_order store_2,
                      std::memory_order load_2, Outcomes outcomes) {
  return {.name = std::move(name),
          .threads = {Do(Store(x, 1, store_1), Load(a, y, load_1)),
                      Do(Store(y, 1, store_2), Load(b, x, load_2))},
          .observed = "ab",
          .outcomes = std::move(outcomes)};
}

// Store buffering with relaxed accesses, and steps between store and load.
template <class First, class Second>
Litmus StoreBufferingWith(std::string name, First first, Second second,
                          Outcomes outcomes) {
  return {.name = std::move(name),
          .threads = {Do(Store(x, 1, relaxed), std::move(first),
                         Load(a, y, relaxed)),
                      Do(Store(y, 1, relaxed), std::move(second),
                         Load(b, x, relaxed))},
          .observed = "ab",
          .outcomes = std::move(outcomes)};
}

INSTANTIATE_TEST_SUITE_P(
    StoreBuffering, LitmusTest,
    testing::Values(
        StoreBuffering("relaxed", relaxed, relaxed, relaxed, relaxed, All(2)),
        // No load reads a released store, so no order follows.
        StoreBuffering("release acquire", release, acquire, release, acquire,
                       All(2)),
        // [atomics.order]/4: each load is coherence-ordered before the other's
        // store, which makes a cycle in S.
        StoreBuffering("seq_cst", seq_cst, seq_cst, seq_cst, seq_cst,
                       AllBut("00", 2)),
        // A single access that is not in S leaves the cycle open.
        StoreBuffering("seq_cst stores", seq_cst, relaxed, seq_cst, relaxed,
                       All(2)),
        StoreBuffering("seq_cst loads", relaxed, seq_cst, relaxed, seq_cst,
                       All(2)),
        StoreBuffering("seq_cst in one thread", seq_cst, seq_cst, relaxed,
                       relaxed, All(2)),
        StoreBuffering("seq_cst but for a load", seq_cst, seq_cst, seq_cst,
                       acquire, All(2)),
        StoreBuffering("seq_cst but for a store", release, seq_cst, seq_cst,
                       seq_cst, All(2)),
        StoreBufferingWith("seq_cst fences", Fence(seq_cst), Fence(seq_cst),
                           AllBut("00", 2)),
        StoreBufferingWith("a seq_cst fence missing", Fence(seq_cst), Nothing(),
                           All(2)),
        StoreBufferingWith("a seq_cst fence too weak", Fence(seq_cst),
                           Fence(acq_rel), All(2)),
        StoreBufferingWith("acq_rel fences", Fence(acq_rel), Fence(acq_rel),
                           All(2)),
        // Not in the standard: a fence that the system puts into all threads.
        StoreBufferingWith("a fence in all threads", FenceAll(), Nothing(),
                           AllBut("00", 2)),
        StoreBufferingWith("two fences in all threads", FenceAll(), FenceAll(),
                           AllBut("00", 2)),
        Litmus{.name = "a fence in all threads beside who stores twice",
               .threads = {Do(Store(x, 1, relaxed), Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), FenceAll(),
                              Load(b, x, relaxed))},
               .observed = "ab",
               .outcomes = AllBut("10", 2)},
        Litmus{.name = "a fence in all threads beside who loads twice",
               .threads = {Do(Store(x, 1, relaxed), FenceAll(),
                              Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), Load(b, x, relaxed))},
               .observed = "ab",
               .outcomes = AllBut("10", 2)},
        // Of two read-modify-writes of one location, the second reads the value
        // of the first, and acquires from it.
        StoreBufferingWith("acq_rel RMW of a third location",
                           Add(z, 1, acq_rel), Add(z, 1, acq_rel),
                           AllBut("00", 2)),
        StoreBufferingWith("relaxed RMW of a third location",
                           Add(z, 1, relaxed), Add(z, 1, relaxed), All(2)),
        // [atomics.order]/4.2 and /4.3: S has fences and accesses.
        Litmus{.name = "a seq_cst fence against seq_cst accesses",
               .threads = {Do(Store(x, 1, relaxed), Fence(seq_cst),
                              Load(a, y, relaxed)),
                           Do(Store(y, 1, seq_cst), Load(b, x, seq_cst))},
               .observed = "ab",
               .outcomes = AllBut("00", 2)},
        Litmus{.name = "acq_rel exchanges for stores",
               .threads = {Do(Exchange(c, x, 1, acq_rel), Load(a, y, acquire)),
                           Do(Exchange(d, y, 1, acq_rel), Load(b, x, acquire))},
               .observed = "ab",
               .outcomes = All(2)},
        Litmus{.name = "seq_cst exchanges for stores",
               .threads = {Do(Exchange(c, x, 1, seq_cst), Load(a, y, seq_cst)),
                           Do(Exchange(d, y, 1, seq_cst), Load(b, x, seq_cst))},
               .observed = "ab",
               .outcomes = AllBut("00", 2)},
        // A read-modify-write reads the newest value before its own value, not
        // the newest value: it may precede the store in modification order.
        Litmus{.name = "acq_rel RMW for loads",
               .threads = {Do(Store(x, 1, relaxed), Add(a, y, 0, acq_rel)),
                           Do(Store(y, 1, relaxed), Add(b, x, 0, acq_rel))},
               .observed = "ab",
               .outcomes = All(2)}),
    NameOf);

// ---- One thread stores data and then a flag; the other reads the flag first.

Litmus MessagePassing(std::string name, std::memory_order store,
                      std::memory_order load, Outcomes outcomes) {
  return {.name = std::move(name),
          .threads = {Do(Store(x, 1, relaxed), Store(y, 1, store)),
                      Do(Load(a, y, load), Load(b, x, relaxed))},
          .observed = "ab",
          .outcomes = std::move(outcomes)};
}

template <class Writer, class Reader>
Litmus MessagePassingWith(std::string name, Writer writer, Reader reader,
                          Outcomes outcomes) {
  return {.name = std::move(name),
          .threads = {Do(Store(x, 1, relaxed), std::move(writer)),
                      Do(std::move(reader), Load(b, x, relaxed))},
          .observed = "ab",
          .outcomes = std::move(outcomes)};
}

INSTANTIATE_TEST_SUITE_P(
    MessagePassing, LitmusTest,
    testing::Values(
        MessagePassing("relaxed relaxed", relaxed, relaxed, All(2)),
        MessagePassing("relaxed acquire", relaxed, acquire, All(2)),
        MessagePassing("relaxed seq_cst", relaxed, seq_cst, All(2)),
        MessagePassing("release relaxed", release, relaxed, All(2)),
        MessagePassing("release acquire", release, acquire, AllBut("10", 2)),
        MessagePassing("release seq_cst", release, seq_cst, AllBut("10", 2)),
        MessagePassing("seq_cst relaxed", seq_cst, relaxed, All(2)),
        MessagePassing("seq_cst acquire", seq_cst, acquire, AllBut("10", 2)),
        MessagePassing("seq_cst seq_cst", seq_cst, seq_cst, AllBut("10", 2)),
        // [atomics.fences]/2 to /4.
        MessagePassingWith("a release fence and an acquire fence",
                           Do(Fence(release), Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), Fence(acquire)),
                           AllBut("10", 2)),
        MessagePassingWith("a release fence and an acquire load",
                           Do(Fence(release), Store(y, 1, relaxed)),
                           Do(Load(a, y, acquire)), AllBut("10", 2)),
        MessagePassingWith("a release store and an acquire fence",
                           Do(Store(y, 1, release)),
                           Do(Load(a, y, relaxed), Fence(acquire)),
                           AllBut("10", 2)),
        MessagePassingWith("acq_rel fences",
                           Do(Fence(acq_rel), Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), Fence(acq_rel)),
                           AllBut("10", 2)),
        MessagePassingWith("seq_cst fences",
                           Do(Fence(seq_cst), Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), Fence(seq_cst)),
                           AllBut("10", 2)),
        MessagePassingWith("a release fence alone",
                           Do(Fence(release), Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed)), All(2)),
        MessagePassingWith("an acquire fence alone", Do(Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), Fence(acquire)), All(2)),
        MessagePassingWith("an acquire fence to release",
                           Do(Fence(acquire), Store(y, 1, relaxed)),
                           Do(Load(a, y, acquire)), All(2)),
        MessagePassingWith("a release fence to acquire",
                           Do(Store(y, 1, release)),
                           Do(Load(a, y, relaxed), Fence(release)), All(2)),
        MessagePassingWith("a release fence that comes too late",
                           Do(Store(y, 1, relaxed), Fence(release)),
                           Do(Load(a, y, acquire)), All(2)),
        MessagePassingWith("an acquire fence that comes too early",
                           Do(Store(y, 1, release)),
                           Do(Fence(acquire), Load(a, y, relaxed)), All(2)),
        Litmus{.name = "a release fence before the data",
               .threads = {Do(Fence(release), Store(x, 1, relaxed),
                              Store(y, 1, relaxed)),
                           Do(Load(a, y, acquire), Load(b, x, relaxed))},
               .observed = "ab",
               .outcomes = All(2)},
        // A fence works for every store after it, and every load before it.
        MessagePassingWith("a release fence for two stores",
                           Do(Fence(release), Store(z, 1, relaxed),
                              Store(y, 1, relaxed)),
                           Do(Load(a, y, acquire)), AllBut("10", 2)),
        MessagePassingWith(
            "an acquire fence for two loads", Do(Store(y, 1, release)),
            Do(Load(a, y, relaxed), Load(d, z, relaxed), Fence(acquire)),
            AllBut("10", 2)),
        MessagePassingWith("an RMW that releases", Do(Add(y, 1, release)),
                           Do(Load(a, y, acquire)), AllBut("10", 2)),
        MessagePassingWith("an RMW that only acquires", Do(Add(y, 1, acquire)),
                           Do(Load(a, y, acquire)), All(2)),
        MessagePassingWith("an RMW that acquires", Do(Store(y, 1, release)),
                           Do(Add(a, y, 0, acquire)), AllBut("10", 2)),
        MessagePassingWith("an RMW that only releases",
                           Do(Store(y, 1, release)), Do(Add(a, y, 0, release)),
                           All(2)),
        // A compare-exchange has two orders, and the outcome decides.
        MessagePassingWith("a CAS that acquires as it fails",
                           Do(Store(y, 1, release)),
                           Do(CasFinds(a, y, 5, 6, relaxed, acquire)),
                           AllBut("10", 2)),
        MessagePassingWith("a CAS that acquires unless it fails",
                           Do(Store(y, 1, release)),
                           Do(CasFinds(a, y, 5, 6, acquire, relaxed)), All(2)),
        MessagePassingWith("a CAS that acquires as it succeeds",
                           Do(Store(y, 1, release)),
                           Do(Cas(a, y, 1, 6, acquire, relaxed)),
                           AllBut("10", 2)),
        // A value can be behind the newest by more than one store.
        Litmus{.name = "three stores deep relaxed",
               .threads = {Do(Store(x, 1, relaxed), Store(x, 2, relaxed),
                              Store(x, 3, relaxed), Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), Load(b, x, relaxed))},
               .observed = "ab",
               .outcomes = Only("00 01 02 03 10 11 12 13")},
        Litmus{.name = "three stores deep release acquire",
               .threads = {Do(Store(x, 1, relaxed), Store(x, 2, relaxed),
                              Store(x, 3, relaxed), Store(y, 1, release)),
                           Do(Load(a, y, acquire), Load(b, x, relaxed))},
               .observed = "ab",
               .outcomes = Only("00 01 02 03 13")},
        // If only one side accesses the data in S, both sides act as relaxed.
        Litmus{.name = "data stored seq_cst",
               .threads = {Do(Store(x, 1, seq_cst), Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), Load(b, x, relaxed))},
               .observed = "ab",
               .outcomes = All(2)},
        Litmus{.name = "data loaded seq_cst",
               .threads = {Do(Store(x, 1, relaxed), Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), Load(b, x, seq_cst))},
               .observed = "ab",
               .outcomes = All(2)}),
    NameOf);

// ---- Release sequences: [intro.races]/5, as changed by P0982.

// A writer stores data and releases 1, `others` interfere, and a reader reads.
Litmus ReleaseSequence(std::string name, Body writer, std::vector<Body> others,
                       Body reader, Outcomes outcomes) {
  std::vector<Body> threads = {Do(Store(x, 1, relaxed), std::move(writer))};
  for (Body& other : others) threads.push_back(std::move(other));
  threads.push_back(Do(std::move(reader), Load(b, x, relaxed)));
  return {.name = std::move(name),
          .threads = std::move(threads),
          .observed = "ab",
          .outcomes = std::move(outcomes)};
}

INSTANTIATE_TEST_SUITE_P(
    ReleaseSequence, LitmusTest,
    testing::Values(
        ReleaseSequence("continued by an RMW of the same thread",
                        Do(Store(y, 1, release), Add(y, 2, relaxed)), {},
                        Do(Load(a, y, acquire)), Only("00 01 11 31")),
        // 2 is the sum without the store, which came later or never.
        ReleaseSequence("continued by an RMW of another thread",
                        Do(Store(y, 1, release)), {Do(Add(y, 2, relaxed))},
                        Do(Load(a, y, acquire)), Only("00 01 11 20 21 31")),
        ReleaseSequence("continued by an RMW that releases too",
                        Do(Store(y, 1, release)), {Do(Add(y, 2, release))},
                        Do(Load(a, y, acquire)), Only("00 01 11 20 21 31")),
        ReleaseSequence("continued by a chain of two", Do(Store(y, 1, release)),
                        {Do(Add(y, 2, relaxed)), Do(Add(y, 4, relaxed))},
                        Do(Load(a, y, acquire)),
                        Only("00 01 20 21 40 41 60 61 11 31 51 71")),
        ReleaseSequence("continued by a CAS", Do(Store(y, 1, release)),
                        {Do(Cas(c, y, 1, 3))}, Do(Load(a, y, acquire)),
                        Only("00 01 11 31")),
        ReleaseSequence("continued by an exchange", Do(Store(y, 1, release)),
                        {Do(Exchange(c, y, 3, relaxed))},
                        // 3 may have come before 1.
                        Do(Load(a, y, acquire)), Only("00 01 11 30 31")),
        // In C++11, this store continued the sequence.
        ReleaseSequence("broken by a store of the same thread",
                        Do(Store(y, 1, release), Store(y, 2, relaxed)), {},
                        Do(Load(a, y, acquire)), Only("00 01 11 20 21")),
        ReleaseSequence("broken by a store of another thread",
                        Do(Store(y, 1, release)), {Do(Store(y, 2, relaxed))},
                        Do(Load(a, y, acquire)), Only("00 01 11 20 21")),
        ReleaseSequence(
            "not resumed by an RMW",
            Do(Store(y, 1, release), Store(y, 2, relaxed), Add(y, 2, relaxed)),
            {}, Do(Load(a, y, acquire)), Only("00 01 11 20 21 40 41")),
        ReleaseSequence("headed by a fence",
                        Do(Fence(release), Store(y, 1, relaxed)),
                        {Do(Add(y, 2, relaxed))}, Do(Load(a, y, acquire)),
                        Only("00 01 11 20 21 31")),
        ReleaseSequence("read before a fence", Do(Store(y, 1, release)),
                        {Do(Add(y, 2, relaxed))},
                        Do(Load(a, y, relaxed), Fence(acquire)),
                        Only("00 01 11 20 21 31")),
        ReleaseSequence("of fences on both sides",
                        Do(Fence(release), Store(y, 1, relaxed)),
                        {Do(Add(y, 2, relaxed))},
                        Do(Load(a, y, relaxed), Fence(acquire)),
                        Only("00 01 11 20 21 31"))),
    NameOf);

// ---- Two stores in each thread, or a store against a store.

INSTANTIATE_TEST_SUITE_P(
    Stores, LitmusTest, testing::ValuesIn([] {
      std::vector<Litmus> tests;
      const auto two_and_two = [&](std::string name, std::memory_order first,
                                   std::memory_order second,
                                   Outcomes outcomes) {
        tests.push_back(
            {.name = "2+2W " + std::move(name),
             .threads = {Do(Store(x, 1, first), Store(y, 2, second)),
                         Do(Store(y, 1, first), Store(x, 2, second))},
             .observed = "xy",
             .outcomes = std::move(outcomes)});
      };
      // 11: each thread's first store is the last store of the location.
      two_and_two("relaxed", relaxed, relaxed, Only("11 12 21 22"));
      two_and_two("release", release, release, Only("11 12 21 22"));
      two_and_two("seq_cst", seq_cst, seq_cst, Only("12 21 22"));
      two_and_two("seq_cst second stores", relaxed, seq_cst,
                  Only("11 12 21 22"));
      two_and_two("seq_cst first stores", seq_cst, relaxed,
                  Only("11 12 21 22"));
      tests.push_back({.name = "2+2W seq_cst fences",
                       .threads = {Do(Store(x, 1, relaxed), Fence(seq_cst),
                                      Store(y, 2, relaxed)),
                                   Do(Store(y, 1, relaxed), Fence(seq_cst),
                                      Store(x, 2, relaxed))},
                       .observed = "xy",
                       .outcomes = Only("12 21 22")});

      const auto s = [&](std::string name, std::memory_order store,
                         std::memory_order load, Outcomes outcomes) {
        tests.push_back(
            {.name = "S " + std::move(name),
             .threads = {Do(Store(x, 2, relaxed), Store(y, 1, store)),
                         Do(Load(a, y, load), Store(x, 1, relaxed))},
             .observed = "ax",
             .outcomes = std::move(outcomes)});
      };
      // 12: the store after the read of the flag is overwritten by the store
      // before the flag was set. [intro.races]/15, write-write coherence.
      s("relaxed", relaxed, relaxed, Only("01 02 11 12"));
      s("release relaxed", release, relaxed, Only("01 02 11 12"));
      s("relaxed acquire", relaxed, acquire, Only("01 02 11 12"));
      s("release acquire", release, acquire, Only("01 02 11"));

      const auto r = [&](std::string name, std::memory_order x_1,
                         std::memory_order y_1, std::memory_order y_2,
                         std::memory_order load, Outcomes outcomes) {
        tests.push_back({.name = "R " + std::move(name),
                         .threads = {Do(Store(x, 1, x_1), Store(y, 1, y_1)),
                                     Do(Store(y, 2, y_2), Load(a, x, load))},
                         .observed = "ya",
                         .outcomes = std::move(outcomes)});
      };
      // 20: the second thread overwrites y and does not see x. Modification
      // order by itself synchronizes nothing.
      r("relaxed", relaxed, relaxed, relaxed, relaxed, Only("10 11 20 21"));
      r("release acquire", release, release, release, acquire,
        Only("10 11 20 21"));
      r("seq_cst", seq_cst, seq_cst, seq_cst, seq_cst, Only("10 11 21"));
      // Any access that is not in S removes this guarantee.
      r("seq_cst but for x stored", relaxed, seq_cst, seq_cst, seq_cst,
        Only("10 11 20 21"));
      r("seq_cst but for y first", seq_cst, relaxed, seq_cst, seq_cst,
        Only("10 11 20 21"));
      r("seq_cst but for y second", seq_cst, seq_cst, relaxed, seq_cst,
        Only("10 11 20 21"));
      r("seq_cst but for x loaded", seq_cst, seq_cst, seq_cst, relaxed,
        Only("10 11 20 21"));
      tests.push_back({.name = "R seq_cst fences",
                       .threads = {Do(Store(x, 1, relaxed), Fence(seq_cst),
                                      Store(y, 1, relaxed)),
                                   Do(Store(y, 2, relaxed), Fence(seq_cst),
                                      Load(a, x, relaxed))},
                       .observed = "ya",
                       .outcomes = Only("10 11 21")});
      tests.push_back(
          {.name = "R a seq_cst fence missing",
           .threads = {Do(Store(x, 1, relaxed), Store(y, 1, relaxed)),
                       Do(Store(y, 2, relaxed), Fence(seq_cst),
                          Load(a, x, relaxed))},
           .observed = "ya",
           .outcomes = Only("10 11 20 21")});
      return tests;
    }()),
    NameOf);

// ---- Three and four threads.

Litmus Iriw(std::string name, std::memory_order store, std::memory_order load,
            Outcomes outcomes) {
  return {.name = "IRIW " + std::move(name),
          .threads = {Do(Store(x, 1, store)), Do(Store(y, 1, store)),
                      Do(Load(a, x, load), Load(b, y, load)),
                      Do(Load(c, y, load), Load(d, x, load))},
          .observed = "abcd",
          .outcomes = std::move(outcomes)};
}

Litmus Wrc(std::string name, std::memory_order store_x,
           std::memory_order load_x, std::memory_order store_y,
           std::memory_order load_y, Outcomes outcomes) {
  return {.name = "WRC " + std::move(name),
          .threads = {Do(Store(x, 1, store_x)),
                      Do(Load(a, x, load_x), Store(y, 1, store_y)),
                      Do(Load(b, y, load_y), Load(c, x, relaxed))},
          .observed = "abc",
          .outcomes = std::move(outcomes)};
}

Litmus Isa2(std::string name, std::memory_order store_y,
            std::memory_order load_y, std::memory_order store_z,
            std::memory_order load_z, Outcomes outcomes) {
  return {.name = "ISA2 " + std::move(name),
          .threads = {Do(Store(x, 1, relaxed), Store(y, 1, store_y)),
                      Do(Load(a, y, load_y), Store(z, 1, store_z)),
                      Do(Load(b, z, load_z), Load(c, x, relaxed))},
          .observed = "abc",
          .outcomes = std::move(outcomes)};
}

Litmus Rwc(std::string name, std::memory_order store, std::memory_order load,
           Body second, Body third, Outcomes outcomes) {
  return {
      .name = "RWC " + std::move(name),
      .threads = {Do(Store(x, 1, store)),
                  Do(Load(a, x, load), std::move(second), Load(b, y, load)),
                  Do(Store(y, 1, store), std::move(third), Load(c, x, load))},
      .observed = "abc",
      .outcomes = std::move(outcomes)};
}

Litmus WRwc(std::string name, std::memory_order store, std::memory_order load,
            Body second, Body third, Outcomes outcomes) {
  return {
      .name = "W+RWC " + std::move(name),
      .threads = {Do(Store(x, 1, store), Store(y, 1, release)),
                  Do(Load(a, y, acquire), std::move(second), Load(b, z, load)),
                  Do(Store(z, 1, store), std::move(third), Load(c, x, load))},
      .observed = "abc",
      .outcomes = std::move(outcomes)};
}

Litmus Z6(std::string name, std::memory_order store, std::memory_order load,
          Body fence, Outcomes outcomes) {
  return {.name = "Z6 " + std::move(name),
          .threads = {Do(Store(x, 1, store), fence, Store(y, 1, store)),
                      Do(Store(y, 2, store), fence, Store(z, 1, store)),
                      Do(Load(a, z, load), fence, Load(b, x, load))},
          .observed = "yab",
          .outcomes = std::move(outcomes)};
}

INSTANTIATE_TEST_SUITE_P(
    Threads, LitmusTest,
    testing::Values(
        // Two readers see two independent stores in opposite orders.
        Iriw("relaxed", relaxed, relaxed, All(4)),
        Iriw("release acquire", release, acquire, All(4)),
        Iriw("seq_cst", seq_cst, seq_cst, AllBut("1010", 4)),
        // S orders the loads, through the values that they read.
        Iriw("seq_cst loads", relaxed, seq_cst, AllBut("1010", 4)),
        Iriw("seq_cst stores", seq_cst, acquire, All(4)),
        Litmus{.name = "IRIW seq_cst fences",
               .threads = {Do(Store(x, 1, relaxed)), Do(Store(y, 1, relaxed)),
                           Do(Load(a, x, relaxed), Fence(seq_cst),
                              Load(b, y, relaxed)),
                           Do(Load(c, y, relaxed), Fence(seq_cst),
                              Load(d, x, relaxed))},
               .observed = "abcd",
               .outcomes = AllBut("1010", 4)},
        Litmus{.name = "IRIW a seq_cst fence missing",
               .threads = {Do(Store(x, 1, release)), Do(Store(y, 1, release)),
                           Do(Load(a, x, acquire), Fence(seq_cst),
                              Load(b, y, acquire)),
                           Do(Load(c, y, acquire), Load(d, x, acquire))},
               .observed = "abcd",
               .outcomes = All(4)},
        Wrc("relaxed", relaxed, relaxed, relaxed, relaxed, All(3)),
        Wrc("release acquire", release, acquire, release, acquire,
            AllBut("110", 3)),
        // A load cannot return an older value than a load that happens before:
        // [intro.races]/16, read-read coherence.
        Wrc("relaxed x", relaxed, relaxed, release, acquire, AllBut("110", 3)),
        Wrc("relaxed y", release, acquire, relaxed, relaxed, All(3)),
        Isa2("relaxed", relaxed, relaxed, relaxed, relaxed, All(3)),
        Isa2("release acquire", release, acquire, release, acquire,
             AllBut("110", 3)),
        Isa2("a relaxed load", release, relaxed, release, acquire, All(3)),
        Isa2("a relaxed store", release, acquire, relaxed, acquire, All(3)),
        // An acquire fence has no effect on relaxed reads of other threads.
        Litmus{.name = "ISA2 an acquire fence in the wrong thread",
               .threads = {Do(Store(x, 1, relaxed), Store(y, 1, release)),
                           Do(Load(a, y, relaxed), Store(z, 1, release)),
                           Do(Load(b, z, acquire), Fence(acquire),
                              Load(c, x, relaxed))},
               .observed = "abc",
               .outcomes = All(3)},
        Rwc("release acquire", release, acquire, Nothing(), Nothing(), All(3)),
        Rwc("seq_cst", seq_cst, seq_cst, Nothing(), Nothing(),
            AllBut("100", 3)),
        Rwc("seq_cst fences", relaxed, relaxed, Fence(seq_cst), Fence(seq_cst),
            AllBut("100", 3)),
        Rwc("a seq_cst fence missing", release, acquire, Nothing(),
            Fence(seq_cst), All(3)),
        WRwc("release acquire", release, acquire, Nothing(), Nothing(), All(3)),
        // The store of x strongly happens before the read of z:
        // [intro.races]/12, through the release and acquire of y.
        WRwc("seq_cst", seq_cst, seq_cst, Nothing(), Nothing(),
             AllBut("100", 3)),
        WRwc("seq_cst fences", relaxed, relaxed, Fence(seq_cst), Fence(seq_cst),
             AllBut("100", 3)),
        WRwc("a seq_cst fence missing", relaxed, relaxed, Nothing(),
             Fence(seq_cst), All(3)),
        Z6("release acquire", release, acquire, Nothing(),
           Only("100 101 110 111 200 201 210 211")),
        Z6("seq_cst", seq_cst, seq_cst, Nothing(),
           Only("100 101 110 111 200 201 211")),
        Z6("seq_cst fences", relaxed, relaxed, Fence(seq_cst),
           Only("100 101 110 111 200 201 211"))),
    NameOf);

// ---- One location: coherence and atomicity, at the weakest order.

INSTANTIATE_TEST_SUITE_P(
    Coherence, LitmusTest,
    testing::Values(
        Litmus{.name = "CoRR",
               .threads = {Do(Store(x, 1, relaxed)),
                           Do(Load(a, x, relaxed), Load(b, x, relaxed))},
               .observed = "ab",
               .outcomes = Only("00 01 11")},
        Litmus{.name = "CoRR of two writers",
               .threads = {Do(Store(x, 1, relaxed)), Do(Store(x, 2, relaxed)),
                           Do(Load(a, x, relaxed), Load(b, x, relaxed))},
               .observed = "ab",
               .outcomes = AllBut("10 20", 2, 3)},
        // Two readers agree on the order of two stores.
        Litmus{.name = "CoRR of two readers",
               .threads = {Do(Store(x, 1, relaxed)), Do(Store(x, 2, relaxed)),
                           Do(Load(a, x, relaxed), Load(b, x, relaxed)),
                           Do(Load(c, x, relaxed), Load(d, x, relaxed))},
               .observed = "abcd",
               .outcomes =
                   [] {
                     Outcomes outcomes;
                     for (const std::string& first : AllBut("10 20", 2, 3)) {
                       for (const std::string& second : AllBut("10 20", 2, 3)) {
                         outcomes.insert(first + second);
                       }
                     }
                     outcomes.erase("1221");
                     outcomes.erase("2112");
                     return outcomes;
                   }()},
        Litmus{.name = "CoWW",
               .threads = {Do(Store(x, 1, relaxed), Store(x, 2, relaxed)),
                           Do(Load(a, x, relaxed), Load(b, x, relaxed))},
               .observed = "abx",
               .outcomes = Only("002 012 022 112 122 222")},
        Litmus{.name = "CoRW",
               .threads = {Do(Load(a, x, relaxed), Store(x, 2, relaxed)),
                           Do(Store(x, 1, relaxed))},
               .observed = "ax",
               .outcomes = Only("01 02 12")},
        Litmus{.name = "CoWR",
               .threads = {Do(Store(x, 1, relaxed), Load(a, x, relaxed)),
                           Do(Store(x, 2, relaxed))},
               .observed = "ax",
               .outcomes = Only("11 12 22")},
        Litmus{.name = "CoWR of two",
               .threads = {Do(Store(x, 1, relaxed), Load(a, x, relaxed)),
                           Do(Store(x, 2, relaxed), Load(b, x, relaxed))},
               .observed = "abx",
               // Not 21: each store would come after the other.
               .outcomes = Only("111 121 122 222")},
        Litmus{
            .name = "two additions",
            .threads = {Do(Add(a, x, 1, relaxed)), Do(Add(b, x, 1, relaxed))},
            .observed = "abx",
            .outcomes = Only("012 102")},
        Litmus{.name = "three additions",
               .threads = {Do(Add(a, x, 1, relaxed)), Do(Add(b, x, 1, relaxed)),
                           Do(Add(c, x, 1, relaxed))},
               .observed = "abcx",
               .outcomes = Only("0123 0213 1023 1203 2013 2103")},
        Litmus{.name = "an addition torn",
               .threads = {Do(Load(a, x, relaxed),
                              [](Shared& s) { s.x.store(s.a + 1, relaxed); }),
                           Do(Add(b, x, 1, relaxed))},
               .observed = "abx",
               // 001: an addition is lost.
               .outcomes = Only("001 012 102")},
        Litmus{.name = "two exchanges",
               .threads = {Do(Exchange(a, x, 1, relaxed)),
                           Do(Exchange(b, x, 2, relaxed))},
               .observed = "abx",
               .outcomes = Only("012 201")},
        // No store comes between the read and the write of an addition.
        Litmus{.name = "an addition and a store",
               .threads = {Do(Store(x, 5, relaxed)), Do(Add(a, x, 1, relaxed))},
               .observed = "ax",
               .outcomes = Only("05 56")},
        Litmus{.name = "an addition and two stores",
               .threads = {Do(Store(x, 3, relaxed), Store(x, 5, relaxed)),
                           Do(Add(a, x, 1, relaxed))},
               .observed = "ax",
               .outcomes = Only("05 35 56")}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    CompareExchange, LitmusTest,
    testing::Values(
        Litmus{.name = "one of two",
               .threads = {Do(Cas(a, x, 0, 1)), Do(Cas(b, x, 0, 2))},
               .observed = "abx",
               .outcomes = Only("101 012")},
        // If the compare-exchange succeeds, it comes before the store.
        Litmus{.name = "and a store",
               .threads = {Do(Store(x, 1, relaxed)), Do(Cas(a, x, 0, 2))},
               .observed = "ax",
               .outcomes = Only("01 11")},
        Litmus{.name = "chain of three",
               .threads = {Do(Cas(a, x, 0, 1)), Do(Cas(b, x, 1, 2)),
                           Do(Cas(c, x, 2, 3))},
               .observed = "abcx",
               .outcomes = Only("1001 1102 1113")},
        Litmus{.name = "failing on an old value",
               .threads = {Do(Store(x, 1, relaxed), Store(x, 2, relaxed)),
                           Do(CasFinds(a, x, 2, 3, relaxed, relaxed))},
               .observed = "ax",
               .outcomes = Only("02 12 23")},
        // It can read an old value, unless coherence forbids that.
        Litmus{.name = "succeeding on an old value",
               .threads = {Do(Store(x, 1, relaxed), Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), Cas(b, x, 0, 2))},
               .observed = "abx",
               .outcomes = Only("001 011 101 111")},
        Litmus{.name = "not on one that is known to be old",
               .threads = {Do(Store(x, 1, relaxed), Store(y, 1, release)),
                           Do(Load(a, y, acquire), Cas(b, x, 0, 2))},
               .observed = "abx",
               .outcomes = Only("001 011 101")},
        Litmus{.name = "strong does not fail for no reason",
               .threads = {Do(Cas(a, x, 0, 1)), Do(Cas(b, y, 0, 1))},
               .observed = "abxy",
               .outcomes = Only("1111")},
        Litmus{.name = "weak fails for no reason",
               .threads = {Do(WeakCas(a, x, 0, 1))},
               .observed = "ax",
               .outcomes = Only("00 11")},
        Litmus{.name = "weak fails as often as it is told to",
               .threads = {Do(WeakCas(a, x, 0, 1), WeakCas(b, y, 0, 1))},
               .observed = "abxy",
               .outcomes = Only("1111 0101 1010")},
        Litmus{.name = "weak fails twice",
               .threads = {Do(WeakCas(a, x, 0, 1), WeakCas(b, y, 0, 1))},
               .observed = "abxy",
               .outcomes = Only("1111 0101 1010 0000"),
               .spurious_failures = 2},
        Litmus{.name = "weak fails in each thread",
               .threads = {Do(WeakCas(a, x, 0, 1)), Do(WeakCas(b, y, 0, 1))},
               .observed = "abxy",
               .outcomes = Only("1111 0101 1010 0000")},
        Litmus{.name = "weak fails never",
               .threads = {Do(WeakCas(a, x, 0, 1))},
               .observed = "ax",
               .outcomes = Only("11"),
               .spurious_failures = 0}),
    NameOf);

// ---- Waiting.

// Another thread may signal after a waiter joins the queue, and before it has
// unlocked the mutex. Such a signal does not come before the unlock.
TEST(WaitTest, ASignalDoesNotOrderTheWaitersUnlock) {
  std::set<std::pair<bool, bool>> outcomes[2];
  for (const Mode mode : {Mode::kExhaustive, Mode::kNaive}) {
    const Result result = Check({.mode = mode, .spurious_failures = 0}, [&] {
      Mutex mutex;
      CondVar changed;
      bool go = false;
      Thread waiter([&] {
        mutex.Lock();
        while (!go) changed.Wait(&mutex);
        mutex.Unlock();
      });
      const bool first = mutex.TryLock();
      if (first) mutex.Unlock();
      const bool second = mutex.TryLock();
      if (second) mutex.Unlock();
      changed.Signal();
      mutex.Lock();
      go = true;
      mutex.Unlock();
      changed.Signal();
      waiter.Join();
      outcomes[mode == Mode::kNaive ? 1 : 0].emplace(first, second);
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
  }
  EXPECT_EQ(outcomes[0].size(), 4);
  EXPECT_EQ(outcomes[0], outcomes[1]);
}

// Store buffering, with a call between store and load.
template <class Call>
std::set<std::pair<int, int>> StoreBufferingAround(Call call) {
  std::set<std::pair<int, int>> outcomes;
  const Result result = Check({.spurious_failures = 0}, [&] {
    Atomic<int> x = 0;
    Atomic<int> y = 0;
    Atomic<uint32_t> word = 0;
    CondVar changed;
    int a = 0;
    int b = 0;
    {
      const Thread one([&] {
        x.store(1, relaxed);
        call(changed, word);
        a = y.load(relaxed);
      });
      const Thread two([&] {
        y.store(1, relaxed);
        call(changed, word);
        b = x.load(relaxed);
      });
    }
    outcomes.emplace(a, b);
  });
  EXPECT_TRUE(result.complete) << result.message << result.trace;
  return outcomes;
}

TEST(WaitTest, NeitherASignalNorAWakeIsAFence) {
  EXPECT_EQ(StoreBufferingAround([](CondVar& changed, Atomic<uint32_t>&) {
              changed.Signal();
            }).size(),
            4);
  EXPECT_EQ(StoreBufferingAround([](CondVar&, Atomic<uint32_t>& word) {
              FutexWakeOne(word);
            }).size(),
            4);
}

// A wake that finds no waiter comes before a wait that reads the word later, so
// this wait does not sleep forever.
TEST(WaitTest, AFutexWaitSeesWhatCameBeforeTheWake) {
  const Result result = Check({.spurious_failures = 0}, [] {
    Atomic<uint32_t> word = 0;
    const Thread other([&] {
      word.store(1, relaxed);
      FutexWakeOne(word);
    });
    while (word.load(relaxed) == 0) FutexWait(word, 0);
  });
  EXPECT_TRUE(result.complete) << result.message << result.trace;
}

TEST(WaitTest, TryLockMayFailForNoReason) {
  for (const int failures : {0, 1}) {
    std::set<std::pair<bool, bool>> outcomes;
    const Result result = Check({.spurious_failures = failures}, [&] {
      Mutex mutex;
      const bool first = mutex.TryLock();
      if (first) mutex.Unlock();
      const bool second = mutex.TryLock();
      if (second) mutex.Unlock();
      outcomes.emplace(first, second);
    });
    EXPECT_TRUE(result.complete) << result.message << result.trace;
    EXPECT_EQ(outcomes.size(), failures == 0 ? 1 : 3);
  }
}

// ---- Limits: C++20 allows more.

INSTANTIATE_TEST_SUITE_P(
    Limits, LitmusTest,
    testing::Values(
        // 11 would be load buffering: each load reads a value stored later.
        Litmus{.name = "load buffering relaxed",
               .threads = {Do(Load(a, x, relaxed), Store(y, 1, relaxed)),
                           Do(Load(b, y, relaxed), Store(x, 1, relaxed))},
               .observed = "ab",
               .outcomes = AllBut("11", 2)},
        // C++20 forbids this outcome too: it is a cycle in happens-before.
        Litmus{.name = "load buffering release acquire",
               .threads = {Do(Load(a, x, acquire), Store(y, 1, release)),
                           Do(Load(b, y, acquire), Store(x, 1, release))},
               .observed = "ab",
               .outcomes = AllBut("11", 2)},
        // S is the order of execution, so no weaker access that follows an
        // access of S in its thread is seen before that access. C++20 allows
        // 10, with the load before the store in S, and ARMv8 has this outcome
        // (`stlr; str` against `ldr; ldar`).
        Litmus{.name = "data seq_cst and a relaxed flag",
               .threads = {Do(Store(x, 1, seq_cst), Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), Load(b, x, seq_cst))},
               .observed = "ab",
               .outcomes = AllBut("10", 2)},
        // C++20 allows 12.
        Litmus{.name = "S seq_cst and a relaxed flag",
               .threads = {Do(Store(x, 2, seq_cst), Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), Store(x, 1, seq_cst))},
               .observed = "ax",
               .outcomes = Only("01 02 11")},
        // Fences are alike: C++20 allows 110, with the third thread's fence
        // before the first thread's in S, although each step follows from the
        // previous step by program order or by a read. ARMv8 and POWER have
        // this outcome: the second thread's store can run before its load.
        Litmus{.name = "seq_cst fences and relaxed accesses between",
               .threads = {Do(Store(x, 1, relaxed), Fence(seq_cst),
                              Store(y, 1, relaxed)),
                           Do(Load(a, y, relaxed), Store(z, 1, relaxed)),
                           Do(Load(b, z, relaxed), Fence(seq_cst),
                              Load(c, x, relaxed))},
               .observed = "abc",
               .outcomes = AllBut("110", 3)},
        // C++20 allows 130 since P0668: happens-before by a release that is not
        // in S need not be an order in S. POWER has this outcome.
        Litmus{
            .name = "Z6U",
            .threads = {Do(Store(x, 1, seq_cst), Store(y, 1, release)),
                        Do(Add(a, y, 1, seq_cst), Load(b, y, relaxed)),
                        Do(Store(y, 3, seq_cst), Load(c, x, seq_cst))},
            .observed = "abc",
            .outcomes = Only("010 011 030 031 120 121 131 310 311 340 341")}),
    NameOf);

// ---- Algorithms: correct, and wrong by one memory order.

struct Algorithm {
  std::string name;
  std::function<void()> body;
  std::string failure;  // a part of the message; empty if there is no failure
};

void PrintTo(const Algorithm& algorithm, std::ostream* out) {
  *out << algorithm.name;
}

class AlgorithmTest : public testing::TestWithParam<Algorithm> {};

TEST_P(AlgorithmTest, IsAsItShouldBe) {
  const Result result = Check({}, GetParam().body);
  EXPECT_THAT(result.message, HasSubstr(GetParam().failure));
  EXPECT_EQ(result.failed, !GetParam().failure.empty()) << result.message;
  EXPECT_EQ(result.complete, GetParam().failure.empty());
}
TEST_P(AlgorithmTest, IsAsItShouldBeWithoutReduction) {
  // Some algorithms are too large to be explored in full.
  const Result result =
      Check({.mode = Mode::kNaive, .max_executions = 200'000}, GetParam().body);
  EXPECT_THAT(result.message, HasSubstr(GetParam().failure));
  EXPECT_EQ(result.failed, !GetParam().failure.empty()) << result.message;
}

// Two threads lock once each.
template <class Lock>
std::function<void()> Excludes(Lock (*make)()) {
  return [make] {
    Lock lock = make();
    Cell<int> data(0);
    const auto body = [&](int self) {
      lock.Lock(self);
      ++data.Write();
      lock.Unlock(self);
    };
    {
      const Thread other([&] { body(1); });
      body(0);
    }
    Require(data.Read() == 2);
  };
}

template <std::memory_order kStore, std::memory_order kLoad>
class Peterson {
 public:
  void Lock(int self) {
    wants_[self].store(true, kStore);
    turn_.store(1 - self, kStore);
    while (wants_[1 - self].load(kLoad) && turn_.load(kLoad) == 1 - self) {
      SpinHint();
    }
  }
  void Unlock(int self) {
    wants_[self].store(false, kStore == relaxed ? release : kStore);
  }

 private:
  Atomic<bool> wants_[2];
  Atomic<int> turn_ = 0;
};

// The exchanges of `turn_` are ordered: the second acquires from the first.
template <std::memory_order kExchange>
class PetersonByExchange {
 public:
  void Lock(int self) {
    wants_[self].store(true, relaxed);
    turn_.exchange(1 - self, kExchange);
    while (wants_[1 - self].load(acquire) && turn_.load(relaxed) == 1 - self) {
      SpinHint();
    }
  }
  void Unlock(int self) { wants_[self].store(false, release); }

 private:
  Atomic<bool> wants_[2];
  Atomic<int> turn_ = 0;
};

template <std::memory_order kStore, std::memory_order kLoad>
class Dekker {
 public:
  void Lock(int self) {
    wants_[self].store(true, kStore);
    while (wants_[1 - self].load(kLoad)) {
      if (turn_.load(kLoad) == self) {
        SpinHint();
        continue;
      }
      wants_[self].store(false, kStore);
      while (turn_.load(kLoad) != self) SpinHint();
      wants_[self].store(true, kStore);
    }
  }
  void Unlock(int self) {
    turn_.store(1 - self, kStore);
    wants_[self].store(false, kStore);
  }

 private:
  Atomic<bool> wants_[2];
  Atomic<int> turn_ = 0;
};

// Lamport's algorithm, for two threads.
template <std::memory_order kStore, std::memory_order kLoad>
class Bakery {
 public:
  void Lock(int self) {
    const int other = 1 - self;
    choosing_[self].store(true, kStore);
    const int ticket = ticket_[other].load(kLoad) + 1;
    ticket_[self].store(ticket, kStore);
    choosing_[self].store(false, kStore);
    while (choosing_[other].load(kLoad)) SpinHint();
    for (;;) {
      const int theirs = ticket_[other].load(kLoad);
      if (theirs == 0 || ticket < theirs || (ticket == theirs && self == 0)) {
        return;
      }
      SpinHint();
    }
  }
  void Unlock(int self) { ticket_[self].store(0, kStore); }

 private:
  Atomic<bool> choosing_[2];
  Atomic<int> ticket_[2];
};

template <std::memory_order kLock, std::memory_order kUnlock>
class SpinLock {
 public:
  void Lock(int /*self*/) {
    while (locked_.exchange(true, kLock)) {
      while (locked_.load(relaxed)) SpinHint();
    }
  }
  void Unlock(int /*self*/) { locked_.store(false, kUnlock); }

 private:
  Atomic<bool> locked_ = false;
};

template <std::memory_order kLoad>
class TicketLock {
 public:
  void Lock(int /*self*/) {
    const int ticket = next_.fetch_add(1, relaxed);
    while (serving_.load(kLoad) != ticket) SpinHint();
    serving_now_ = ticket;
  }
  void Unlock(int /*self*/) { serving_.store(serving_now_ + 1, release); }

 private:
  Atomic<int> next_ = 0;
  Atomic<int> serving_ = 0;
  int serving_now_ = 0;  // belongs to the thread that holds the lock
};

template <class Lock>
Lock Make() {
  return Lock();
}

// The data must be atomic, because they are read and written concurrently.
template <bool kWriterFence, bool kReaderFence>
void SeqLock() {
  Atomic<int> sequence = 0;
  Atomic<int> first = 0;
  Atomic<int> second = 0;
  const Thread writer([&] {
    sequence.store(1, relaxed);
    if (kWriterFence) AtomicThreadFence(release);
    first.store(1, relaxed);
    second.store(1, relaxed);
    sequence.store(2, release);
  });
  const int before = sequence.load(acquire);
  const int one = first.load(relaxed);
  const int two = second.load(relaxed);
  if (kReaderFence) AtomicThreadFence(acquire);
  const int after = sequence.load(relaxed);
  if (before == after && before % 2 == 0) Require(one == two, "torn");
}

template <std::memory_order kStore, std::memory_order kLoad>
void DoubleCheckedInit() {
  Mutex mutex;
  Atomic<bool> done = false;
  Cell<int> value(0);
  const auto get = [&] {
    if (!done.load(kLoad)) {
      const MutexLock lock(&mutex);
      if (!done.load(relaxed)) {
        value.Write() = 42;
        done.store(true, kStore);
      }
    }
    Require(value.Read() == 42);
  };
  const Thread other(get);
  get();
}

// Treiber's stack. Two threads push, and then one takes the whole stack.
template <std::memory_order kPush, std::memory_order kTake>
void Stack() {
  struct Node {
    Cell<int> value;
    Node* next = nullptr;
  };
  Atomic<Node*> head = nullptr;
  const auto push = [&](int value) {
    auto node = std::make_unique<Node>();
    node->value.Write() = value;
    node->next = head.load(relaxed);
    while (
        !head.compare_exchange_weak(node->next, node.get(), kPush, relaxed)) {
    }
    node.release();
  };
  int sum = 0;
  const auto take = [&] {
    for (Node* node = head.exchange(nullptr, kTake); node != nullptr;) {
      const std::unique_ptr<Node> owned(node);
      sum += node->value.Read();
      node = node->next;
    }
  };
  Thread one([&] { push(1); });
  Thread two([&] { push(2); });
  take();
  one.Join();
  two.Join();
  take();
  Require(sum == 3);
}

std::string NameOfAlgorithm(const testing::TestParamInfo<Algorithm>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Algorithms, AlgorithmTest,
    testing::Values(
        Algorithm{"Peterson", Excludes(&Make<Peterson<seq_cst, seq_cst>>), ""},
        Algorithm{"PetersonWithoutSeqCst",
                  Excludes(&Make<Peterson<release, acquire>>), "data race"},
        Algorithm{"PetersonWithAnExchange",
                  Excludes(&Make<PetersonByExchange<acq_rel>>), ""},
        Algorithm{"PetersonWithARelaxedExchange",
                  Excludes(&Make<PetersonByExchange<relaxed>>), "data race"},
        Algorithm{"Dekker", Excludes(&Make<Dekker<seq_cst, seq_cst>>), ""},
        Algorithm{"DekkerWithoutSeqCst",
                  Excludes(&Make<Dekker<release, acquire>>), "data race"},
        Algorithm{"Bakery", Excludes(&Make<Bakery<seq_cst, seq_cst>>), ""},
        Algorithm{"BakeryWithoutSeqCst",
                  Excludes(&Make<Bakery<release, acquire>>), "data race"},
        Algorithm{"SpinLock", Excludes(&Make<SpinLock<acquire, release>>), ""},
        Algorithm{"SpinLockThatDoesNotAcquire",
                  Excludes(&Make<SpinLock<relaxed, release>>), "data race"},
        Algorithm{"SpinLockThatDoesNotRelease",
                  Excludes(&Make<SpinLock<acquire, relaxed>>), "data race"},
        Algorithm{"TicketLock", Excludes(&Make<TicketLock<acquire>>), ""},
        Algorithm{"TicketLockThatDoesNotAcquire",
                  Excludes(&Make<TicketLock<relaxed>>), "data race"},
        Algorithm{"SeqLock", &SeqLock<true, true>, ""},
        Algorithm{"SeqLockWithoutAWritersFence", &SeqLock<false, true>, "torn"},
        Algorithm{"SeqLockWithoutAReadersFence", &SeqLock<true, false>, "torn"},
        Algorithm{"DoubleCheckedInit", &DoubleCheckedInit<release, acquire>,
                  ""},
        Algorithm{"DoubleCheckedInitThatDoesNotRelease",
                  &DoubleCheckedInit<relaxed, acquire>, "data race"},
        Algorithm{"DoubleCheckedInitThatDoesNotAcquire",
                  &DoubleCheckedInit<release, relaxed>, "data race"},
        // Between two pushes, the read-modify-writes continue the release.
        Algorithm{"Stack", &Stack<release, acquire>, ""},
        Algorithm{"StackThatDoesNotRelease", &Stack<relaxed, acquire>,
                  "data race"},
        Algorithm{"StackThatDoesNotAcquire", &Stack<release, relaxed>,
                  "data race"}),
    NameOfAlgorithm);

// NOLINTEND(performance-unnecessary-value-param)

}  // namespace
}  // namespace rouse::model
