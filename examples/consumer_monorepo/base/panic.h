// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef BASE_PANIC_H_
#define BASE_PANIC_H_

namespace monorepo {

struct Panic {
  int level = 1;
};

}  // namespace monorepo

#endif  // BASE_PANIC_H_
