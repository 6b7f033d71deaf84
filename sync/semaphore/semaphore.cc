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
      "Semaphore::Acquire: the semaphore is closed; no permit is to be had any "
      "more");
}

void Semaphore::PanicMovedFrom() {
  Panic(
      "Semaphore::AcquireOwned: polled after it was moved from; poll what it "
      "was moved to");
}

void Semaphore::PanicTooMany(const char* call) {
  Panic(std::string(call) +
        ": more permits than Semaphore::kMaxPermits; ask for fewer");
}

void Semaphore::Permit::Merge(Permit&& other) {
  if (other.n_ == 0) return;
  if (n_ > 0 && semaphore_ != other.semaphore_) {
    Panic(
        "Semaphore::Permit::Merge: permits of two semaphores; merge those of "
        "one");
  }
  semaphore_ = other.semaphore_;
  n_ += std::exchange(other.n_, 0);
}

}  // namespace rouse
