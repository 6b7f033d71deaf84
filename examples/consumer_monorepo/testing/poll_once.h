// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TESTING_POLL_ONCE_H_
#define TESTING_POLL_ONCE_H_

namespace monorepo {

inline int PollOnce() { return 4; }

}  // namespace monorepo

#endif  // TESTING_POLL_ONCE_H_
