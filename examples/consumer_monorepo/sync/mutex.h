// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef SYNC_MUTEX_H_
#define SYNC_MUTEX_H_

namespace monorepo {

struct Mutex {
  int owner = 3;
};

}  // namespace monorepo

#endif  // SYNC_MUTEX_H_
