// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/registration.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/log/vlog.h"
#include "rouse/reactor/core.h"
#include "rouse/reactor/fallback.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/io_outcome.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/registry.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/slot/readiness_word.h"
#include "rouse/reactor/slot/slot.h"
#include "rouse/reactor/slot/waiter.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::reactor {
namespace {

absl::Status NotRegisteredError() {
  return absl::FailedPreconditionError(
      "the socket or descriptor was closed, deregistered or moved from; if "
      "moved from, use the object that it was moved to");
}

}  // namespace

absl::StatusOr<Registration> Registration::Create(int fd, Interest interest,
                                                  const Handle& handle) {
  FdSource source(fd);
  return CreateBy(
      [&](const Registry& registry, Token token) {
        return source.Register(registry, token, interest);
      },
      fd, handle);
}

absl::StatusOr<Registration> Registration::CreateBy(Attach attach, int fd,
                                                    const Handle& handle) {
  const absl::StatusOr<Handle> bound = BindHandle(handle);
  if (!bound.ok()) return bound.status();
  internal::Core* core = bound->core();
  uint32_t index;
  const Registry& registry = core->queue().registry();
  absl::StatusOr<internal::Slot*> slot = core->Register(
      [&](Token token) { return attach(registry, token); }, index);
  if (!slot.ok()) return std::move(slot).status();
  core->Ref();
  Registration registration(core, *slot, index, fd);
  ROUSE_VLOG(2, *bound, ": registered source ", index, " for descriptor ", fd);
  return registration;
}

Registration& Registration::operator=(Registration&& other) noexcept {
  if (this == &other) return *this;
  if (core_ != nullptr) Deregister().IgnoreError();
  core_ = std::exchange(other.core_, nullptr);
  slot_ = other.slot_;
  index_ = other.index_;
  fd_ = other.fd_;
  return *this;
}

absl::Status Registration::Deregister() {
  return DeregisterBy([this](const Registry& registry) {
    if (fd_ == kNoFd) {
      return absl::FailedPreconditionError(
          "the Registration of a Source ended without the Source; call "
          "Deregister(source) before the Registration is destroyed");
    }
    return FdSource(fd_).Deregister(registry);
  });
}

absl::Status Registration::DeregisterBy(Detach detach) {
  if (core_ == nullptr) return NotRegisteredError();
  // Released last, even if a waker throws.
  const Handle handle = core_->TakeHandle();
  internal::Core* const core = std::exchange(core_, nullptr);
  const Registry& registry = core->queue().registry();
  // Before the slot is free for another source of this index.
  ROUSE_VLOG(2, handle, ": deregisters source ", index_, " for descriptor ",
             fd_);
  return core->Deregister([&] { return detach(registry); }, slot_, index_);
}

absl::Status Registration::Reregister(Interest interest) const {
  return ReregisterBy([this, interest](const Registry& registry, Token token) {
    if (fd_ == kNoFd) {
      return absl::FailedPreconditionError(
          "the Registration of a Source cannot reach the Source; call "
          "Reregister(source, interest) instead");
    }
    return FdSource(fd_).Reregister(registry, token, interest);
  });
}

absl::Status Registration::ReregisterBy(Attach change) const {
  if (core_ == nullptr) return NotRegisteredError();
  const Registry& registry = core_->queue().registry();
  return core_->Reregister([&](Token token) { return change(registry, token); },
                           slot_, index_);
}

Handle Registration::handle() const {
  return core_ == nullptr ? Handle() : core_->NewHandle();
}

absl::Status Registration::CannotBecomeReady() const {
  return core_ == nullptr
             ? NotRegisteredError()
             : absl::UnavailableError("the reactor has been shut down");
}

uint64_t Registration::LoadOrWait(Direction direction, Context& cx,
                                  Waiter* waiter) const {
  const uint64_t word = slot_->Load();
  return IsReady(direction, word) ? word
                                  : slot_->Wait(direction, cx.waker(), waiter);
}

IoOutcome Registration::WithoutBudget(Context& cx) {
  static_cast<void>(YieldForBudget(cx));
  return IoOutcome::Pending();
}

IoOutcome Registration::Unready(Context& cx) {
  TakeUnitIfAny(cx);
  return IoOutcome::CannotBecomeReady();
}

PollResult<absl::StatusOr<ReadyEvent>> Registration::PollReady(
    Direction direction, Context& cx, Waiter* waiter) const {
  using Result = absl::StatusOr<ReadyEvent>;
  if (core_ == nullptr) return Result(CannotBecomeReady());
  const uint64_t word = LoadOrWait(direction, cx, waiter);
  if (word == 0) return kPending;
  if (!IsReady(direction, word)) return Result(CannotBecomeReady());
  return Result(ReadyEvent(direction, word));
}

std::optional<absl::StatusOr<ReadyEvent>> Registration::TryReady(
    Direction direction) const {
  using Result = absl::StatusOr<ReadyEvent>;
  if (core_ == nullptr) return Result(CannotBecomeReady());
  const uint64_t word = slot_->Load();
  if (IsReady(direction, word)) return Result(ReadyEvent(direction, word));
  if ((word & internal::ReadinessWord::kShutdown) == 0) return std::nullopt;
  return Result(CannotBecomeReady());
}

}  // namespace rouse::reactor
