// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: caller.h
// -----------------------------------------------------------------------------
//
// Names the function that uses a lock. The place of an access inside a lock's
// own code does not say which lock it is. Internal to the simulator.

#ifndef ROUSE_TESTING_SCALING_CALLER_H_
#define ROUSE_TESTING_SCALING_CALLER_H_

#include "rouse/base/cxx20.h"

#include <source_location>

namespace rouse::scaling {

// Returns whether `site` is in the code of a lock.
bool IsInLock(const std::source_location& site);

// Returns the name of the first calling function that is not in the code of a
// lock or of the simulator. The result lives as long as the program.
const char* CallerOfLock();

}  // namespace rouse::scaling

#endif  // ROUSE_TESTING_SCALING_CALLER_H_
