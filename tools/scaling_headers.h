// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Precompiled for the twins of libraries (see rouse_cc.bzl): library_headers.h,
// and the headers of the simulator of many cores, which every twin includes.

// NOLINTBEGIN(llvm-header-guard)
#include "library_headers.h"
#include "rouse/testing/scaling/atomic.h"
#include "rouse/testing/scaling/cell.h"
#include "rouse/testing/scaling/futex.h"
#include "rouse/testing/scaling/mutex.h"
#include "rouse/testing/scaling/thread.h"
#include "rouse/testing/scaling/thread_local.h"
// NOLINTEND(llvm-header-guard)
