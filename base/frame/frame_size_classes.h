// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frame_size_classes.h
// -----------------------------------------------------------------------------
//
// Defines the sizes of the blocks of `FramePool` (frame_pool.h), and of the
// slabs from which the blocks are cut.

#ifndef ROUSE_BASE_FRAME_FRAME_SIZE_CLASSES_H_
#define ROUSE_BASE_FRAME_FRAME_SIZE_CLASSES_H_

#include "rouse/base/cxx20.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace rouse {

namespace internal {

// Lists the sizes: multiples of 16 from 32 to 64, of 64 to 2048, of 256 to
// 4096.
//
// A block larger than a cache line therefore shares no line with other blocks.
// If two tasks shared a line, the threads that run the tasks would compete for
// it: with blocks of any multiple of 16, tasks that yield on two threads took
// twice as long. The waste of a block, a half at most and an eighth on average,
// costs less than that.
struct FrameSizeClasses {
  static constexpr size_t kCount = 3 + 31 + 8;
  static constexpr size_t kSmallest = 32;
  static constexpr size_t kLargest = 4096;

  std::array<uint16_t, kCount> size{};
  // Indexed by the size in units of 16 bytes, rounded up.
  std::array<uint8_t, kLargest / 16 + 1> of{};

  constexpr FrameSizeClasses() {
    size_t index = 0;
    for (size_t bytes = kSmallest; bytes <= kLargest;
         bytes += StepFrom(bytes)) {
      size[index++] = static_cast<uint16_t>(bytes);
    }
    size_t unit = 0;
    for (size_t c = 0; c < kCount; ++c) {
      for (; unit * 16 <= size[c]; ++unit) of[unit] = static_cast<uint8_t>(c);
    }
  }

  static constexpr size_t StepFrom(size_t bytes) {
    return bytes < 64 ? 16 : bytes < 2048 ? 64 : 256;
  }
};
inline constexpr FrameSizeClasses kFrameSizeClasses;
static_assert(kFrameSizeClasses.size.back() == FrameSizeClasses::kLargest);

// `kFrameSlabSize` is the number of bytes that heaps take from the depot, and
// give back, at once. A slab is aligned to its size.
//
// `kFrameRemoteBatch` is the number of remotely freed blocks that go home
// together.
#ifdef ROUSE_MODEL
// A slab has a single block of the largest class.
inline constexpr size_t kFrameSlabSize = size_t{8} << 10;
inline constexpr size_t kFrameRemoteBatch = 2;
#else
inline constexpr size_t kFrameSlabSize = size_t{64} << 10;
inline constexpr size_t kFrameRemoteBatch = 32;
#endif

}  // namespace internal

}  // namespace rouse

#endif  // ROUSE_BASE_FRAME_FRAME_SIZE_CLASSES_H_
