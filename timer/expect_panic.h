// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: expect_panic.h
// -----------------------------------------------------------------------------
//
// For the tests of timer/: expects a `Panic()`, with or without exceptions.
//
//   EXPECT_PANIC(static_cast<void>(sleep.Poll(cx)), "polled after it has
//   ended");

#ifndef ROUSE_TIMER_EXPECT_PANIC_H_
#define ROUSE_TIMER_EXPECT_PANIC_H_

#include "absl/base/config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/base/panic.h"

// EXPECT_PANIC()
//
// Expects that `statement` panics with a message that contains `text`.
#ifdef ABSL_HAVE_EXCEPTIONS
#define EXPECT_PANIC(statement, text) \
  EXPECT_THAT(                        \
      ([&] { statement; }),           \
      ::testing::ThrowsMessage<rouse::PanicError>(::testing::HasSubstr(text)))
#else
#define EXPECT_PANIC(statement, text) EXPECT_DEATH(statement, text)
#endif

#endif  // ROUSE_TIMER_EXPECT_PANIC_H_
