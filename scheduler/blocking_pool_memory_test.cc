// A pool where allocations fail. Not under ThreadSanitizer, whose runtime has
// its own `operator new`.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/scheduler/blocking_pool.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"

#if defined(ABSL_HAVE_EXCEPTIONS) && !defined(ABSL_HAVE_THREAD_SANITIZER)

namespace {

// How many allocations of this thread succeed before one fails; none fails
// below 0.
thread_local int allocations_left = -1;

}  // namespace

void* operator new(size_t size) {
  const bool fails = allocations_left == 0;
  if (allocations_left >= 0) --allocations_left;
  if (fails) throw std::bad_alloc();
  void* const block = malloc(size == 0 ? 1 : size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
// Else a sanitizer's, which that delete does not fit.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return malloc(size == 0 ? 1 : size);
}
void operator delete(void* block) noexcept { free(block); }
void operator delete(void* block, size_t) noexcept { free(block); }

namespace rouse::scheduler {
namespace {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// Lets one allocation of `call` fail: the first, the second and so on, until
// there is none that would. `check` is told what `call` gave, or nothing if it
// threw. Gives how many have failed.
template <class Call, class Check>
int FailEachAllocation(Call call, Check check) {
  for (int n = 0;; ++n) {
    std::optional<decltype(call())> result;
    allocations_left = n;
    try {
      result.emplace(call());
    } catch (const std::bad_alloc&) {
    }
    const bool has_failed = allocations_left < 0;
    allocations_left = -1;
    check(std::move(result));
    if (!has_failed) return n;
  }
}

// A call that holds `witness`.
auto Seven(std::shared_ptr<int> witness) {
  return [witness = std::move(witness)] { return *witness; };
}

TEST(BlockingPoolMemory, ACallWithoutAThreadFailsAndLeavesThePoolAsItWas) {
  const auto witness = std::make_shared<int>(7);
  // Also the pool holds it, until it has gone.
  const auto create = [&witness] {
    return BlockingPool::Create({.on_thread_start = [witness] {}});
  };
  BlockingPool::Owner pool = create();
  int exhausted = 0;
  const auto spawn = [&] { return pool->Spawn(Seven(witness)); };
  const auto check = [&](std::optional<JoinHandle<int>> handle) {
    if (handle.has_value()) {
      const absl::StatusOr<int> result = BlockOn(*std::move(handle));
      EXPECT_THAT(result, AnyOf(IsOkAndHolds(7),
                                StatusIs(absl::StatusCode::kResourceExhausted,
                                         HasSubstr("out of memory"))));
      exhausted += result.ok() ? 0 : 1;
    }
    EXPECT_EQ(pool->metrics().queue_depth, 0u);
    EXPECT_THAT(BlockOn(pool->SpawnMandatory(Seven(witness))), IsOkAndHolds(7));
    pool.reset();
    EXPECT_EQ(witness.use_count(), 1);
    pool = create();
  };
  EXPECT_GT(FailEachAllocation(spawn, check), 0);
  EXPECT_GT(exhausted, 0);
}

TEST(BlockingPoolMemory, ACallThatIsWaitedForByAThreadRuns) {
  const auto witness = std::make_shared<int>(7);
  const BlockingPool::Owner pool = BlockingPool::Create();
  absl::Notification begun;
  absl::Notification end;
  JoinHandle<void> busy = pool->Spawn([&] {
    begun.Notify();
    end.WaitForNotification();
  });
  begun.WaitForNotification();
  std::vector<JoinHandle<int>> handles;
  const auto spawn = [&] { return pool->Spawn(Seven(witness)); };
  const auto check = [&](std::optional<JoinHandle<int>> handle) {
    if (handle.has_value()) handles.push_back(*std::move(handle));
  };
  EXPECT_GT(FailEachAllocation(spawn, check), 0);
  end.Notify();
  EXPECT_GT(handles.size(), 1u);
  for (JoinHandle<int>& handle : handles) {
    EXPECT_THAT(BlockOn(std::move(handle)), IsOkAndHolds(7));
  }
  EXPECT_THAT(BlockOn(std::move(busy)), IsOk());
}

TEST(BlockingPoolMemory, AClockThatCannotBeHeldIsNotHeldForEver) {
  const auto clock = std::make_shared<Clock>();
  clock->SetAutoAdvance(true);
  clock->Pause();
  const BlockingPool::Owner pool = BlockingPool::Create(
      {.keep_alive = absl::ZeroDuration(), .clock = clock});
  const auto spawn = [&] { return pool->Spawn([] { return 7; }); };
  const auto check = [&](std::optional<JoinHandle<int>> handle) {
    if (handle.has_value()) {
      EXPECT_THAT(
          BlockOn(*std::move(handle)),
          AnyOf(IsOkAndHolds(7), StatusIs(absl::StatusCode::kResourceExhausted,
                                          HasSubstr("out of memory"))));
    }
    // All work has ended.
    while (pool->metrics().threads != 0) std::this_thread::yield();
    const Instant later = clock->Now() + absl::Hours(1);
    clock->AutoAdvanceTo(later);
    EXPECT_EQ(clock->Now(), later);
  };
  EXPECT_GT(FailEachAllocation(spawn, check), 0);
}

}  // namespace
}  // namespace rouse::scheduler

#endif
