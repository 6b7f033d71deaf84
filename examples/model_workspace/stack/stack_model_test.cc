// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the stack in every execution that the C++ memory model allows.

#include <algorithm>
#include <optional>
#include <vector>

#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"
#include "stack/stack.h"

namespace consumer {
namespace {

using rouse::model::Require;
using rouse::model::Thread;

// Empties `stack`, and returns its values and `values`, sorted.
template <class Stack>
std::vector<int> All(Stack& stack,
                     const std::vector<std::optional<int>>& values) {
  std::vector<int> all;
  for (const std::optional<int>& value : values) {
    if (value) all.push_back(*value);
  }
  while (std::optional<int> value = stack.Pop()) all.push_back(*value);
  std::sort(all.begin(), all.end());
  return all;
}

MODEL_TEST(Stack, TwoPushesLoseNoNode) {
  Stack<int, 2> stack;
  Thread other([&] { Require(stack.Push(1)); });
  Require(stack.Push(2));
  other.Join();
  Require(All(stack, {}) == std::vector{1, 2});
}

MODEL_TEST(Stack, TwoPopsGetDifferentNodes) {
  Stack<int, 2> stack;
  stack.Push(1);
  stack.Push(2);
  std::optional<int> first;
  Thread other([&] { first = stack.Pop(); });
  const std::optional<int> second = stack.Pop();
  other.Join();
  Require(first.has_value() && second.has_value());
  Require(All(stack, {first, second}) == std::vector{1, 2});
}

MODEL_TEST(Stack, APoppedNodeWasPushed) {
  Stack<int, 2> stack;
  Thread other([&] { stack.Push(1); });
  const std::optional<int> popped = stack.Pop();
  other.Join();
  Require(All(stack, {popped}) == std::vector{1});
}

// A node is pushed again while another thread is about to pop the node. The
// models above test exchanges that fail for no reason.
MODEL_TEST(Stack, AReusedNodeIsNoticed, .spurious_failures = 0) {
  Stack<int, 2> stack;
  stack.Push(1);
  stack.Push(2);
  std::optional<int> first;
  std::optional<int> second;
  bool pushed = false;
  Thread other([&] {
    first = stack.Pop();
    second = stack.Pop();
    pushed = stack.Push(3);
  });
  const std::optional<int> third = stack.Pop();
  other.Join();
  Require(pushed);
  Require(All(stack, {first, second, third}) == std::vector{1, 2, 3});
}

MODEL_MUTANTS(Stack, "stack/stack.h");

}  // namespace
}  // namespace consumer
