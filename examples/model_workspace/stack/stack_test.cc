// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the stack as in a product, without any part of the model checker.

#include "stack/stack.h"

#include <thread>

int main() {
  consumer::Stack<int, 8> stack;
  std::thread other([&] {
    for (int i = 0; i < 4; ++i) stack.Push(1);
  });
  for (int i = 0; i < 4; ++i) stack.Push(1);
  other.join();
  int sum = 0;
  while (const auto value = stack.Pop()) sum += *value;
  return sum == 8 ? 0 : 1;
}
