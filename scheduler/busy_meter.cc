// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/busy_meter.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "rouse/base/cycle_clock.h"
#include "rouse/scheduler/metrics.h"

namespace rouse::scheduler {
namespace {

// Weight of the latest polls in their mean length.
constexpr double kLatest = 0.1;

}  // namespace

bool BusyMeter::Measure(uint64_t now, uint32_t now_ms, uint64_t polls) {
  last_ms_ = now_ms;
  // Relaxed: no other thread writes, and the time orders nothing.
  busy_cycles_.store(busy_cycles_.load(std::memory_order_relaxed) +
                         (now - std::exchange(busy_since_, now)),
                     std::memory_order_relaxed);
  const uint64_t cycles = now - std::exchange(measured_since_, now);
  const uint64_t count = polls - std::exchange(measured_polls_, polls);
  if (count == 0) return false;
  const double latest =
      static_cast<double>(cycles) / static_cast<double>(count);
  const uint64_t before = mean_poll_cycles_.load(std::memory_order_relaxed);
  const double mean =
      before == 0 ? latest
                  : static_cast<double>(before) +
                        kLatest * (latest - static_cast<double>(before));
  mean_poll_cycles_.store(static_cast<uint64_t>(mean),
                          std::memory_order_relaxed);
  has_long_polls_ = mean > static_cast<double>(long_poll_cycles_);
  return true;
}

void BusyMeter::Read(WorkerMetrics& metrics) const {
  metrics.busy =
      CycleClock::ToDuration(busy_cycles_.load(std::memory_order_relaxed));
  metrics.mean_poll_time =
      CycleClock::ToDuration(mean_poll_cycles_.load(std::memory_order_relaxed));
}

}  // namespace rouse::scheduler
