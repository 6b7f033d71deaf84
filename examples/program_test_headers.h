// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Precompiled for the tests of examples and guides.

// NOLINTBEGIN(llvm-header-guard)
#include "examples/program_headers.h"
#include "tools/test_headers.h"
// NOLINTEND(llvm-header-guard)
