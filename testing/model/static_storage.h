// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: static_storage.h
// -----------------------------------------------------------------------------
//
// Which objects are as old as the program: those at namespace scope, and the
// static ones of functions. Internal to the model checker.

#ifndef ROUSE_TESTING_MODEL_STATIC_STORAGE_H_
#define ROUSE_TESTING_MODEL_STATIC_STORAGE_H_

namespace rouse::model {

// InStaticStorage
//
// Whether `address` is in the data of the program, or of a shared library that
// was loaded when this was first called. Takes some nanoseconds.
bool InStaticStorage(const void* address);

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_STATIC_STORAGE_H_
