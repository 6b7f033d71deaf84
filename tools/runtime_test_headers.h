// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Precompiled for tests that depend on //runtime: test_headers.h, and Rouse's
// headers that almost all of these tests include.

// NOLINTBEGIN(llvm-header-guard)
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/sleep.h"
#include "test_headers.h"
// NOLINTEND(llvm-header-guard)
