// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef ROUSE_BASE_CXX20_H_
#define ROUSE_BASE_CXX20_H_

// Stops a compilation for an older standard than C++20, with one error that
// says what to do. Every header of Rouse reaches this header before its first
// line of C++20: a header that includes no other header of Rouse, and a header
// that includes <coroutine>, includes this one first.
//
// A missing header stops g++ and clang. After an #error, both continue, with
// hundreds of lines about names that do not exist before C++20.
#if __cplusplus < 202002L
#include "Rouse needs C++20: add build --cxxopt=-std=c++20 to .bazelrc, or -std=c++20 to the flags"
#endif

#endif  // ROUSE_BASE_CXX20_H_
