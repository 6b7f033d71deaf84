// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: body_length.h
// -----------------------------------------------------------------------------
//
// `BodyLength` checks that a body that is sent has as many bytes as it says.

#ifndef ROUSE_HTTP_SERVING_BODY_LENGTH_H_
#define ROUSE_HTTP_SERVING_BODY_LENGTH_H_

#include "rouse/base/cxx20.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace rouse::http::internal {

// BodyLength
//
// Counts the bytes of a body. Lengths are in bytes.
class BodyLength {
 public:
  BodyLength() = default;
  // `left` is the length of the body, if known.
  explicit BodyLength(std::optional<uint64_t> left) : left_(left) {}

  // Returns how many of at most `most` bytes to read next: a byte beyond the
  // length shows that the body is too long.
  size_t Most(size_t most) const {
    if (!left_.has_value()) return most;
    return static_cast<size_t>(std::min<uint64_t>(most, *left_ + 1));
  }

  // Counts `size` bytes, or the end of the body if `size` is 0. Returns
  // Internal if the body is longer or shorter than its length.
  absl::Status Count(size_t size) {
    if (!left_.has_value()) return absl::OkStatus();
    if (size > *left_) {
      return absl::InternalError(
          "the body has more bytes than its size says; correct the size, or "
          "leave it out");
    }
    if (size == 0 && *left_ > 0) {
      return absl::InternalError(
          absl::StrCat("the body ended ", *left_,
                       " bytes before its size; correct the size, or leave it "
                       "out"));
    }
    *left_ -= size;
    return absl::OkStatus();
  }

 private:
  std::optional<uint64_t> left_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_SERVING_BODY_LENGTH_H_
