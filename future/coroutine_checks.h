// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: coroutine_checks.h
// -----------------------------------------------------------------------------
//
// Makes clang warn about coroutines that outlive referenced objects: see
// coro_attributes.h. Include this header at the top of a source file, or with a
// compiler's `-include`. None of the headers included here may have been
// included before.
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
// Between the two macros, every function may return a coroutine without
// `ROUSE_CORO_WRAPPER`, and clang suspects no function of returning a dangling
// coroutine. Below, the standard library's and Abseil's headers that wrap
// callables are included in this way.

#ifndef ROUSE_FUTURE_COROUTINE_CHECKS_H_
#define ROUSE_FUTURE_COROUTINE_CHECKS_H_

#include "rouse/base/cxx20.h"

// Makes clang check coroutines: see coro_attributes.h.
#ifndef ROUSE_CHECK_COROUTINES
#define ROUSE_CHECK_COROUTINES 1
#endif

#ifdef __clang__
// ROUSE_BEGIN_CORO_WRAPPERS, ROUSE_END_CORO_WRAPPERS
//
// Exempt the functions between them from clang's checks: see above. A coroutine
// that a wrapper calls may legitimately refer to the wrapper's locals.
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
