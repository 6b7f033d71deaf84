// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Precompiled for all tests: library_headers.h, and what tests need besides.

// NOLINTBEGIN(llvm-header-guard)
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "library_headers.h"
// NOLINTEND(llvm-header-guard)
