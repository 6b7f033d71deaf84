// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: coroutine_checks.h
// -----------------------------------------------------------------------------
//
// Has clang warn of coroutines that outlive what they refer to: see
// coro_attributes.h. For the top of a source file, or for a compiler's
// `-include`; nothing that it includes may have been included before it.
//
//   #include "rouse/future/coroutine_checks.h"
//   // This comes first.
//
//   ROUSE_BEGIN_CORO_WRAPPERS
//   #include "gmock/gmock.h"
//   ROUSE_END_CORO_WRAPPERS
//
//   ROUSE_BEGIN_CORO_WRAPPERS
//   class MockDatabase : public Database {
//    public:
//     MOCK_METHOD(rouse::Co<int>, Count, (std::string table), (override));
//   };
//   ROUSE_END_CORO_WRAPPERS
//
// Between the two macros every function may return a coroutine, without
// `ROUSE_CORO_WRAPPER`, and none is suspected of returning one that dangles.
// The standard library's and Abseil's headers that wrap callables are included
// so below.

#ifndef ROUSE_FUTURE_COROUTINE_CHECKS_H_
#define ROUSE_FUTURE_COROUTINE_CHECKS_H_

#ifndef ROUSE_CHECK_COROUTINES
#define ROUSE_CHECK_COROUTINES 1
#endif

#ifdef __clang__
// What a wrapper calls within may well refer to the wrapper's own locals.
// clang-format off
#define ROUSE_BEGIN_CORO_WRAPPERS                                             \
  _Pragma("clang attribute push(__attribute__((coro_wrapper,                  \
           coro_disable_lifetimebound)),apply_to=function)")
#define ROUSE_END_CORO_WRAPPERS _Pragma("clang attribute pop")
// clang-format on
#else
#define ROUSE_BEGIN_CORO_WRAPPERS
#define ROUSE_END_CORO_WRAPPERS
#endif

ROUSE_BEGIN_CORO_WRAPPERS
// IWYU pragma: begin_keep
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <variant>

#include "absl/functional/any_invocable.h"
#include "absl/functional/bind_front.h"
#include "absl/functional/function_ref.h"
// IWYU pragma: end_keep
ROUSE_END_CORO_WRAPPERS

#endif  // ROUSE_FUTURE_COROUTINE_CHECKS_H_
