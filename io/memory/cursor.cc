// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/io/memory/cursor.h"

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/io/seek/async_seek.h"

namespace rouse::internal {

absl::StatusOr<uint64_t> SeekResult(uint64_t position, uint64_t size,
                                    int64_t offset, SeekFrom from) {
  const uint64_t base = from == SeekFrom::kBegin ? 0
                        : from == SeekFrom::kEnd ? size
                                                 : position;
  // The number of bytes to go, also of the most negative offset.
  const auto bits = static_cast<uint64_t>(offset);
  const uint64_t distance = offset < 0 ? ~bits + 1 : bits;
  if (offset < 0 ? distance > base
                 : distance > std::numeric_limits<uint64_t>::max() - base) {
    return absl::InvalidArgumentError(
        absl::StrCat("Cursor: a seek by ", offset, " bytes from ", base,
                     offset < 0 ? " leads in front of the beginning"
                                : " leads beyond the largest position"));
  }
  return offset < 0 ? base - distance : base + distance;
}

}  // namespace rouse::internal
