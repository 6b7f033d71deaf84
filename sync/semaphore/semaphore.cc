// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/sync/semaphore/semaphore.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "rouse/base/panic.h"

namespace rouse {

absl::Status Semaphore::ClosedError() {
  return absl::FailedPreconditionError(
      "Semaphore::Acquire: the semaphore is closed; no permit can be acquired");
}

void Semaphore::PanicMovedFrom() {
  Panic(
      "Semaphore::AcquireOwned was polled after it was moved from; poll the "
      "future that it was moved to");
}

void Semaphore::PanicTooMany(const char* call) {
  Panic(std::string(call) +
        ": the number of permits exceeds Semaphore::kMaxPermits; request fewer "
        "permits");
}

void Semaphore::Permit::Merge(Permit&& other) {
  if (other.n_ == 0) return;
  if (n_ > 0 && semaphore_ != other.semaphore_) {
    Panic(
        "Semaphore::Permit::Merge: the permits belong to different semaphores; "
        "merge only permits of the same semaphore");
  }
  semaphore_ = other.semaphore_;
  n_ += std::exchange(other.n_, 0);
}

}  // namespace rouse
