// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/reactor.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/base/panic.h"
#include "rouse/reactor/core.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/slot/slot_table.h"
#include "rouse/waker/park.h"

namespace rouse::reactor {

static_assert(rouse::Park<Reactor>);

void Reactor::Unparker::Unpark() const { handle_.core()->Unpark(); }

Reactor::Reactor(Handle handle, size_t events_per_turn)
    : handle_(std::move(handle)), events_(events_per_turn) {}

absl::StatusOr<Reactor> Reactor::Create(const Options& options) {
  absl::StatusOr<internal::Core*> core = internal::Core::New(
      std::min(options.max_sources, internal::SlotTable::kMaxSlots));
  if (!core.ok()) return std::move(core).status();
  // The handle takes over the reference.
  return Reactor((*core)->TakeHandle(), options.events_per_turn);
}

Reactor::~Reactor() {
  if (handle_.IsBound()) Shutdown();
}

Reactor::Unparker Reactor::unparker() const { return Unparker(handle_); }

absl::StatusOr<size_t> Reactor::Turn(absl::Duration max_wait) {
  return handle_.core()->Turn(events_, max_wait);
}

void Reactor::ParkFor(absl::Duration max_wait) {
  const absl::StatusOr<size_t> events = Turn(max_wait);
  if (events.ok() || handle_.IsShutDown()) return;
  Panic(absl::StrCat(
      "the reactor cannot wait: ", events.status().message(),
      "; the program must not close descriptors that it has not opened"));
}

int Reactor::fd() const { return handle_.core()->queue().fd(); }

bool Reactor::PrepareToWait() { return handle_.core()->PrepareToWait(); }

void Reactor::RequestTurn() {
  const absl::Status status = handle_.core()->queue().Interrupt();
  if (!status.ok()) {
    Panic(absl::StrCat("cannot interrupt the reactor: ", status.message()));
  }
}

void Reactor::Shutdown() { handle_.core()->Shutdown(); }

bool Reactor::IsIdle() const { return handle_.core()->IsIdle(); }

}  // namespace rouse::reactor
