// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: static_storage.h
// -----------------------------------------------------------------------------
//
// Finds out which objects have static storage: objects at namespace scope, and
// static objects of functions. Internal to the model checker.

#ifndef ROUSE_TESTING_MODEL_STATIC_STORAGE_H_
#define ROUSE_TESTING_MODEL_STATIC_STORAGE_H_

#include "rouse/base/cxx20.h"

namespace rouse::model {

// InStaticStorage
//
// Returns whether `address` is in the data of the program, or of a shared
// library that was loaded at the time of the first call. Takes some
// nanoseconds.
bool InStaticStorage(const void* address);

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_STATIC_STORAGE_H_
