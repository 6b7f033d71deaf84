// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: some_bytes.h
// -----------------------------------------------------------------------------
//
// Bytes for tests that move bytes and compare what arrives.

#ifndef ROUSE_TESTING_INTERNAL_SOME_BYTES_H_
#define ROUSE_TESTING_INTERNAL_SOME_BYTES_H_

#include "rouse/base/cxx20.h"

#include <cstddef>
#include <string>

namespace rouse {

// SomeBytes()
//
// Returns `size` bytes that look random, and are the same in each call. Bytes
// that are lost, doubled or exchanged thus make a difference.
inline std::string SomeBytes(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<char>(i * 2654435761u >> 13);
  }
  return bytes;
}

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_SOME_BYTES_H_
