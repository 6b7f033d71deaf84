// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Precompiled for all tests except the tests of examples: library_headers.h,
// and further headers of most tests.

// NOLINTBEGIN(llvm-header-guard)
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "library_headers.h"
// NOLINTEND(llvm-header-guard)
