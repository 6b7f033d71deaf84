// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TIMER_SLEEP_H_
#define TIMER_SLEEP_H_

namespace monorepo {

struct Sleep {
  int hours = 5;
};

}  // namespace monorepo

#endif  // TIMER_SLEEP_H_
