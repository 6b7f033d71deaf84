// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Precompiled for the twins of libraries (see rouse_cc.bzl): library_headers.h,
// and the model checker's headers, which every twin includes.

// NOLINTBEGIN(llvm-header-guard)
#include "library_headers.h"
#include "rouse/testing/model/atomic.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/futex.h"
#include "rouse/testing/model/mutable_step.h"
#include "rouse/testing/model/mutex.h"
#include "rouse/testing/model/thread.h"
#include "rouse/testing/model/thread_local.h"
// NOLINTEND(llvm-header-guard)
