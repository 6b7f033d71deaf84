// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Litmus tests of release sequences, and of programs with one location. See
// litmus_test.cc.

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/testing/model/litmus.h"

namespace rouse::model::litmus {
namespace {

// The programs below are passed by value.
// NOLINTBEGIN(performance-unnecessary-value-param)

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

// NOLINTEND(performance-unnecessary-value-param)

}  // namespace
}  // namespace rouse::model::litmus
