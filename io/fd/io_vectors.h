// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: io_vectors.h
// -----------------------------------------------------------------------------
//
// Internal to io/, net/ and process/: the parts of a write, or
// the buffers of a read, in the system's format.

#ifndef ROUSE_IO_FD_IO_VECTORS_H_
#define ROUSE_IO_FD_IO_VECTORS_H_

#include "rouse/base/cxx20.h"

#include <sys/uio.h>

#include <cstddef>
#include <string_view>

#include "absl/types/span.h"

namespace rouse::internal {

// IoVectors
//
// The first `kMaxParts` non-empty parts, or buffers, of a list. Refers to the
// bytes of the parts.
class IoVectors {
 public:
  // A larger number in a single call gains nothing.
  static constexpr size_t kMaxParts = 64;

  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): see `size()`
  explicit IoVectors(absl::Span<const std::string_view> parts) {
    for (const std::string_view part : parts) {
      if (!Add(const_cast<char*>(part.data()), part.size())) break;
    }
  }
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): see `size()`
  explicit IoVectors(absl::Span<const absl::Span<char>> buffers) {
    for (const absl::Span<char> buffer : buffers) {
      if (!Add(buffer.data(), buffer.size())) break;
    }
  }
  IoVectors(const IoVectors&) = delete;
  IoVectors& operator=(const IoVectors&) = delete;

  iovec* data() { return vectors_; }
  int size() const { return static_cast<int>(size_); }
  // Returns the number of bytes in all parts here.
  size_t bytes() const { return bytes_; }

 private:
  // Returns false if no place is left.
  bool Add(char* data, size_t size) {
    if (size == 0) return true;
    if (size_ == kMaxParts) return false;
    vectors_[size_++] = {data, size};
    bytes_ += size;
    return true;
  }

  iovec vectors_[kMaxParts];
  size_t size_ = 0;
  size_t bytes_ = 0;
};

}  // namespace rouse::internal

#endif  // ROUSE_IO_FD_IO_VECTORS_H_
