// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/spin_watcher.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"

namespace rouse::model {
namespace {

// Maximum number of calls of SpinHint() in one round of a loop.
constexpr size_t kLongestLap = 4;

}  // namespace

void SpinWatcher::Clear() {
  Forget();
  lap_ = 0;
  spins_on_.clear();
  EndRehearsal();
}

void SpinWatcher::Forget() {
  watched_.clear();
  deeds_.clear();
  rounds_.clear();
}

void SpinWatcher::Did(const Deed& deed) {
  switch (deed.kind) {
    case Deed::kLoad:
    case Deed::kCompare:
    case Deed::kTryLock:
      Read(deed.object, deed.read);
      break;
    case Deed::kStore:
      Write(deed.object, deed.written);
      break;
    case Deed::kModify:
      Read(deed.object, deed.read);
      Write(deed.object, deed.written);
      break;
    default:
      break;
  }
  deeds_.push_back(deed);
}

void SpinWatcher::Read(int object, uint64_t value) {
  const auto found = std::ranges::find(watched_, object, &Watched::object);
  if (found == watched_.end()) {
    watched_.push_back({object, value});
  } else {
    // Of several values, the first value stays: a later value is news.
    std::rotate(found, found + 1, watched_.end());
  }
}

void SpinWatcher::Write(int object, uint64_t value) {
  const auto found = std::ranges::find(watched_, object, &Watched::object);
  if (found != watched_.end()) found->value = value;
}

bool SpinWatcher::EndRound(const Site& site) {
  // The loop does not depend on values that were read before the loop: a model
  // may test whether the thread will see news of such values. Therefore the
  // first round is never enough.
  if (watched_.empty()) return false;
  if (rounds_.size() == 2 * kLongestLap) rounds_.erase(rounds_.begin());
  rounds_.push_back(
      {site.file_name(), site.line(), std::move(watched_), std::move(deeds_)});
  watched_.clear();
  deeds_.clear();
  lap_ = Lap();
  if (lap_ == 0) return false;
  for (const Round& round : Last(lap_)) {
    for (const Watched& watched : round.watched) {
      if (std::ranges::find(spins_on_, watched) == spins_on_.end()) {
        spins_on_.push_back(watched);
      }
    }
  }
  return true;
}

bool SpinWatcher::SpinsOnOne() const {
  return std::ranges::all_of(spins_on_, [this](const Watched& watched) {
    return watched.object == spins_on_.front().object;
  });
}

size_t SpinWatcher::Lap() const {
  // The first round of a loop begins with the reads before the loop.
  const auto repeats = [](const Round& round, const Round& before) {
    const size_t size = round.watched.size();
    return round.line == before.line && round.file == before.file &&
           size <= before.watched.size() &&
           std::ranges::equal(round.watched,
                              std::span(before.watched).last(size), {},
                              &Watched::object, &Watched::object);
  };
  for (size_t lap = 1; lap <= rounds_.size() / 2; ++lap) {
    const auto last = rounds_.end() - static_cast<ptrdiff_t>(lap);
    if (std::equal(last, rounds_.end(), last - static_cast<ptrdiff_t>(lap),
                   repeats)) {
      return lap;
    }
  }
  return 0;
}

bool SpinWatcher::DidTheSame() const {
  const auto same = [](const Round& round, const Round& before) {
    const size_t size = round.deeds.size();
    return size <= before.deeds.size() &&
           std::ranges::equal(round.deeds,
                              std::span(before.deeds).last(size)) &&
           std::ranges::find(round.deeds, Deed::kOtherwise, &Deed::kind) ==
               round.deeds.end();
  };
  return std::ranges::equal(Last(lap_), Last(2 * lap_).first(lap_), same);
}

bool SpinWatcher::BeginRehearsal(int thread, Rehearsed& rehearsed) {
  if (!DidTheSame()) return false;
  size_t loop = absl::HashOf(thread);
  for (const Round& round : Last(lap_)) {
    loop = absl::HashOf(loop, round.file, round.line);
    for (const Deed& deed : round.deeds) {
      loop = absl::HashOf(loop, static_cast<int>(deed.kind), deed.object);
    }
  }
  if (!rehearsed.insert(loop).second) return false;
  for (const Round& round : Last(lap_)) {
    rehearsal_.insert(rehearsal_.end(), round.deeds.begin(), round.deeds.end());
    rehearsal_.push_back({.kind = Deed::kSpinHint,
                          .read = reinterpret_cast<uintptr_t>(round.file),
                          .written = round.line});
  }
  at_ = 0;
  laps_ = 0;
  return true;
}

const SpinWatcher::Deed& SpinWatcher::TakeCue() {
  const Deed& cue = rehearsal_[at_];
  if (++at_ == rehearsal_.size()) {
    at_ = 0;
    ++laps_;
  }
  return cue;
}

}  // namespace rouse::model
