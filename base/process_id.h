// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: process_id.h
// -----------------------------------------------------------------------------

#ifndef ROUSE_BASE_PROCESS_ID_H_
#define ROUSE_BASE_PROCESS_ID_H_

#include "rouse/base/cxx20.h"

#include <sys/types.h>

namespace rouse {

// ProcessId()
//
// Returns the result of getpid(2), even in a forked process. Makes a system
// call only the first time in each process; afterwards the cost is two loads.
//
// Thread-safe. The result is kept in a page that the kernel zeroes in a forked
// process (MADV_WIPEONFORK). If the kernel cannot do so (before Linux 4.14),
// every call is a system call.
pid_t ProcessId();

}  // namespace rouse

#endif  // ROUSE_BASE_PROCESS_ID_H_
