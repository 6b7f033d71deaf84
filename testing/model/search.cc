// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/search.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {
namespace {

// Each decision is encoded as one of these characters.
constexpr std::string_view kDigits =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

}  // namespace

Search::Search(const Config& config)
    : config_(config), random_(config.seed * 0x9E3779B97F4A7C15u + 1) {
  if (config_.strategy != Strategy::kReplay) return;
  for (const char digit : config_.replay) {
    Node node{};
    node.chosen = static_cast<uint8_t>(kDigits.find(digit));
    path_.push_back(node);
  }
}

bool Search::CanDecode(std::string_view replay) {
  return std::ranges::all_of(
      replay, [](char c) { return kDigits.find(c) != std::string_view::npos; });
}

std::string Search::Encoded() const {
  std::string text;
  for (size_t i = 0; i < position_; ++i) text += kDigits[path_[i].chosen];
  return text;
}

void Search::BeginExecution() {
  position_ = 0;
  preemptions_ = 0;
  thread_decisions_ = 0;
  steps_.clear();
  past_.fill(VectorClock());
  objects_used_ = 0;
  seq_cst_ = VectorClock();
  all_writes_ = VectorClock();
  any_writes_ = VectorClock();
  if (config_.strategy != Strategy::kRandom) return;
  path_.clear();
  // The threads have random priorities above the priorities of the change
  // points. A change point is a step at which the running thread falls to the
  // priority of the change point.
  for (int thread = 0; thread < kMaxThreads; ++thread) {
    priority_[thread] = config_.depth + static_cast<int>(Random() % 1000000);
  }
  change_points_.clear();
  for (int i = 1; i < config_.depth; ++i) {
    change_points_.push_back(static_cast<int>(Random() % longest_));
  }
}

uint64_t Search::Random() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_ * 0x2545F4914F6CDD1Du >> 16;
}

// Returns the kind of step that each of the threads would take. The kinds are
// the same in all executions that reach a node. The objects are not part of the
// shape, because an object that existed before the execution can have another
// number in the next execution.
uint64_t Search::Shape(ThreadSet enabled,
                       const std::array<Footprint, kMaxThreads>& next) {
  uint64_t shape = 0;
  for (int thread = 0; thread < kMaxThreads; ++thread) {
    if (!enabled.Contains(thread)) continue;
    const Footprint& step = next[thread];
    const unsigned kind = (step.object != Footprint::kNothing ? 1u : 0u) |
                          (step.writes ? 2u : 0u) | (step.seq_cst ? 4u : 0u) |
                          (step.queue != Footprint::kNothing ? 8u : 0u) |
                          (step.any_write ? 16u : 0u);
    shape |= uint64_t{kind} << (thread * 8);
  }
  return shape;
}

int Search::ChooseThread(ThreadSet enabled, int current,
                         const std::array<Footprint, kMaxThreads>& next) {
  const size_t at = position_;
  int chosen;
  if (at < path_.size()) {
    Node& node = path_[at];
    if (config_.strategy == Strategy::kReplay) {
      if (!enabled.Contains(node.chosen)) diverged_ = true;
    } else if (!node.is_thread || !(node.enabled == enabled) ||
               node.shape != Shape(enabled, next)) {
      diverged_ = true;
    }
    if (diverged_) return kPruned;
    chosen = node.chosen;
  } else {
    if (config_.strategy == Strategy::kReplay) return kPruned;
    chosen = Fresh(enabled, current, next);
    if (chosen == kPruned) return kPruned;
    path_[at].shape = Shape(enabled, next);
  }
  position_ = at + 1;
  ++thread_decisions_;
  if (chosen != current && enabled.Contains(current)) ++preemptions_;
  path_[at].done.Insert(chosen);
  Take(chosen, next[chosen], static_cast<int>(at));
  return chosen;
}

int Search::Fresh(ThreadSet enabled, int current,
                  const std::array<Footprint, kMaxThreads>& next) {
  Node node{};
  node.is_thread = true;
  node.enabled = enabled;
  const bool runs_on = enabled.Contains(current);
  int chosen = runs_on ? current : enabled.First();
  node.backtrack = enabled;
  switch (config_.strategy) {
    case Strategy::kReduced:
      chosen = FreshReduced(node, current, next);
      if (chosen == kPruned) return kPruned;
      break;
    case Strategy::kBounded:
      if (runs_on && preemptions_ >= config_.preemptions) {
        node.backtrack = ThreadSet::Of(current);
      }
      break;
    case Strategy::kRandom:
      chosen = FreshRandom(enabled);
      break;
    case Strategy::kNaive:
    case Strategy::kReplay:
      break;
  }
  node.chosen = static_cast<uint8_t>(chosen);
  path_.push_back(node);
  return chosen;
}

int Search::FreshReduced(Node& node, int current,
                         const std::array<Footprint, kMaxThreads>& next) {
  if (!steps_.empty()) {
    const Step& last = steps_.back();
    const Node& parent = path_[last.node];
    const ThreadSet sleepers =
        (parent.sleep | (parent.done - ThreadSet::Of(last.thread))) &
        node.enabled;
    for (int thread = 0; thread < kMaxThreads; ++thread) {
      if (sleepers.Contains(thread) &&
          !Footprint::Dependent(next[thread], last.footprint)) {
        node.sleep.Insert(thread);
      }
    }
  }
  const ThreadSet awake = node.enabled - node.sleep;
  if (awake.empty()) return kPruned;
  const int chosen = awake.Contains(current) ? current : awake.First();
  node.backtrack = ThreadSet::Of(chosen);
  return chosen;
}

int Search::FreshRandom(ThreadSet enabled) {
  const auto highest = [&] {
    int best = enabled.First();
    for (int thread = best; thread < kMaxThreads; ++thread) {
      if (enabled.Contains(thread) && priority_[thread] > priority_[best]) {
        best = thread;
      }
    }
    return best;
  };
  for (size_t i = 0; i < change_points_.size(); ++i) {
    if (change_points_[i] == thread_decisions_) {
      priority_[highest()] = static_cast<int>(i);
    }
  }
  return highest();
}

int Search::Choose(int count) {
  if (count == 1) return 0;
  if (count > static_cast<int>(kDigits.size())) {
    truncated_ = true;
    count = static_cast<int>(kDigits.size());
  }
  const size_t at = position_++;
  if (at < path_.size()) {
    const Node& node = path_[at];
    const bool differs = config_.strategy == Strategy::kReplay
                             ? node.chosen >= count
                             : node.is_thread || node.count != count;
    if (differs) {
      diverged_ = true;
      return 0;
    }
    return node.chosen;
  }
  Node node{};
  node.count = static_cast<uint8_t>(count);
  if (config_.strategy == Strategy::kRandom && Random() % 2 == 0) {
    node.chosen = static_cast<uint8_t>(Random() % node.count);
  }
  if (config_.strategy == Strategy::kReplay) {
    --position_;
    return 0;
  }
  path_.push_back(node);
  return node.chosen;
}

Search::ObjectClocks& Search::Clocks(int object) {
  while (objects_used_ <= static_cast<size_t>(object)) {
    if (objects_used_ == objects_.size()) objects_.emplace_back();
    objects_[objects_used_++] = ObjectClocks();
  }
  return objects_[object];
}

VectorClock Search::ClockOf(int thread, const Footprint& footprint) {
  VectorClock clock = past_[thread];
  if (footprint.object != Footprint::kNothing) {
    const ObjectClocks& clocks = Clocks(footprint.object);
    clock.Join(clocks.writes);
    if (footprint.writes) clock.Join(clocks.reads);
  }
  if (footprint.queue != Footprint::kNothing) {
    clock.Join(Clocks(footprint.queue).writes);
  }
  if (footprint.seq_cst) clock.Join(seq_cst_);
  if (footprint.any_write) clock.Join(all_writes_);
  if (footprint.writes) clock.Join(any_writes_);
  ++clock[thread];
  return clock;
}

// Records the step and, if the step has not been taken from here before,
// reverses its races. The clocks are kept for every strategy, because
// `Ordered()` depends on the clocks, and decides which steps are decisions at
// all. A replay must find the same decisions.
void Search::Take(int thread, const Footprint& footprint, int node) {
  const bool reduces = config_.strategy == Strategy::kReduced;
  const VectorClock clock = ClockOf(thread, footprint);
  if (reduces && static_cast<size_t>(node) >= changed_) {
    ReverseRaces(thread, footprint, clock);
  }
  past_[thread] = clock;
  if (footprint.object != Footprint::kNothing) {
    ObjectClocks& clocks = Clocks(footprint.object);
    (footprint.writes ? clocks.writes : clocks.reads).Join(clock);
  }
  if (footprint.queue != Footprint::kNothing) {
    Clocks(footprint.queue).writes.Join(clock);
  }
  if (footprint.seq_cst) seq_cst_.Join(clock);
  if (footprint.writes) all_writes_.Join(clock);
  if (footprint.any_write) any_writes_.Join(clock);
  if (reduces) {
    steps_.push_back({footprint, thread, clock[thread], node, clock});
  }
}

// `clock` belongs to the step that `thread` takes next, or would take next.
void Search::ReverseRaces(int thread, const Footprint& footprint,
                          const VectorClock& clock) {
  const VectorClock& past = past_[thread];
  for (size_t i = steps_.size(); i-- > 0;) {
    const Step& step = steps_[i];
    if (step.thread == thread || past[step.thread] >= step.number) continue;
    if (!Footprint::Dependent(step.footprint, footprint)) continue;
    Reverse(i, thread, clock);
  }
}

// Makes the node before `step` try a thread with which `thread`'s next step can
// come first.
void Search::Reverse(size_t step, int thread, const VectorClock& clock) {
  // For each thread, the number of its first step among the steps that follow
  // `step` without depending on it.
  std::array<uint16_t, kMaxThreads> first{};
  ThreadSet initials;
  const auto add = [&](int follower, const VectorClock& follower_clock) {
    bool initial = true;
    for (int other = 0; other < kMaxThreads; ++other) {
      if (other != follower && first[other] != 0 &&
          follower_clock[other] >= first[other]) {
        initial = false;
      }
    }
    if (initial) initials.Insert(follower);
    first[follower] = follower_clock[follower];
  };
  const Step& reversed = steps_[step];
  for (size_t i = step + 1; i < steps_.size(); ++i) {
    const Step& follower = steps_[i];
    if (follower.clock[reversed.thread] >= reversed.number) continue;
    if (first[follower.thread] == 0) add(follower.thread, follower.clock);
  }
  if (first[thread] == 0) add(thread, clock);

  Node& node = path_[reversed.node];
  initials = initials & node.enabled;
  if (!(initials & (node.backtrack | node.done | node.sleep)).empty()) return;
  node.backtrack =
      node.backtrack |
      (initials.empty() ? node.enabled : ThreadSet::Of(initials.First()));
}

bool Search::EndExecution(ThreadSet unfinished,
                          const std::array<Footprint, kMaxThreads>& next) {
  longest_ = std::max(longest_, thread_decisions_);
  switch (config_.strategy) {
    case Strategy::kRandom:
      return true;
    case Strategy::kReplay:
      // The program has ended before the decisions.
      if (position_ < path_.size()) diverged_ = true;
      return false;
    case Strategy::kReduced:
      for (int thread = 0; thread < kMaxThreads; ++thread) {
        if (!unfinished.Contains(thread)) continue;
        ReverseRaces(thread, next[thread], ClockOf(thread, next[thread]));
      }
      break;
    case Strategy::kNaive:
    case Strategy::kBounded:
      break;
  }
  return Backtrack();
}

bool Search::Backtrack() {
  if (position_ < path_.size()) diverged_ = true;
  for (; !path_.empty(); path_.pop_back()) {
    Node& node = path_.back();
    changed_ = path_.size() - 1;
    if (!node.is_thread) {
      if (++node.chosen < node.count) return true;
      continue;
    }
    const ThreadSet left = node.backtrack - node.done - node.sleep;
    if (!left.empty()) {
      node.chosen = static_cast<uint8_t>(left.First());
      return true;
    }
  }
  return false;
}

}  // namespace rouse::model
