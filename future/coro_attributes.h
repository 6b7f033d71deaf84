// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: coro_attributes.h
// -----------------------------------------------------------------------------
//
// What clang is told of the return type of a coroutine.
//
// A coroutine refers to its reference parameters, and that of a lambda to the
// captures, for as long as it lives. Clang warns (`-Wdangling`) where such a
// coroutine outlives a temporary:
//
//   rouse::Co<int> Parse(const std::string& text);
//
//   rouse::Co<int> bad = Parse(absl::StrCat(a, b));     // warned of
//   int good = co_await Parse(absl::StrCat(a, b));
//
//   auto worse = [n]() -> rouse::Co<int> { co_return n; }();   // warned of
//
// It does so only where `ROUSE_CHECK_COROUTINES` is defined, since there is a
// price: clang then refuses every function that returns a coroutine and neither
// is one itself nor says `ROUSE_CORO_WRAPPER`. `std::function`, `std::invoke`,
// `absl::AnyInvocable`, mocks and your own templates that forward a callable
// are such functions. With
//
//   #include "rouse/future/coroutine_checks.h"
//
// before any other header, the usual ones of these are excused. The definition
// changes no code: what is compiled with it may be linked with what is not.

#ifndef ROUSE_FUTURE_CORO_ATTRIBUTES_H_
#define ROUSE_FUTURE_CORO_ATTRIBUTES_H_

#include "absl/base/attributes.h"

// ROUSE_CORO_RETURN_TYPE
//
// Of a class: functions that return it are coroutines or `ROUSE_CORO_WRAPPER`s,
// and what they return refers to their arguments.
#if defined(ROUSE_CHECK_COROUTINES) && \
    ABSL_HAVE_CPP_ATTRIBUTE(clang::coro_return_type)
#define ROUSE_CORO_RETURN_TYPE \
  [[clang::coro_return_type, clang::coro_lifetimebound]]
#else
#define ROUSE_CORO_RETURN_TYPE
#endif

// ROUSE_CORO_AWAIT_ELIDABLE
//
// Of a class: the frame of one that is awaited at once may be part of its
// parent's. Known from clang 20 on.
#if ABSL_HAVE_CPP_ATTRIBUTE(clang::coro_await_elidable)
#define ROUSE_CORO_AWAIT_ELIDABLE [[clang::coro_await_elidable]]
#else
#define ROUSE_CORO_AWAIT_ELIDABLE
#endif

// ROUSE_CORO_WRAPPER
//
// Goes before a function, or behind the parameters of a lambda, that returns a
// coroutine and is not itself one:
//
//   ROUSE_CORO_WRAPPER rouse::Co<int> ParseDefault() { return Parse(kText); }
#if ABSL_HAVE_CPP_ATTRIBUTE(clang::coro_wrapper)
#define ROUSE_CORO_WRAPPER __attribute__((coro_wrapper))
#else
#define ROUSE_CORO_WRAPPER
#endif

#endif  // ROUSE_FUTURE_CORO_ATTRIBUTES_H_
