// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: searched_size.h
// -----------------------------------------------------------------------------
//
// Internal to io/: how much of a codec's bytes has been searched for the end of
// a frame.

#ifndef ROUSE_IO_CODEC_SEARCHED_SIZE_H_
#define ROUSE_IO_CODEC_SEARCHED_SIZE_H_

#include "rouse/base/cxx20.h"

#include <cstddef>

namespace rouse::internal {

// SearchedSize
//
// Number of bytes, of those given last to a codec, that are known to contain no
// end of a frame. A copied or moved codec may be given other bytes, for example
// after `Framed::IntoParts()`. Copies therefore begin at 0, and so does an
// object that was assigned to or moved from.
class SearchedSize {
 public:
  SearchedSize() = default;
  SearchedSize(const SearchedSize&) {}
  SearchedSize(SearchedSize&& other) noexcept { other.value_ = 0; }
  // NOLINTNEXTLINE(cert-oop54-cpp): assigning an object to itself is harmless
  SearchedSize& operator=(const SearchedSize&) {
    value_ = 0;
    return *this;
  }
  SearchedSize& operator=(SearchedSize&& other) noexcept {
    value_ = 0;
    other.value_ = 0;
    return *this;
  }
  ~SearchedSize() = default;

  size_t value() const { return value_; }
  void set_value(size_t value) { value_ = value; }

 private:
  size_t value_ = 0;
};

}  // namespace rouse::internal

#endif  // ROUSE_IO_CODEC_SEARCHED_SIZE_H_
