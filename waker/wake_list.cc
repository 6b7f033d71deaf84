// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/waker/wake_list.h"

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

#include "rouse/base/exceptions.h"
#include "rouse/waker/waker.h"

namespace rouse {

void WakeList::WakeAll() {
  std::exception_ptr first;
  const size_t count = std::exchange(size_, 0);
  for (size_t i = 0; i < count; ++i) {
    // The waker leaves the list first: whatever the call does, the slot is
    // empty.
    Waker waker = std::move(wakers_[i]);
    std::destroy_at(&wakers_[i]);
    ROUSE_TRY { std::move(waker).Wake(); }
    ROUSE_CATCH_ALL {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(std::move(first));
}

}  // namespace rouse
