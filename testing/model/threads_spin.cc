// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// How a thread that spins waits for a change, and what happens in a rehearsal
// of the thread.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "rouse/testing/model/objects.h"
#include "rouse/testing/model/search.h"
#include "rouse/testing/model/site.h"
#include "rouse/testing/model/spin_watcher.h"
#include "rouse/testing/model/threads.h"

namespace rouse::model {
namespace {

// Number of rounds of a rehearsal of a loop that calls SpinHint().
constexpr int kRehearsal = 1'000;

}  // namespace

void Threads::Yield(const Site& site) {
  const Inside inside;
  if (rehearsing()) {
    Cue(Deed::kYield, nullptr, site);
    return;
  }
  Step({}, "yield", -1, site);
  self().spin.Did({.kind = Deed::kYield});
}

void Threads::SpinHint(const Site& site) {
  const Inside inside;
  Thread& thread = self();
  if (rehearsing()) {
    const Deed cue = Cue(Deed::kSpinHint, nullptr, site);
    if (cue.read != reinterpret_cast<uintptr_t>(site.file_name()) ||
        cue.written != site.line()) {
      GivesUp(site);
    }
    if (thread.spin.laps() < kRehearsal) return;
    thread.spin.EndRehearsal();
    AwaitNews(site);
    return;
  }
  if (!thread.spin.EndRound(site)) {
    Step({}, "spin", -1, site);
    return;
  }
  Count(site);
  if (!draining_ && thread.spin.BeginRehearsal(running_, rehearsed_)) {
    thread.operation = {"spin", -1, site};
    return;
  }
  AwaitNews(site);
}

bool Threads::IsNews(int thread, const SpinWatcher::Watched& watched) const {
  const Object& object = objects_[watched.object];
  return object.kind == kMutex
             ? object.owner < 0
             : memory_.CanAdvance(thread, watched.object, watched.value);
}

void Threads::AwaitNews(const Site& site) {
  Thread& thread = self();
  const std::vector<SpinWatcher::Watched>& spins_on = thread.spin.spins_on();
  thread.state = State::kSpinning;
  const bool one = thread.spin.SpinsOnOne();
  // If several values are watched, the search must know which has changed,
  // because this depends on the steps of the other threads.
  if (!Enabled(thread) || (!one && !Alone())) {
    thread.operation = {"spin", -1, site};
    next_[running_] = one ? Footprint{.object = spins_on.front().object}
                          : Footprint{.any_write = true};
    Schedule();
    if (tracing()) Note("spun until a value changed", site);
  }
  thread.state = State::kReady;
  // The thread reads one new value. It may read the old values of the other
  // objects.
  std::vector<SpinWatcher::Watched> news;
  for (const SpinWatcher::Watched& watched : spins_on) {
    if (IsNews(running_, watched)) news.push_back(watched);
  }
  const SpinWatcher::Watched& read =
      news[news.size() == 1 ? 0 : Decide(static_cast<int>(news.size()))];
  memory_.Advance(running_, read.object, read.value);
  thread.spin.Waited();
}

const Threads::Deed& Threads::Cue(Deed::Kind kind, const ObjectHandle* handle,
                                  const Site& site) {
  SpinWatcher& spin = self().spin;
  const Deed& cue = spin.cue();
  const int object =
      handle != nullptr && objects_.Contains(*handle) ? handle->id : -1;
  if (cue.kind != kind || cue.object != object) GivesUp(site);
  return spin.TakeCue();
}

void Threads::GivesUp(const Site& site) {
  const int laps = self().spin.laps();
  const std::string spins = Where(self().operation.site);
  self().spin.EndRehearsal();
  if (tracing()) {
    Note(absl::StrCat("leaves the loop after ", laps + 2,
                      " rounds in which no value changed"),
         site);
  }
  Fail(absl::StrFormat(
      "gives up: thread %d calls SpinHint() at %s, and after %d rounds "
      "continues at %s although no value that the loop reads has changed. A "
      "loop that calls SpinHint() must wait for another thread without a "
      "limit, and do the same in each round",
      running_, spins, laps + 2, Where(site)));
}

void Threads::DoesOtherwise(const Site& site) {
  if (rehearsing()) GivesUp(site);
  self().spin.DidOtherwise();
}

}  // namespace rouse::model
