// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses a component of Rouse beside the consumer's own folder of the same name.

#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/waker.h"
#include "waker/waker.h"

int main() {
  consumer::Waker own;
  rouse::AtomicWaker cell;
  cell.Register(rouse::Waker::FromCallable([&own] { ++own.rings; }));
  cell.Wake();
  return own.rings == 1 ? 0 : 1;
}
