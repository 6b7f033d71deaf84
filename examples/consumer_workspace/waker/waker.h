// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef WAKER_WAKER_H_
#define WAKER_WAKER_H_

namespace consumer {

// A waker of the consumer's own, in a folder with the name of a folder of
// Rouse.
struct Waker {
  int rings = 0;
};

}  // namespace consumer

#endif  // WAKER_WAKER_H_
