// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Every way in which the life of a task, of its JoinHandle and of its joiner's
// waker can overlap, on either kind of runtime and in a local set, with the
// expected results. The moments are exact: between two of them the threads of
// the runtime run nothing except what holds them.
//
// The traps S16 (tokio #2062, #1972), S17 (#3929), S18 (#3159, #3672), S19
// (#4430) and S20 (#2096, #2044, #6986) are points of this product. An output
// whose destructor throws does not compile.

#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/local_set.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/task_meta.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/task_id.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

enum class Kind {
  kCurrentThread,
  kMultiThread,
  // Operations on the task are on the thread of the set, or on another thread.
  kLocalSet,
  kLocalSetFromOutside,
  kLocalSetOfMultiThread,
};
// How the task's second poll ends the task, if nothing else has.
enum class End { kValue, kThrows };
// Effect of the destructor of the task's future.
enum class Destructor { kReturns, kThrows };
enum class Join { kNeverPolled, kPolled };
// In the order of time, like `AbortAt`.
enum class DropAt { kBeforeFirstPoll, kSuspended, kRunning, kEnd, kNever };
enum class AbortAt {
  kBeforeFirstPoll,
  kSuspended,
  kRunning,              // in the poll that then ends the task
  kRunningThenSuspends,  // in a pending poll
  kEnd,
  kAfterTaken,  // after the joiner has taken the output
  kNever,
};
// If the handle is dropped at the same moment, `kJoinHandle` aborts before the
// drop, and `kAbortHandle` after the drop.
enum class AbortBy { kJoinHandle, kAbortHandle };

struct Combination {
  Kind kind;
  End end;
  Destructor destructor;
  Join join;
  DropAt drop_at;
  AbortAt abort_at;
  AbortBy abort_by;
};

// Returns the last moment at which a handle exists that is dropped at `at`.
AbortAt LastOf(DropAt at) {
  switch (at) {
    case DropAt::kBeforeFirstPoll:
      return AbortAt::kBeforeFirstPoll;
    case DropAt::kSuspended:
      return AbortAt::kSuspended;
    case DropAt::kRunning:
      return AbortAt::kRunningThenSuspends;
    case DropAt::kEnd:
      return AbortAt::kEnd;
    case DropAt::kNever:
      break;
  }
  return AbortAt::kAfterTaken;
}

// Returns whether the case is possible, and no other case is the same.
bool MakesSense(const Combination& c) {
  // The second poll is never reached.
  if (c.drop_at == DropAt::kRunning && c.abort_at <= AbortAt::kSuspended) {
    return false;
  }
  if (c.abort_at == AbortAt::kNever) return c.abort_by == AbortBy::kJoinHandle;
  if (c.abort_at == AbortAt::kAfterTaken && c.drop_at != DropAt::kNever) {
    return false;
  }
  return c.abort_by == AbortBy::kAbortHandle || c.abort_at <= LastOf(c.drop_at);
}

constexpr const char* kKinds[] = {"CurrentThread", "MultiThread", "LocalSet",
                                  "LocalSetFromOutside",
                                  "LocalSetOfMultiThread"};
constexpr const char* kEnds[] = {"Value", "Throws"};
constexpr const char* kDestructors[] = {"", "DestructorThrows_"};
constexpr const char* kJoins[] = {"NeverPolled", "Polled"};
constexpr const char* kDrops[] = {"DropBeforeFirstPoll", "DropSuspended",
                                  "DropRunning", "DropAtEnd", "NoDrop"};
constexpr const char* kAborts[] = {"AbortBeforeFirstPoll",
                                   "AbortSuspended",
                                   "AbortRunning",
                                   "AbortRunningThenSuspends",
                                   "AbortAtEnd",
                                   "AbortAfterTaken",
                                   "NoAbort"};
constexpr const char* kSources[] = {"", "ByAbortHandle"};

std::vector<Combination> AllCombinations() {
#ifdef ABSL_HAVE_EXCEPTIONS
  constexpr size_t kEndings = std::size(kEnds);
#else
  constexpr size_t kEndings = 1;
#endif
  std::vector<Combination> all;
  for (size_t kind = 0; kind < std::size(kKinds); ++kind) {
    for (size_t end = 0; end < kEndings * kEndings; ++end) {
      for (size_t join = 0; join < std::size(kJoins); ++join) {
        for (size_t drop = 0; drop < std::size(kDrops); ++drop) {
          for (size_t abort = 0; abort < std::size(kAborts); ++abort) {
            for (size_t by = 0; by < std::size(kSources); ++by) {
              const Combination one = {
                  static_cast<Kind>(kind),
                  static_cast<End>(end % kEndings),
                  static_cast<Destructor>(end / kEndings),
                  static_cast<Join>(join),
                  static_cast<DropAt>(drop),
                  static_cast<AbortAt>(abort),
                  static_cast<AbortBy>(by),
              };
              if (MakesSense(one)) all.push_back(one);
            }
          }
        }
      }
    }
  }
  return all;
}

std::string NameOf(const testing::TestParamInfo<Combination>& info) {
  const Combination& c = info.param;
  return absl::StrCat(kKinds[static_cast<int>(c.kind)], "_",
                      kEnds[static_cast<int>(c.end)], "_",
                      kDestructors[static_cast<int>(c.destructor)],
                      kJoins[static_cast<int>(c.join)], "_",
                      kDrops[static_cast<int>(c.drop_at)], "_",
                      kAborts[static_cast<int>(c.abort_at)],
                      kSources[static_cast<int>(c.abort_by)]);
}

bool IsInRuntime() { return Handle::TryCurrent().has_value(); }

// Counts while a task runs.
struct Counts {
  std::atomic<int> polls{0};
  std::atomic<int> futures_ended{0};
  std::atomic<int> futures_ended_elsewhere{0};
  std::atomic<int> outputs_alive{0};
  std::atomic<int> outputs_ended_elsewhere{0};
  std::atomic<int> wakers_alive{0};
  std::atomic<int> wakes{0};
};

class Output {
 public:
  explicit Output(Counts* counts) : counts_(counts) {
    ++counts_->outputs_alive;
  }
  Output(Output&& other) noexcept : counts_(other.counts_) {
    ++counts_->outputs_alive;
  }
  Output& operator=(Output&&) = default;
  ~Output() {
    --counts_->outputs_alive;
    if (!IsInRuntime()) ++counts_->outputs_ended_elsewhere;
  }

 private:
  Counts* counts_;
};

// Returns a joiner's waker. Every clone counts; the first waker does not.
RawWaker JoinerWaker(Counts* counts) {
  static constexpr RawWakerVTable kVTable = {
      [](void* data) {
        ++static_cast<Counts*>(data)->wakers_alive;
        return RawWaker{data, &kVTable};
      },
      [](void* data) {
        ++static_cast<Counts*>(data)->wakes;
        --static_cast<Counts*>(data)->wakers_alive;
      },
      [](void* data) { ++static_cast<Counts*>(data)->wakes; },
      [](void* data) { --static_cast<Counts*>(data)->wakers_alive; },
  };
  return {counts, &kVTable};
}

class TaskCombinationsTest : public testing::TestWithParam<Combination> {
 protected:
  // The data that the task uses.
  struct Shared {
    Counts counts;
    Combination combination;
    std::function<void()> in_second_poll;
    std::optional<AbortHandle> abort;
    std::optional<Waker> waker;
  };

  // The task: pending at first. Wakes itself during its destruction.
  class Subject {
   public:
    explicit Subject(Shared* shared) : shared_(shared) {}
    Subject(Subject&& other) noexcept
        : shared_(std::exchange(other.shared_, nullptr)) {}
    Subject& operator=(Subject&&) = delete;
    ~Subject() noexcept(false) {
      if (shared_ == nullptr) return;
      ++shared_->counts.futures_ended;
      if (!IsInRuntime()) ++shared_->counts.futures_ended_elsewhere;
      if (own_waker_.has_value()) own_waker_->WakeByRef();
#ifdef ABSL_HAVE_EXCEPTIONS
      if (shared_->combination.destructor == Destructor::kThrows) {
        throw std::runtime_error("destructor");
      }
#endif
    }

    PollResult<Output> Poll(Context& cx) {
      if (++shared_->counts.polls == 1) {
        shared_->waker = cx.waker().Clone();
        own_waker_ = cx.waker().Clone();
        return kPending;
      }
      shared_->in_second_poll();
      const Combination& how = shared_->combination;
      if (how.abort_at == AbortAt::kRunningThenSuspends) return kPending;
#ifdef ABSL_HAVE_EXCEPTIONS
      if (how.end == End::kThrows) throw std::runtime_error("poll");
#endif
      return Output(&shared_->counts);
    }

   private:
    Shared* shared_;
    std::optional<Waker> own_waker_;
  };

  // Keeps a worker from running anything else.
  struct Hold {
    std::atomic<int> begun{0};
    absl::Notification end;
  };
  class Holder {
   public:
    explicit Holder(std::shared_ptr<Hold> hold) : hold_(std::move(hold)) {}
    PollResult<void> Poll(Context&) {
      ++hold_->begun;
      hold_->end.WaitForNotification();
      return {};
    }

   private:
    std::shared_ptr<Hold> hold_;
  };

  // Is ready when `condition` holds. Lets the tasks run until then.
  class Until {
   public:
    explicit Until(std::function<bool()> condition)
        : condition_(std::move(condition)) {}
    PollResult<void> Poll(Context& cx) {
      if (condition_()) return {};
      cx.waker().WakeByRef();
      return kPending;
    }

   private:
    std::function<bool()> condition_;
  };

  static constexpr int kWorkers = 2;

  TaskCombinationsTest() {
    Builder builder =
        is_multi_thread_ || how_.kind == Kind::kLocalSetOfMultiThread
            ? std::move(Builder::MultiThread().WorkerThreads(kWorkers))
            : Builder::CurrentThread();
    runtime_.emplace(builder.Build().value());
    if (is_local_) set_.emplace();
    shared_.combination = GetParam();
    shared_.in_second_poll = [this] {
      AbortIf(AbortAt::kRunning, AbortBy::kJoinHandle);
      AbortIf(AbortAt::kRunningThenSuspends, AbortBy::kJoinHandle);
      DropIf(DropAt::kRunning);
      AbortIf(AbortAt::kRunning, AbortBy::kAbortHandle);
      AbortIf(AbortAt::kRunningThenSuspends, AbortBy::kAbortHandle);
    };
  }
  ~TaskCombinationsTest() override {
    if (hold_ != nullptr) hold_->end.Notify();
  }

  // From here on no worker runs, and ended objects have ended permanently.
  void StopWorkers() {
    if (!is_multi_thread_) return;
    hold_ = std::make_shared<Hold>();
    for (int i = 0; i < kWorkers; ++i) {
      runtime_->Spawn(Holder(hold_)).Detach();
      // A worker that took two holders would keep the second one to itself.
      while (hold_->begun.load() <= i) std::this_thread::yield();
    }
  }

  void RunUntil(const std::function<bool()>& condition) {
    if (is_local_) {
      return runtime_->BlockOn(set_->RunUntil(Until(condition)));
    }
    if (!is_multi_thread_) {
      return runtime_->BlockOn(Until(condition));
    }
    std::exchange(hold_, nullptr)->end.Notify();
    while (!condition()) std::this_thread::yield();
  }

  JoinHandle<Output> Spawn() {
    return is_local_ ? set_->Spawn(Subject(&shared_), {}, spawned_at_)
                     : runtime_->Spawn(Subject(&shared_), {}, spawned_at_);
  }
  size_t AliveTasks() {
    return is_local_ ? set_->alive_tasks() : runtime_->handle().alive_tasks();
  }

  // Calls `f` on the thread on which the task, its handle and its wakers are
  // used.
  void There(const std::function<void()>& f) {
    if (how_.kind != Kind::kLocalSetFromOutside) return f();
    std::thread(f).join();
  }

  void PollHandle() {
    if (how_.join == Join::kNeverPolled || !handle_.has_value()) return;
    Context cx(joiner_.get());
    // The second poll costs nothing, because the waker is the same.
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(handle_->Poll(cx).IsPending());
      EXPECT_EQ(counts_.wakers_alive, 1);
    }
  }

  // Aborts the task if the combination does so at the moment `at`.
  void AbortIf(AbortAt at, AbortBy by) {
    if (how_.abort_at != at || how_.abort_by != by) return;
    if (by == AbortBy::kAbortHandle) return shared_.abort->Abort();
    handle_->Abort();
  }
  void DropIf(DropAt at) {
    if (how_.drop_at != at) return;
    handle_.reset();
    // The waker is destroyed at once, whether the task has ended or not.
    EXPECT_EQ(counts_.wakers_alive, 0);
  }
  void DropAndAbortIf(DropAt drop_at, AbortAt abort_at) {
    There([&] {
      AbortIf(abort_at, AbortBy::kJoinHandle);
      DropIf(drop_at);
      AbortIf(abort_at, AbortBy::kAbortHandle);
    });
  }

  bool IsCancelled() const {
    return how_.abort_at == AbortAt::kBeforeFirstPoll ||
           how_.abort_at == AbortAt::kSuspended ||
           how_.abort_at == AbortAt::kRunningThenSuspends;
  }
  int ExpectedPolls() const {
    if (how_.abort_at == AbortAt::kBeforeFirstPoll) return 0;
    return how_.abort_at == AbortAt::kSuspended ? 1 : 2;
  }
  absl::Status ExpectedStatus() const {
    const TaskId id = shared_.abort->id();
    const std::string thrown =
        absl::StrCat(TaskMeta{id, {}, spawned_at_}, " ended with an exception");
    // Of two exceptions the first counts.
    if (how_.end == End::kThrows && !IsCancelled()) {
      return absl::InternalError(absl::StrCat(thrown, ": poll"));
    }
    if (how_.destructor == Destructor::kThrows) {
      return absl::InternalError(absl::StrCat(thrown, ": destructor"));
    }
    if (IsCancelled()) {
      return absl::CancelledError(absl::StrCat("task ", id, " was cancelled"));
    }
    return absl::OkStatus();
  }

  const Combination how_ = GetParam();
  const std::source_location spawned_at_ = std::source_location::current();
  // Whether the task runs on the runtime's own threads.
  const bool is_multi_thread_ = how_.kind == Kind::kMultiThread;
  const bool is_local_ = how_.kind == Kind::kLocalSet ||
                         how_.kind == Kind::kLocalSetFromOutside ||
                         how_.kind == Kind::kLocalSetOfMultiThread;

  Shared shared_;
  Counts& counts_ = shared_.counts;
  const BorrowedWaker joiner_{JoinerWaker(&counts_)};
  std::shared_ptr<Hold> hold_;
  std::optional<Runtime> runtime_;
  std::optional<LocalSet> set_;
  std::optional<JoinHandle<Output>> handle_;
};

TEST_P(TaskCombinationsTest, EndsWithTheExpectedResult) {
  StopWorkers();
  handle_ = Spawn();
  shared_.abort = handle_->abort_handle();
  There([this] { PollHandle(); });
  DropAndAbortIf(DropAt::kBeforeFirstPoll, AbortAt::kBeforeFirstPoll);
  EXPECT_EQ(counts_.polls, 0);
  EXPECT_EQ(counts_.futures_ended, 0);

  RunUntil(
      [this] { return counts_.polls == 1 || shared_.abort->IsFinished(); });
  StopWorkers();
  There([this] {
    if (!shared_.abort->IsFinished()) PollHandle();
  });
  DropAndAbortIf(DropAt::kSuspended, AbortAt::kSuspended);
  // Only a thread of the runtime ends the task.
  EXPECT_EQ(counts_.futures_ended, how_.abort_at == AbortAt::kBeforeFirstPoll);
  There([this] {
    if (!shared_.waker.has_value()) return;
    shared_.waker->WakeByRef();
    std::move(*shared_.waker).Wake();
  });

  RunUntil([this] { return shared_.abort->IsFinished(); });
  StopWorkers();
  EXPECT_EQ(counts_.polls, ExpectedPolls());
  EXPECT_EQ(counts_.futures_ended, 1);
  EXPECT_EQ(counts_.futures_ended_elsewhere, 0);
  EXPECT_EQ(counts_.wakers_alive, 0);
  // A handle that was dropped while the task was suspended still existed at the
  // end of a task that was cancelled before its first poll.
  const bool joined_at_end =
      handle_.has_value() || (how_.drop_at == DropAt::kSuspended &&
                              how_.abort_at == AbortAt::kBeforeFirstPoll);
  EXPECT_EQ(counts_.wakes, how_.join == Join::kPolled && joined_at_end);
  const absl::Status expected = ExpectedStatus();
  const bool has_output = expected.ok() && handle_.has_value();
  EXPECT_EQ(counts_.outputs_alive, has_output);
  EXPECT_EQ(counts_.outputs_ended_elsewhere, 0);

  DropAndAbortIf(DropAt::kEnd, AbortAt::kEnd);
  EXPECT_EQ(counts_.outputs_alive, has_output && handle_.has_value());
  There([&] {
    if (!handle_.has_value()) return;
    Context cx(joiner_.get());
    PollResult<JoinResult<Output>> result = handle_->Poll(cx);
    ASSERT_TRUE(result.IsReady());
    EXPECT_EQ(result->status(), expected);
    EXPECT_EQ(handle_->was_cancelled(),
              expected.code() == absl::StatusCode::kCancelled);
    EXPECT_EQ(counts_.outputs_alive, has_output);
    AbortIf(AbortAt::kAfterTaken, AbortBy::kJoinHandle);
    AbortIf(AbortAt::kAfterTaken, AbortBy::kAbortHandle);
    EXPECT_TRUE(handle_->IsFinished());
    EXPECT_EQ(result->status(), expected);
    EXPECT_EQ(counts_.outputs_alive, has_output);
  });
  EXPECT_EQ(counts_.outputs_alive, 0);
  EXPECT_EQ(counts_.wakers_alive, 0);
  EXPECT_EQ(counts_.futures_ended, 1);
  EXPECT_EQ(counts_.polls, ExpectedPolls());

  RunUntil([this] { return AliveTasks() == 0; });
}

INSTANTIATE_TEST_SUITE_P(All, TaskCombinationsTest,
                         testing::ValuesIn(AllCombinations()), &NameOf);

}  // namespace
}  // namespace rouse
