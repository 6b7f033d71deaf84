// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/worker_index.h"

#include <cstddef>
#include <optional>

#include "rouse/scheduler/worker.h"

namespace rouse {

std::optional<size_t> WorkerIndex() {
  const scheduler::Worker* const here = scheduler::Worker::Current();
  if (here == nullptr) return std::nullopt;
  return here->index();
}

}  // namespace rouse
