// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: plain_data.h
// -----------------------------------------------------------------------------
//
// Detects data races: remembers which threads have accessed the plain data of
// an execution, and when. Internal to the model checker.

#ifndef ROUSE_TESTING_MODEL_PLAIN_DATA_H_
#define ROUSE_TESTING_MODEL_PLAIN_DATA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "rouse/testing/model/site.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {

// PlainData
//
// The accesses of one variable. For each thread, the clock of the last read and
// of the last write.
struct PlainData {
  // An earlier access that does not happen before the current access.
  struct Race {
    int thread;
    bool wrote;  // else the earlier access is a read
    Site site;
  };

  // Returns an earlier access of one of `thread_count` threads with which an
  // access by `thread` is a data race. `happened` is the happens-before clock
  // of `thread`.
  std::optional<Race> FindRace(int thread, int thread_count, bool write,
                               const VectorClock& happened) const;

  // Records an access by `thread` at the thread's time `now`.
  void Record(int thread, bool write, uint16_t now, const Site& site) {
    (write ? writes : reads)[thread] = now;
    (write ? last_write : last_read) = site;
  }

  VectorClock reads;
  VectorClock writes;
  Site last_read;
  Site last_write;
  bool freed = false;  // with the block that contains the variable
};

// PlainDataMap
//
// The plain data of an execution, by address.
class PlainDataMap {
 public:
  // Returns the data at the address, and whether this is the first access.
  std::pair<PlainData&, bool> FindOrAdd(const void* address) {
    const auto [entry, is_new] = data_.try_emplace(address);
    return {entry->second, is_new};
  }

  // Returns where the data at the address was last written or constructed.
  // Returns `otherwise` if this is not known.
  Site LastWriteOr(const void* address, const Site& otherwise) const;

  // Returns the data in a block, in the order of addresses. (The order of the
  // map differs between executions. The order in the block does not.)
  std::vector<std::pair<const void*, PlainData*>> InBlock(const void* block,
                                                          size_t size);

  void Forget(const void* address) { data_.erase(address); }

  // Forgets all data, for a new execution.
  void Clear() { data_.clear(); }

 private:
  absl::flat_hash_map<const void*, PlainData> data_;
};

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_PLAIN_DATA_H_
