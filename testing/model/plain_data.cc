// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/plain_data.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "rouse/testing/model/site.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {

std::optional<PlainData::Race> PlainData::FindRace(
    int thread, int thread_count, bool write,
    const VectorClock& happened) const {
  for (int other = 0; other < thread_count; ++other) {
    if (other == thread) continue;
    if (writes[other] > happened[other]) return Race{other, true, last_write};
    if (write && reads[other] > happened[other]) {
      return Race{other, false, last_read};
    }
  }
  return std::nullopt;
}

Site PlainDataMap::LastWriteOr(const void* address,
                               const Site& otherwise) const {
  const auto found = data_.find(address);
  const bool known =
      found != data_.end() && found->second.last_write.line() != 0;
  return known ? found->second.last_write : otherwise;
}

std::vector<std::pair<const void*, PlainData*>> PlainDataMap::InBlock(
    const void* block, size_t size) {
  const char* begin = static_cast<const char*>(block);
  const char* end = begin + size;
  std::vector<std::pair<const void*, PlainData*>> held;
  for (auto& [address, data] : data_) {
    if (address >= begin && address < end) held.emplace_back(address, &data);
  }
  std::ranges::sort(held);
  return held;
}

}  // namespace rouse::model
