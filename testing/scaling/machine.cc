// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/scaling/machine.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/log/check.h"
#include "rouse/testing/model/fiber.h"
#include "rouse/testing/scaling/costs.h"
#include "rouse/testing/scaling/line_model.h"

namespace rouse::scaling {

Machine* Machine::current_ = nullptr;

Machine::Machine(const Costs& costs) : costs_(costs), lines_(costs) {
  CHECK(current_ == nullptr) << "there is a machine already";
}

Machine::~Machine() { CHECK_EQ(alive_, 0u) << "threads have not ended"; }

void Machine::Run(std::function<void()> body) {
  current_ = this;
  outside_ = model::Fiber::Main(model::Fiber::Kind::kStack);
  Start(std::move(body));
  Core* const first = Next();
  running_ = first;
  outside_->SwitchTo(*first->fiber);
  running_ = nullptr;
  current_ = nullptr;
}

size_t Machine::Start(std::function<void()> body) {
  const size_t index = cores_.size();
  CHECK_LT(index, LineModel::kMaxCores) << "too many threads";
  Core& core = *cores_.emplace_back(std::make_unique<Core>());
  core.index = index;
  core.clock = running_ != nullptr ? running_->clock : 1e6;
  core.fiber =
      model::Fiber::New(model::Fiber::Kind::kStack,
                        [this, &core, body = std::move(body)]() mutable {
                          body();
                          body = nullptr;
                          End(core);
                        });
  ++alive_;
  MakeReady(core, core.clock);
  return index;
}

void Machine::End(Core& core) {
  while (!core.locals.empty()) core.locals.pop_back();
  core.has_ended = true;
  --alive_;
  for (const size_t joiner : core.joiners) {
    MakeReady(*cores_[joiner], core.clock);
  }
  if (alive_ == 0) core.fiber->SwitchTo(*outside_);
  SwitchTo(*Next());
}

void Machine::Join(size_t core) {
  GiveWay();
  if (cores_[core]->has_ended) return;
  cores_[core]->joiners.push_back(running_->index);
  Block();
}

void* Machine::ThreadLocal(const void* key,
                           absl::FunctionRef<std::shared_ptr<void>()> make) {
  Core& core = *running_;
  for (const auto& [have, object] : core.locals) {
    if (have == key) return object.get();
  }
  std::shared_ptr<void> object = make();
  core.locals.emplace_back(key, std::move(object));
  return core.locals.back().second.get();
}

void* Machine::Shared(const void* key,
                      absl::FunctionRef<std::shared_ptr<void>()> make) {
  std::shared_ptr<void>& object = shared_[key];
  if (object == nullptr) object = make();
  return object.get();
}

void Machine::MakeReady(Core& core, double time) {
  core.clock = std::max(core.clock, time);
  core.order = ++orders_;
  core.is_ready = true;
  ready_.emplace(core.clock, core.order, &core);
}

void Machine::Unready(Core& core) {
  if (!core.is_ready) return;
  ready_.erase({core.clock, core.order, &core});
  core.is_ready = false;
}

Machine::Core* Machine::Next() {
  for (;;) {
    CHECK(!ready_.empty()) << "deadlock: no core can ever continue";
    const auto [time, order, core] = *ready_.begin();
    ready_.erase(ready_.begin());
    if (core != nullptr) {
      core->is_ready = false;
      return core;
    }
    const auto it = callbacks_.find(order);
    const std::function<void()> callback = std::move(it->second);
    callbacks_.erase(it);
    callback();
  }
}

void Machine::SwitchTo(Core& core) {
  Core& from = *running_;
  if (&core == &from) return;
  running_ = &core;
  from.fiber->SwitchTo(*core.fiber);
}

void Machine::GiveWay() {
  if (ready_.empty() || std::get<0>(*ready_.begin()) >= running_->clock) return;
  MakeReady(*running_, running_->clock);
  SwitchTo(*Next());
}

void Machine::Block() { SwitchTo(*Next()); }

void Machine::SleepUntil(double time) {
  MakeReady(*running_, time);
  Block();
}

void Machine::CallAt(double time, std::function<void()> callback) {
  const uint64_t order = ++orders_;
  callbacks_.emplace(order, std::move(callback));
  ready_.emplace(time, order, nullptr);
}

void Machine::Do(Access access, const void* address, const Site& site) {
  running_->clock += costs_.instructions;
  GiveWay();
  running_->clock =
      lines_.Do(access, running_->index, address, running_->clock, site);
}

Machine::Core* Machine::TakeSleeper(const void* address) {
  const auto it = sleepers_.find(address);
  if (it == sleepers_.end()) return nullptr;
  Core* const core = it->second.front();
  it->second.pop_front();
  if (it->second.empty()) sleepers_.erase(it);
  core->futex = nullptr;
  // The limit of the sleep.
  Unready(*core);
  return core;
}

void Machine::FutexWait(const void* address,
                        absl::FunctionRef<bool()> is_expected, double timeout) {
  Spend(costs_.system_call);
  GiveWay();
  if (timeout <= 0 || !is_expected()) return;
  Core& self = *running_;
  sleepers_[address].push_back(&self);
  self.futex = address;
  if (timeout != kNever) MakeReady(self, self.clock + timeout);
  Block();
  if (self.futex != nullptr) {
    // The time is up.
    std::deque<Core*>& others = sleepers_[address];
    others.erase(std::find(others.begin(), others.end(), &self));
    if (others.empty()) sleepers_.erase(address);
    self.futex = nullptr;
  }
  Spend(costs_.futex_wait);
}

void Machine::FutexWakeOne(const void* address) {
  GiveWay();
  if (Core* const core = TakeSleeper(address)) {
    Spend(costs_.futex_wake);
    core->clock = 0;
    MakeReady(*core, running_->clock + costs_.wake_delay);
  } else {
    Spend(costs_.system_call);
  }
}

bool Machine::FutexWakeAt(const void* address, double time) {
  Core* const core = TakeSleeper(address);
  if (core == nullptr) return false;
  core->clock = 0;
  MakeReady(*core, time + costs_.wake_delay);
  return true;
}

void Machine::StandInLine(const void* address) {
  lines_of_waiters_[address].push_back(running_);
  Block();
}

bool Machine::Admit(const void* address) {
  const auto it = lines_of_waiters_.find(address);
  if (it == lines_of_waiters_.end()) return false;
  Core* const core = it->second.front();
  it->second.pop_front();
  if (it->second.empty()) lines_of_waiters_.erase(it);
  MakeReady(*core, running_->clock);
  return true;
}

void Machine::BarrierElsewhere() {
  Spend(costs_.barrier);
  GiveWay();
  std::vector<Core*> delayed;
  for (const auto& [time, order, core] : ready_) {
    if (core != nullptr && core->futex == nullptr) delayed.push_back(core);
  }
  for (Core* const core : delayed) {
    Unready(*core);
    MakeReady(*core, core->clock + costs_.barrier_elsewhere);
  }
}

}  // namespace rouse::scaling
