// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Helpers that the tests of mpsc and mpmc share.

#ifndef ROUSE_TESTING_INTERNAL_MPSC_VALUES_H_
#define ROUSE_TESTING_INTERNAL_MPSC_VALUES_H_

#include <memory>
#include <utility>

#include "gtest/gtest.h"
#include "rouse/testing/poll_once.h"

namespace rouse::mpsc {

// More messages than fit into a few blocks.
inline constexpr int kMany = 200;

using Box = std::unique_ptr<int>;

inline Box MakeBox(int value) { return std::make_unique<int>(value); }

// Returns the result of a future that is ready.
template <class F>
auto Take(F&& future) {
  auto result = PollOnce(future);
  EXPECT_TRUE(result.IsReady());
  return std::move(result).value();
}

}  // namespace rouse::mpsc

#endif  // ROUSE_TESTING_INTERNAL_MPSC_VALUES_H_
