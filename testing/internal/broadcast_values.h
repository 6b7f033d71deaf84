// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Helpers that the tests of broadcast share.

#ifndef ROUSE_TESTING_INTERNAL_BROADCAST_VALUES_H_
#define ROUSE_TESTING_INTERNAL_BROADCAST_VALUES_H_

#include <utility>
#include <vector>

#include "rouse/sync/broadcast.h"

namespace rouse::broadcast {

// Receives the values that are there now, until the next result is not a value.
template <class T>
std::vector<T> Drain(Receiver<T>& rx) {
  std::vector<T> values;
  for (;;) {
    Received<T> received = rx.TryReceive();
    if (!received.has_value()) return values;
    values.push_back(*std::move(received));
  }
}

}  // namespace rouse::broadcast

#endif  // ROUSE_TESTING_INTERNAL_BROADCAST_VALUES_H_
