// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Precompiled for tests of models.

// NOLINTBEGIN(llvm-header-guard)
#include "model_headers.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "test_headers.h"
// NOLINTEND(llvm-header-guard)
