// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef WAKER_WAKER_H_
#define WAKER_WAKER_H_

namespace consumer {

// What this consumer calls a waker. Its folder has the name of one of Rouse's.
struct Waker {
  int rings = 0;
};

}  // namespace consumer

#endif  // WAKER_WAKER_H_
