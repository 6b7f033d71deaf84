// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: number_bytes.h
// -----------------------------------------------------------------------------
//
// Internal to io/number/: numbers as bytes, in either order of the bytes.

#ifndef ROUSE_IO_NUMBER_NUMBER_BYTES_H_
#define ROUSE_IO_NUMBER_NUMBER_BYTES_H_

#include "rouse/base/cxx20.h"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>

namespace rouse::internal {

// Says whether a `T` has the size and the format that its name promises on
// every machine.
template <class T>
concept WireNumber =
    (std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8) ||
    std::same_as<T, float> || std::same_as<T, double>;

// Convert a number to bytes in `kOrder`, and back.
template <WireNumber T, std::endian kOrder>
std::array<char, sizeof(T)> BytesOf(T number) {
  auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(number);
  if constexpr (kOrder != std::endian::native) {
    std::reverse(bytes.begin(), bytes.end());
  }
  return bytes;
}
template <WireNumber T, std::endian kOrder>
T NumberOf(std::array<char, sizeof(T)> bytes) {
  if constexpr (kOrder != std::endian::native) {
    std::reverse(bytes.begin(), bytes.end());
  }
  return std::bit_cast<T>(bytes);
}

static_assert(std::endian::native == std::endian::little ||
              std::endian::native == std::endian::big);
static_assert(sizeof(float) == 4 && sizeof(double) == 8);

}  // namespace rouse::internal

#endif  // ROUSE_IO_NUMBER_NUMBER_BYTES_H_
