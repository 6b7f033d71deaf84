// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: gtest.h
// -----------------------------------------------------------------------------
//
// Models as GoogleTests.
//
//   MODEL_TEST(AtomicWaker, LosesNoWake) {
//     AtomicWaker cell;
//     ...
//   }
//   MODEL_TEST(Channel, Large, .mode = rouse::model::Mode::kBounded,
//              .preemption_bound = 3) {
//     ...
//   }
//   // Each mutant of atomic_waker.{h,cc} fails one of the suite's models.
//   MODEL_MUTANTS(AtomicWaker, "waker/atomic_waker");
//
// A model fails if it was cut off, in any mode except kRandom. An EXPECT_ in
// the body fails the model like a Require(), at the end of the execution. The
// extent of the exploration is printed, and recorded as test properties.
//
// A failure prints a replay string. To run the failing execution again:
//
//   tools/bazel test //waker:atomic_waker_model_test
//       --test_filter=Suite.Name --test_env=ROUSE_MODEL_REPLAY=m2:...

#ifndef ROUSE_TESTING_MODEL_GTEST_H_
#define ROUSE_TESTING_MODEL_GTEST_H_

#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rouse/testing/model/check.h"

// MODEL_TEST(Suite, Name) { body }
// MODEL_TEST(Suite, Name, options as designated initializers...) { body }
#define MODEL_TEST(suite, name, ...)                                        \
  static void RouseModel_##suite##_##name();                                \
  [[maybe_unused]] static const bool kRouseModel_##suite##_##name =         \
      ::rouse::model::internal::Register(                                   \
          #suite, {::rouse::model::Options{__VA_ARGS__},                    \
                   &RouseModel_##suite##_##name});                          \
  TEST(suite, name) {                                                       \
    ::rouse::model::internal::RunTest(::rouse::model::Options{__VA_ARGS__}, \
                                      &RouseModel_##suite##_##name);        \
  }                                                                         \
  static void RouseModel_##suite##_##name()

// MODEL_MUTANTS(Suite, "files")
// MODEL_MUTANTS(Suite, "files", "part of a mutant's name: a reason", ...)
//
// Tests that the models of `Suite` in this program kill every mutant
// (`CheckMutants`, in check.h) of the operations in source files whose path
// contains one of `files`, separated by '|'. Operations in the test's own file
// are left out, unless the file's path ends with `files`.
//
// The further arguments list the mutants that are meant to survive. A mutant is
// listed if the mutant's name contains the part of an argument before the last
// colon; the rest of the argument is the reason. If the reason begins with
// "killed by", as in "killed by idle_model_test", another test kills the
// mutant, and this test does not try the mutant. Skipped under
// AddressSanitizer, ThreadSanitizer and UndefinedBehaviorSanitizer, which end
// the program where the checker would continue.
#define MODEL_MUTANTS(suite, files, ...)                          \
  TEST(suite, KillsMutants) {                                     \
    ::rouse::model::internal::RunMutants(#suite, files, __FILE__, \
                                         {__VA_ARGS__});          \
  }                                                               \
  static_assert(true)

namespace rouse::model::internal {

bool Register(std::string_view suite, const Model& model);
void RunTest(const Options& options, void (*body)());
void RunMutants(std::string_view suite, std::string_view files,
                std::string_view test_file,
                const std::vector<std::string_view>& survivors);

}  // namespace rouse::model::internal

#endif  // ROUSE_TESTING_MODEL_GTEST_H_
