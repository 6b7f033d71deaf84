// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/future/coroutine_checks.h"
// The header above must come first.

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "rouse/future/co/co.h"
#include "rouse/future/coro_attributes.h"

namespace rouse {

Co<int> Answer() { co_return 42; }

// Compiles with the checks and without.
ROUSE_CORO_WRAPPER Co<int> Forward(const std::function<Co<int>()>& f) {
  return f();
}

Co<int> UseAll() {
  std::function<Co<int>()> function = Answer;
  absl::AnyInvocable<Co<int>()> any = Answer;
  absl::FunctionRef<Co<int>()> ref = Answer;
  std::optional<Co<int>> optional = Answer();
  std::vector<Co<int>> vector;
  vector.push_back(Answer());
  int sum = co_await function() + co_await any() + co_await ref();
  sum += co_await *std::move(optional) + co_await std::move(vector[0]);
  co_return sum + co_await std::invoke(Answer) + co_await Forward(function);
}

#ifdef ROUSE_NC_UNMARKED_WRAPPER
Co<int> Unmarked() { return Answer(); }
#endif

}  // namespace rouse
