// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
// Litmus tests: small programs must have exactly the outcomes that C++20
// allows. The features that are not modelled are at the end, under "Limits".
// coherence_test.cc has the programs with one location, and the release
// sequences.
//
// The clauses are those of the C++20 standard: [intro.races] for
// happens-before, coherence and release sequences, [atomics.order] for the
// order S of sequentially consistent operations, [atomics.fences] for fences.
// The names of the tests come from the literature (Alglave, Maranget,
// Tautschnig, "Herding Cats", TOPLAS 2014).

#include "rouse/testing/model/litmus.h"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace rouse::model::litmus {
namespace {

// The programs below are passed by value.
// NOLINTBEGIN(performance-unnecessary-value-param)

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

// NOLINTEND(performance-unnecessary-value-param)

}  // namespace
}  // namespace rouse::model::litmus
