// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: optional_result.h
// -----------------------------------------------------------------------------
//
// Describes functions that return a `std::optional`. Internal to this project.

#ifndef ROUSE_FUTURE_ADAPTERS_OPTIONAL_RESULT_H_
#define ROUSE_FUTURE_ADAPTERS_OPTIONAL_RESULT_H_

#include "rouse/base/cxx20.h"

#include <concepts>
#include <optional>
#include <type_traits>

namespace rouse {

namespace internal {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// Names the result of a call of `F`, without a reference.
template <class F, class... Args>
using OptionalResult = std::remove_cvref_t<std::invoke_result_t<F, Args...>>;

// Satisfied if a call of `F` returns a `std::optional`.
template <class F, class... Args>
concept ReturnsOptional =
    std::invocable<F, Args...> && kIsOptional<OptionalResult<F, Args...>>;

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_FUTURE_ADAPTERS_OPTIONAL_RESULT_H_
