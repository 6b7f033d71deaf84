// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: put_output.h
// -----------------------------------------------------------------------------
//
// Internal to interop/: awaits a future on behalf of a party that is no
// coroutine of Rouse.

#ifndef ROUSE_INTEROP_PUT_OUTPUT_H_
#define ROUSE_INTEROP_PUT_OUTPUT_H_

#include "rouse/base/cxx20.h"

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "rouse/base/exceptions.h"
#include "rouse/future/co.h"
#include "rouse/future/future.h"
#include "rouse/interop/awaited.h"

namespace rouse::interop::internal {

// Puts the output or the exception of `future` into `result`.
template <class F>
Co<> PutOutput(std::optional<Awaited<FutureOutput<F>>>& result, F future) {
  using T = FutureOutput<F>;
  ROUSE_TRY {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(future);
      result.emplace(std::in_place_index<0>);
    } else if constexpr (std::is_reference_v<T>) {
      auto&& output = co_await std::move(future);
      result.emplace(std::in_place_index<0>, std::addressof(output));
    } else {
      T output = co_await std::move(future);
      result.emplace(std::in_place_index<0>, std::move(output));
    }
  }
  ROUSE_CATCH_ALL {
    result.emplace(std::in_place_index<1>, std::current_exception());
  }
}

}  // namespace rouse::interop::internal

#endif  // ROUSE_INTEROP_PUT_OUTPUT_H_
