// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: coro_attributes.h
// -----------------------------------------------------------------------------
//
// Defines attributes that tell clang about the return type of a coroutine.
//
// A coroutine refers to its reference parameters as long as the coroutine
// lives. The coroutine of a lambda also refers to the captures. Clang warns
// (`-Wdangling`) if such a coroutine outlives a temporary:
//
//   rouse::Co<int> Parse(const std::string& text);
//
//   rouse::Co<int> bad = Parse(absl::StrCat(a, b));     // warned of
//   int good = co_await Parse(absl::StrCat(a, b));
//
//   auto worse = [n]() -> rouse::Co<int> { co_return n; }();   // warned of
//
// Clang warns only if `ROUSE_CHECK_COROUTINES` is defined, because the check
// has a price: clang then rejects every function that returns a coroutine but
// is neither a coroutine nor marked `ROUSE_CORO_WRAPPER`. Examples are
// `std::function`, `std::invoke`, `absl::AnyInvocable`, mocks and templates
// that forward a callable. With
//
//   #include "rouse/future/coroutine_checks.h"
//
// before any other header, the common functions of this kind are exempt. The
// definition changes no code: objects compiled with and without it can be
// linked together.

#ifndef ROUSE_FUTURE_CORO_ATTRIBUTES_H_
#define ROUSE_FUTURE_CORO_ATTRIBUTES_H_

#include "rouse/base/cxx20.h"

#include "absl/base/attributes.h"

// ROUSE_CORO_RETURN_TYPE
//
// Marks a class as the return type of coroutines: functions that return the
// class are coroutines or `ROUSE_CORO_WRAPPER`s, and the returned objects refer
// to the functions' arguments.
#if defined(ROUSE_CHECK_COROUTINES) && \
    ABSL_HAVE_CPP_ATTRIBUTE(clang::coro_return_type)
#define ROUSE_CORO_RETURN_TYPE \
  [[clang::coro_return_type, clang::coro_lifetimebound]]
#else
#define ROUSE_CORO_RETURN_TYPE
#endif

// ROUSE_CORO_AWAIT_ELIDABLE
//
// Marks a class of coroutines: the frame of a coroutine that is awaited at once
// can become part of the parent's frame. Clang supports the attribute from
// version 20 on.
#if ABSL_HAVE_CPP_ATTRIBUTE(clang::coro_await_elidable)
#define ROUSE_CORO_AWAIT_ELIDABLE [[clang::coro_await_elidable]]
#else
#define ROUSE_CORO_AWAIT_ELIDABLE
#endif

// ROUSE_CORO_WRAPPER
//
// Marks a function or lambda that returns a coroutine without being a
// coroutine. The macro goes before a function, or after the parameters of a
// lambda:
//
//   ROUSE_CORO_WRAPPER rouse::Co<int> ParseDefault() { return Parse(kText); }
#if ABSL_HAVE_CPP_ATTRIBUTE(clang::coro_wrapper)
#define ROUSE_CORO_WRAPPER __attribute__((coro_wrapper))
#else
#define ROUSE_CORO_WRAPPER
#endif

#endif  // ROUSE_FUTURE_CORO_ATTRIBUTES_H_
