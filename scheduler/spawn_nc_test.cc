// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Mistakes that users make with Spawn(). Compiled by rouse_cc_nc_test, one case
// at a time.

#include <memory>
#include <utility>

#include "rouse/future/co.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/group/join_set.h"

namespace rouse {
namespace {

[[maybe_unused]] Co<int> Answer() { co_return 42; }

// Compiles. Each case differs from this only by its mistake.
[[maybe_unused]] void Fine() {
  Co<int> co = Answer();
  Spawn(std::move(co)).Detach();
  Spawn(Answer).Detach();
}

#ifdef ROUSE_NC_LVALUE_CO
void Bad() {
  Co<int> co = Answer();
  Spawn(co).Detach();
}
#endif

#ifdef ROUSE_NC_LVALUE_CO_IN_A_SET
void Bad(JoinSet<int>& set) {
  Co<int> co = Answer();
  set.Spawn(co);
}
#endif

#ifdef ROUSE_NC_LVALUE_OF_MOVE_ONLY_LAMBDA
void Bad() {
  auto work = [value = std::make_unique<int>(1)]() -> Co<int> {
    co_return *value;
  };
  Spawn(work).Detach();
}
#endif

#ifdef ROUSE_NC_CALLABLE_OF_NO_FUTURE
void Bad() {
  Spawn([] { return 3; });
}
#endif

}  // namespace
}  // namespace rouse
