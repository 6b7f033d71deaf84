// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: stress_tasks.h
// -----------------------------------------------------------------------------
//
// For scheduler_stress_test.cc: tasks performing random operations of a task,
// and spawning more such tasks.
//
// A task's seed determines the output of the task, and whether the task throws.
// A thread or task joining it therefore knows the right result. A task can be
// cancelled only if the task was aborted, or if the runtime is being shut down.

#ifndef ROUSE_TESTING_INTERNAL_STRESS_TASKS_H_
#define ROUSE_TESTING_INTERNAL_STRESS_TASKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/base/optimization.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "rouse/base/fast_rand.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/yield.h"
#include "rouse/scheduler/block_in_place.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/join_set.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/atomic_waker.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::stress {

// Numbers of objects of a kind, made and destroyed.
struct alignas(ABSL_CACHELINE_SIZE) Ledger {
  std::atomic<uint64_t> made{0};
  std::atomic<uint64_t> destroyed{0};
};

// Counts in the ledger as a single object while the object exists, however
// often the object is moved.
class Token {
 public:
  explicit Token(Ledger& ledger) : ledger_(&ledger) {
    ledger.made.fetch_add(1, std::memory_order_relaxed);
  }
  Token(Token&& other) noexcept
      : ledger_(std::exchange(other.ledger_, nullptr)) {}
  Token& operator=(Token&& other) noexcept {
    std::swap(ledger_, other.ledger_);
    return *this;
  }
  ~Token() {
    // Release: for the thread that waits for the destruction of all tokens, and
    // then destroys the ledger.
    if (ledger_ != nullptr) {
      ledger_->destroyed.fetch_add(1, std::memory_order_release);
    }
  }

 private:
  Ledger* ledger_;
};

// The output of a task.
class Output {
 public:
  Output(Ledger& ledger, uint64_t seed) : seed(seed), token_(ledger) {}

  uint64_t seed;

 private:
  Token token_;
};

// State shared by all tasks of a runtime.
struct World {
  Ledger futures;
  Ledger outputs;
  // Set before the runtime is shut down. Tasks may be cancelled from then on.
  std::atomic<bool> closing{false};
  bool may_block_in_place = false;
  // Number of threads waiting for a task, in `BlockInPlace()` and in blocking
  // calls. The number is bounded, as the number of threads is: other threads
  // must remain for the work that ends the wait.
  std::atomic<int> waiting{0};
};

inline bool Throws(uint64_t seed) {
#ifdef ABSL_HAVE_EXCEPTIONS
  return seed % 509 == 7;
#else
  static_cast<void>(seed);
  return false;
#endif
}

// Checks the result of a task with seed `seed`.
inline void CheckResult(const World& world, uint64_t seed, bool aborted,
                        const absl::StatusOr<Output>& result) {
  switch (result.status().code()) {
    case absl::StatusCode::kOk:
      EXPECT_EQ(result->seed, seed);
      break;
    case absl::StatusCode::kCancelled:
      EXPECT_TRUE(aborted || world.closing) << result.status();
      break;
    case absl::StatusCode::kInternal:
      EXPECT_TRUE(Throws(seed)) << result.status();
      break;
    default:
      ADD_FAILURE() << result.status();
  }
}

// A task, and the test's knowledge of the task.
struct Child {
  Child(JoinHandle<Output> handle, uint64_t seed)
      : handle(std::move(handle)), seed(seed) {}

  void Abort() {
    aborted = true;
    handle.Abort();
  }
  void Check(const World& world, const absl::StatusOr<Output>& result) const {
    CheckResult(world, seed, aborted, result);
  }

  JoinHandle<Output> handle;
  uint64_t seed;
  bool aborted = false;
};

// ---- Tasks that wake one another.

// A task waits for the bell, and another task rings the bell by destroying a
// `Ringer`, however the second task ends.
class Bell {
 public:
  class Ringer {
   public:
    explicit Ringer(std::shared_ptr<Bell> bell) : bell_(std::move(bell)) {}
    Ringer(Ringer&& other) noexcept = default;
    ~Ringer() {
      if (bell_ == nullptr) return;
      bell_->rung_ = true;
      bell_->waker_.Wake();
    }

   private:
    std::shared_ptr<Bell> bell_;
  };

  class Wait {
   public:
    explicit Wait(std::shared_ptr<Bell> bell) : bell_(std::move(bell)) {}
    PollResult<void> Poll(Context& cx) {
      bell_->waker_.Register(cx.waker());
      if (!bell_->rung_) return kPending;
      return {};
    }

   private:
    std::shared_ptr<Bell> bell_;
  };

 private:
  std::atomic<bool> rung_{false};
  AtomicWaker waker_;
};

// A ball between two players. The game ends when a player has played the ball
// `rounds` times, or is destroyed.
class PingPong {
 public:
  class Player {
   public:
    Player(std::shared_ptr<PingPong> game, int side, int rounds)
        : game_(std::move(game)), side_(side), rounds_(rounds) {}
    Player(Player&& other) noexcept = default;
    ~Player() {
      if (game_ == nullptr) return;
      game_->over_ = true;
      game_->wakers_[1 - side_].Wake();
    }

    PollResult<void> Poll(Context& cx) {
      game_->wakers_[side_].Register(cx.waker());
      if (game_->over_) return {};
      if (game_->ball_ != side_) return kPending;
      game_->ball_ = 1 - side_;
      game_->wakers_[1 - side_].Wake();
      if (--rounds_ > 0) return kPending;
      return {};
    }

   private:
    std::shared_ptr<PingPong> game_;
    int side_;
    int rounds_;
  };

 private:
  std::atomic<int> ball_{0};
  std::atomic<bool> over_{false};
  AtomicWaker wakers_[2];
};

// ---- Tasks.

Co<Output> Task(World& world, Token token, uint64_t seed, int depth);

// Spawns a task on the current runtime. The task has up to `depth` generations
// of children.
inline Child SpawnTask(World& world, uint64_t seed, int depth) {
  return Child(Spawn(Task(world, Token(world.futures), seed, depth)), seed);
}

// A task for a blocking thread to wait for. The task does not sleep, because an
// auto-advancing clock may stand still meanwhile.
inline Co<Output> Leaf(World& world, Token, uint64_t seed) {
  co_await Yield();
  co_return Output(world.outputs, seed);
}

// Waits for a leaf, on a thread that can block, unless many threads already
// wait.
inline void BlockOnLeaf(World& world, uint64_t seed) {
  const absl::Cleanup end = [&world] { --world.waiting; };
  if (++world.waiting > 8) return;
  JoinHandle<Output> leaf = Spawn(Leaf(world, Token(world.futures), seed));
  const absl::StatusOr<Output> result = BlockOn(std::move(leaf));
  if (result.ok()) {
    EXPECT_EQ(result->seed, seed);
  } else {
    EXPECT_TRUE(absl::IsCancelled(result.status()) && world.closing)
        << result.status();
  }
}

// Spawns children that are joined, aborted or left alone.
inline Co<> Family(World& world, FastRand& rand, int depth, uint32_t size) {
  std::vector<Child> children;
  children.reserve(size);
  for (uint32_t i = 0; i < size; ++i) {
    children.push_back(SpawnTask(world, rand.Next(), depth - 1));
  }
  for (Child& child : children) {
    switch (rand.Below(16)) {
      case 0:
        child.Abort();
        break;
      case 1: {
        const AbortHandle abort = child.handle.abort_handle();
        co_await Yield();
        child.aborted = true;
        abort.Abort();
        break;
      }
      case 2:
        child.Abort();
        continue;
      case 3:
        continue;
      default:
        break;
    }
    const absl::StatusOr<Output> result = co_await child.handle;
    child.Check(world, result);
  }
}

inline Co<> Set(World& world, FastRand& rand, int depth) {
  JoinSet<Output> set;
  const uint64_t seed = rand.Next();
  const uint32_t size = 1 + rand.Below(16);
  for (uint32_t i = 0; i < size; ++i) {
    Child child = SpawnTask(world, seed, depth - 1);
    set.Insert(std::move(child.handle));
  }
  bool aborted = false;
  uint32_t joined = 0;
  for (;;) {
    const std::optional<absl::StatusOr<Output>> result = co_await set.Next();
    if (!result.has_value()) break;
    ++joined;
    CheckResult(world, seed, aborted, *result);
    const uint32_t fate = rand.Below(64);
    if (fate == 0) {
      aborted = true;
      set.AbortAll();
    }
    if (fate == 1) {
      co_await set.Shutdown();
      EXPECT_TRUE(set.empty());
      co_return;
    }
    if (fate == 2) co_return;  // which aborts the rest
    if (fate == 3) {
      set.DetachAll();
      co_return;
    }
  }
  EXPECT_EQ(joined, size);
}

inline Co<Output> Rung(World& world, Token, Bell::Wait bell, Bell::Ringer,
                       uint64_t seed) {
  co_await bell;
  co_return Output(world.outputs, seed);
}

// Spawns tasks that wake each other in turn.
inline Co<> Chain(World& world, FastRand& rand) {
  std::shared_ptr<Bell> before = std::make_shared<Bell>();
  // Rings even if the task is destroyed earlier.
  std::optional<Bell::Ringer> start(before);
  std::vector<Child> children;
  const uint32_t size = 1 + rand.Below(8);
  for (uint32_t i = 0; i < size; ++i) {
    auto next = std::make_shared<Bell>();
    children.emplace_back(
        Spawn(Rung(world, Token(world.futures), Bell::Wait(before),
                   Bell::Ringer(next), i)),
        i);
    before = std::move(next);
  }
  if (rand.Below(2) == 0) co_await Yield();
  if (rand.Below(8) == 0) children[size / 2].Abort();
  start.reset();
  Bell::Wait last(std::move(before));
  co_await last;
}

inline Co<> Play(Token, PingPong::Player player) { co_await player; }

inline Co<> Match(World& world, FastRand& rand) {
  auto game = std::make_shared<PingPong>();
  const int rounds = 1 + static_cast<int>(rand.Below(100));
  JoinHandle<void> first = Spawn(
      Play(Token(world.futures), PingPong::Player(game, /*side=*/0, rounds)));
  JoinHandle<void> second = Spawn(
      Play(Token(world.futures), PingPong::Player(game, /*side=*/1, rounds)));
  const bool abort = rand.Below(8) == 0;
  if (abort) second.Abort();
  const absl::Status first_result = co_await first;
  EXPECT_TRUE(first_result.ok() || world.closing) << first_result;
  const absl::Status second_result = co_await second;
  EXPECT_TRUE(second_result.ok() || abort || world.closing) << second_result;
}

// Contains no suspension: another thread may run the worker afterwards.
inline void InPlace(World& world, FastRand& rand, int depth) {
  const uint32_t what = rand.Below(4);
  BlockInPlace([&] {
    switch (what) {
      case 0:
        std::this_thread::yield();
        break;
      case 1:
        BlockInPlace([] { std::this_thread::yield(); });
        break;
      case 2:
        for (int i = 0; i < 4; ++i) {
          SpawnTask(world, rand.Next(), depth - 1).handle.Detach();
        }
        break;
      case 3:
        BlockOnLeaf(world, rand.Next());
        break;
      default:
        break;
    }
  });
}

inline Co<> Call(World& world, FastRand& rand) {
  const uint64_t seed = rand.Next();
  auto call = [token = Token(world.futures), &world, seed] {
    if (seed % 4 == 0) BlockOnLeaf(world, seed);
    return seed;
  };
  JoinHandle<uint64_t> handle = SpawnBlocking(std::move(call));
  const uint32_t fate = rand.Below(4);
  if (fate == 0) co_return;  // the call keeps running
  if (fate == 1) handle.Abort();
  const absl::StatusOr<uint64_t> result = co_await handle;
  if (result.ok()) {
    EXPECT_EQ(*result, seed);
  } else {
    EXPECT_TRUE(absl::IsCancelled(result.status()) &&
                (fate == 1 || world.closing))
        << result.status();
  }
}

inline Co<Output> Task(World& world, Token, uint64_t seed, int depth) {
  FastRand rand(seed);
  const uint32_t what = rand.Below(512);
  if (what < 2) {
    if (world.may_block_in_place) InPlace(world, rand, depth);
  } else if (what < 4) {
    co_await Call(world, rand);
  } else if (what < 16) {
    co_await Sleep(absl::Microseconds(rand.Below(2000)));
  } else if (what < 20) {
    co_await Match(world, rand);
  } else if (what < 40) {
    co_await Chain(world, rand);
  } else if (what < 60) {
    if (depth > 0) co_await Set(world, rand, depth);
  } else if (what < 100) {
    if (depth > 0) co_await Family(world, rand, depth, 1 + rand.Below(8));
  } else if (what < 102) {
    // Spawns more children than fit into a queue.
    if (depth > 0) co_await Family(world, rand, depth, 600);
  } else if (what < 200) {
    const uint32_t times = 1 + rand.Below(4);
    for (uint32_t i = 0; i < times; ++i) co_await Yield();
  }
#ifdef ABSL_HAVE_EXCEPTIONS
  if (Throws(seed)) throw std::runtime_error("as it was told to");
#endif
  co_return Output(world.outputs, seed);
}

}  // namespace rouse::stress

#endif  // ROUSE_TESTING_INTERNAL_STRESS_TASKS_H_
