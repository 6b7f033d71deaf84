// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: line_model.h
// -----------------------------------------------------------------------------
//
// The prices of accesses to cache lines that many cores use. Internal to the
// simulator.
//
// A line is in the state of the MESI protocol that follows from its sharers:
//
//   no sharer      The line was never used. The first access is a hit.
//   one sharer     The core may have changed the line: modified or exclusive.
//   more sharers   All cores have read the line since the latest change.
//
//   access      by a sharer      otherwise
//   load        hit              fetches the line from the nearest sharer
//   store,      hit, if it is    fetches the line, or takes it away from all
//   modify      the only one     sharers, the farthest of which decides
//
// A changed line moves to one core after another, in the order of the requests:
// a request waits for the request before it. Lines with several sharers are
// copied without waiting. A store does not delay its core: it waits in the
// core's store buffer, and a `kModify` waits until the buffer is empty.

#ifndef ROUSE_TESTING_SCALING_LINE_MODEL_H_
#define ROUSE_TESTING_SCALING_LINE_MODEL_H_

#include "rouse/base/cxx20.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "rouse/testing/scaling/costs.h"

namespace rouse::scaling {

// `kModify` is a read-modify-write, or a sequentially consistent store.
enum class Access : unsigned char { kLoad, kStore, kModify };

// LineModel
//
// The lines and store buffers of a machine. Times are in nanoseconds. The calls
// must be in the order of their times.
class LineModel {
 public:
  static constexpr size_t kMaxCores = 256;
  static constexpr size_t kLineSize = 64;

  explicit LineModel(const Costs& costs) : costs_(costs) {}

  // Accesses the line of `address` on `core` from `now` on. Returns the time at
  // which the core continues.
  double Do(Access access, size_t core, const void* address, double now,
            const std::source_location& site);

  // The time for which cores have waited for a line, and the accesses that have
  // waited for it longest.
  struct Heat {
    double stall = 0;
    uint64_t transfers = 0;
    // The function with the access, and the place.
    std::string name;
    // The part of `stall` that this access has.
    double stall_here = 0;
  };

  // Returns the lines with the longest stalls, at most `count`.
  std::vector<Heat> Hottest(size_t count) const;
  // Returns the accesses with the longest stalls, over all lines.
  std::vector<Heat> HottestAccesses(size_t count) const;
  // Returns the sum of all stalls.
  double stall() const { return stall_; }

  // Forgets the stalls so far.
  void ForgetStalls();

  // Returns the time of a transfer from `one` core to `other`.
  double Distance(size_t one, size_t other) const;

 private:
  struct Place {
    const char* file;
    unsigned line;
    const char* function;

    template <class H>
    friend H AbslHashValue(H h, const Place& place) {
      return H::combine(std::move(h), place.file, place.line);
    }
    bool operator==(const Place& other) const {
      return file == other.file && line == other.line;
    }
  };
  struct Share {
    double stall = 0;
    uint64_t transfers = 0;
  };
  using Shares = absl::flat_hash_map<Place, Share>;
  struct Line {
    // A bit for each core, in a byte for each cluster.
    std::array<uint8_t, kMaxCores / Costs::kCluster> sharers{};
    size_t count = 0;
    // Time at which the latest transfer of the changed line ends.
    double free_at = 0;
    Shares shares;
  };

  bool Has(const Line& line, size_t core) const;
  // Returns the distance of the nearest or of the farthest sharer but `core`.
  double Nearest(const Line& line, size_t core) const;
  double Farthest(const Line& line, size_t core) const;
  size_t SocketOf(size_t core) const { return core / costs_.socket; }
  static void SetOnly(Line& line, size_t core);
  static std::string NameOf(const Place& place);

  const Costs costs_;
  absl::flat_hash_map<uintptr_t, Line> lines_;
  // The time at which each core's store buffer is empty.
  std::array<double, kMaxCores> drained_{};
  double stall_ = 0;
};

}  // namespace rouse::scaling

#endif  // ROUSE_TESTING_SCALING_LINE_MODEL_H_
