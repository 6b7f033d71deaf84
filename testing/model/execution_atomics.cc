// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps of an execution that access an atomic, and the fences.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "rouse/testing/model/execution.h"
#include "rouse/testing/model/memory.h"
#include "rouse/testing/model/mutation.h"
#include "rouse/testing/model/objects.h"
#include "rouse/testing/model/site.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {
namespace {

// Returns the part of an order that remains for the load, or for the store, of
// a read-modify-write that is torn, or whose store is skipped.
std::memory_order Half(std::memory_order order, bool load) {
  switch (order) {
    case std::memory_order_acq_rel:
      return load ? std::memory_order_acquire : std::memory_order_release;
    case std::memory_order_acquire:
    case std::memory_order_consume:
      return load ? order : std::memory_order_relaxed;
    case std::memory_order_release:
      return load ? std::memory_order_relaxed : order;
    case std::memory_order_relaxed:
    case std::memory_order_seq_cst:
      break;
  }
  return order;
}

}  // namespace

std::string Execution::ReadFrom(int object, int message) const {
  const int step = memory().message(object, message).step;
  if (step < 0) return "the initial value";
  return absl::StrCat("of step ", step);
}

uint64_t Execution::Load(ObjectHandle& handle, const void* address,
                         uint64_t initial, std::memory_order order,
                         const Site& site) {
  const Inside inside;
  if (mutation_ != nullptr) {
    order = mutation_->OrderAt(site, Role::kLoad, order);
  }
  if (rehearsing()) return Cue(Deed::kLoad, &handle, site).read;
  const int object =
      objects().Resolve(handle, address, initial, "atomic", site);
  Step({.object = object, .seq_cst = order == std::memory_order_seq_cst},
       "load", object, site);
  CheckAlive(object, site);
  const Memory::Access access = memory().Load(
      running(), object, order, [this](int n) { return Decide(n); });
  self().spin.Did(
      {.kind = Deed::kLoad, .object = object, .read = access.value});
  if (tracing()) {
    Note(absl::StrFormat("%s.load(%s) = %d, %s", Describe(object), Name(order),
                         access.value, ReadFrom(object, access.read)),
         site);
  }
  return access.value;
}

void Execution::Store(ObjectHandle& handle, const void* address,
                      uint64_t initial, uint64_t value, std::memory_order order,
                      const Site& site) {
  const Inside inside;
  if (mutation_ != nullptr) {
    order = mutation_->OrderAt(site, Role::kStore, order);
    if (mutation_->IsSkipped(site, Role::kStore)) return;
  }
  if (rehearsing()) {
    if (Cue(Deed::kStore, &handle, site).written != value) GivesUp(site);
    return;
  }
  const int object =
      objects().Resolve(handle, address, initial, "atomic", site);
  Step({.object = object,
        .writes = true,
        .seq_cst = order == std::memory_order_seq_cst},
       "store", object, site);
  CheckAlive(object, site);
  const Memory::Access access = memory().Store(
      running(), object, value, order, [this](int n) { return Decide(n); });
  self().spin.Did({.kind = Deed::kStore, .object = object, .written = value});
  if (tracing()) {
    Note(absl::StrFormat(
             "%s.store(%d, %s)%s", Describe(object), value, Name(order),
             access.place == 0
                 ? ""
                 : absl::StrCat(", ", access.place, " before the newest")),
         site);
  }
}

uint64_t Execution::Modify(ObjectHandle& handle, const void* address,
                           uint64_t initial, std::memory_order order,
                           absl::FunctionRef<uint64_t(uint64_t)> change,
                           std::string_view name, const Site& site) {
  const Inside inside;
  if (mutation_ != nullptr) {
    order = mutation_->OrderAt(site, Role::kModify, order);
    const bool torn = mutation_->IsTorn(site);
    if (torn || mutation_->IsSkipped(site, Role::kModify)) {
      const uint64_t value =
          Load(handle, address, initial, Half(order, /*load=*/true), site);
      if (torn) {
        Store(handle, address, initial, change(value),
              Half(order, /*load=*/false), site);
      }
      return value;
    }
  }
  if (rehearsing()) {
    const Deed& cue = Cue(Deed::kModify, &handle, site);
    if (change(cue.read) != cue.written) GivesUp(site);
    return cue.read;
  }
  const int object =
      objects().Resolve(handle, address, initial, "atomic", site);
  Step({.object = object,
        .writes = true,
        .seq_cst = order == std::memory_order_seq_cst},
       name, object, site);
  CheckAlive(object, site);
  const Memory::Access access = memory().Modify(
      running(), object, order, change, [this](int n) { return Decide(n); });
  self().spin.Did({.kind = Deed::kModify,
                   .object = object,
                   .read = access.value,
                   .written = access.stored});
  if (tracing()) {
    Note(absl::StrFormat("%s.%s(%s): %d, %s, becomes %d", Describe(object),
                         name, Name(order), access.value,
                         ReadFrom(object, access.read), access.stored),
         site);
  }
  return access.value;
}

bool Execution::CompareExchange(ObjectHandle& handle, const void* address,
                                uint64_t initial, uint64_t& expected,
                                uint64_t desired, std::memory_order success,
                                std::memory_order failure, bool weak,
                                const Site& site) {
  const Inside inside;
  if (mutation_ != nullptr) {
    failure = mutation_->OrderAt(site, Role::kFailure, failure);
    success = mutation_->OrderAt(site, Role::kModify, success);
    const bool torn = mutation_->IsTorn(site);
    if (torn || mutation_->IsSkipped(site, Role::kModify)) {
      const uint64_t value =
          LoadToCompare(handle, address, initial, expected,
                        Half(success, /*load=*/true), failure, site);
      if (value == expected) {
        if (torn) {
          Store(handle, address, initial, desired,
                Half(success, /*load=*/false), site);
        }
        return true;
      }
      expected = value;
      return false;
    }
  }
  if (rehearsing()) {
    const bool succeeds = self().spin.cue().kind == Deed::kModify;
    const Deed& cue =
        Cue(succeeds ? Deed::kModify : Deed::kCompare, &handle, site);
    if (succeeds != (cue.read == expected) ||
        (succeeds && cue.written != desired)) {
      GivesUp(site);
    }
    expected = cue.read;
    return succeeds;
  }
  const int object =
      objects().Resolve(handle, address, initial, "atomic", site);
  Step({.object = object,
        .writes = true,
        .seq_cst = success == std::memory_order_seq_cst ||
                   failure == std::memory_order_seq_cst},
       "compare_exchange", object, site);
  CheckAlive(object, site);
  const Memory::Access access = memory().CompareExchange(
      running(), object, expected, desired, success, failure,
      weak && MayFailSpuriously(), [this](int n) { return Decide(n); });
  const bool succeeded = access.written >= 0;
  self().spin.Did({.kind = succeeded ? Deed::kModify : Deed::kCompare,
                   .object = object,
                   .read = access.value,
                   .written = desired});
  if (!succeeded && access.value == expected) FailedSpuriously();
  if (tracing()) {
    const std::string read =
        absl::StrFormat("%d, %s,", access.value, ReadFrom(object, access.read));
    Note(absl::StrFormat("%s.compare_exchange_%s(%d, %d, %s, %s): %s",
                         Describe(object), weak ? "weak" : "strong", expected,
                         desired, Name(success), Name(failure),
                         succeeded ? absl::StrCat(read, " becomes ", desired)
                         : access.value == expected
                             ? absl::StrCat(read, " fails spuriously")
                             : absl::StrCat(read, " differs")),
         site);
  }
  expected = access.value;
  return succeeded;
}

uint64_t Execution::LoadToCompare(ObjectHandle& handle, const void* address,
                                  uint64_t initial, uint64_t expected,
                                  std::memory_order match,
                                  std::memory_order differ, const Site& site) {
  if (rehearsing()) return Cue(Deed::kLoad, &handle, site).read;
  const int object =
      objects().Resolve(handle, address, initial, "atomic", site);
  Step({.object = object,
        .seq_cst = match == std::memory_order_seq_cst ||
                   differ == std::memory_order_seq_cst},
       "load", object, site);
  CheckAlive(object, site);
  const Memory::Access access =
      memory().LoadToCompare(running(), object, expected, match, differ,
                             [this](int n) { return Decide(n); });
  self().spin.Did(
      {.kind = Deed::kLoad, .object = object, .read = access.value});
  if (tracing()) {
    Note(absl::StrFormat("%s.load(%s) = %d, %s", Describe(object),
                         Name(access.value == expected ? match : differ),
                         access.value, ReadFrom(object, access.read)),
         site);
  }
  return access.value;
}

void Execution::Fence(std::memory_order order, const Site& site) {
  const Inside inside;
  if (mutation_ != nullptr) {
    order = mutation_->OrderAt(site, Role::kFence, order);
  }
  if (rehearsing()) {
    Cue(Deed::kFence, nullptr, site);
    return;
  }
  self().spin.Did({.kind = Deed::kFence});
  if (order == std::memory_order_seq_cst) {
    Step({.seq_cst = true}, "fence", -1, site);
  } else {
    Count(site);
  }
  memory().Fence(running(), order);
  if (tracing()) Note(absl::StrCat("fence(", Name(order), ")"), site);
}

void Execution::FenceAllThreads(const Site& site) {
  const Inside inside;
  DoesOtherwise(site);
  Step({.everything = true}, "barrier", -1, site);
  ThreadSet threads;
  // Finished threads are included, because their stores remain.
  for (int i = 0; i < thread_count(); ++i) threads.Insert(i);
  memory().FenceAll(threads);
  if (tracing()) Note("barrier in all threads", site);
}

}  // namespace rouse::model
