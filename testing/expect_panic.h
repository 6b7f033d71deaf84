// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: expect_panic.h
// -----------------------------------------------------------------------------
//
// Expects a `Panic()` in a test, whether or not the program is compiled with
// exceptions.
//
//   EXPECT_PANIC(static_cast<void>(sleep.Poll(cx)), "polled after");

#ifndef ROUSE_TESTING_EXPECT_PANIC_H_
#define ROUSE_TESTING_EXPECT_PANIC_H_

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/panic.h"

// EXPECT_PANIC()
//
// Expects that `statement` panics with a message that contains `text`. The
// statement can return from neither the test nor a lambda around it. A comma
// that is not inside parentheses ends the statement: name such an expression
// before.
//
// Without exceptions a panic ends the program, so the statement runs in a child
// process, as in `EXPECT_DEATH()`: its effects on the test's objects are lost.
#ifdef ABSL_HAVE_EXCEPTIONS
#define EXPECT_PANIC(statement, text)                        \
  EXPECT_THAT(([&] { statement; }),                          \
              ::testing::ThrowsMessage<::rouse::PanicError>( \
                  ::testing::HasSubstr(text)))
#else
#define EXPECT_PANIC(statement, text) \
  EXPECT_DEATH({ statement; }, ::testing::HasSubstr(text))
#endif

#endif  // ROUSE_TESTING_EXPECT_PANIC_H_
