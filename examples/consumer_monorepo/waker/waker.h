// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef WAKER_WAKER_H_
#define WAKER_WAKER_H_

namespace monorepo {

struct Waker {
  int rings = 6;
};

}  // namespace monorepo

#endif  // WAKER_WAKER_H_
