// Every way in which the life of a task, of its JoinHandle and of its joiner's
// waker may overlap, on either kind of runtime, with what must come of it. The
// moments are exact: between two of them no thread of the runtime runs
// anything but what holds it.
//
// The traps S16 (tokio #2062, #1972), S17 (#3929), S18 (#3159, #3672), S19
// (#4430) and S20 (#2096, #2044, #6986) are points of this product. An output
// whose destructor throws does not compile.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

// How the task's second poll ends it, if nothing else has.
enum class End { kValue, kThrows, kDestructorThrows };
enum class Join { kNeverPolled, kPolled };
enum class DropAt { kBeforeFirstPoll, kSuspended, kEnd, kNever };
enum class AbortAt {
  kNever,
  kBeforeFirstPoll,
  kSuspended,
  kRunning,              // in the poll that then ends the task
  kRunningThenSuspends,  // in a poll that is pending
  kEnd,
};

using Combination = std::tuple<bool, End, Join, DropAt, AbortAt>;

bool IsInRuntime() { return Handle::TryCurrent().has_value(); }

// What is counted while a task runs.
struct Counts {
  std::atomic<int> polls{0};
  std::atomic<int> futures_ended{0};
  std::atomic<int> futures_ended_elsewhere{0};
  std::atomic<int> outputs_made{0};
  std::atomic<int> outputs_alive{0};
  std::atomic<int> outputs_ended_elsewhere{0};
  std::atomic<int> wakers_alive{0};
  std::atomic<int> wakes{0};
};

class Output {
 public:
  explicit Output(Counts* counts) : counts_(counts) {
    ++counts_->outputs_made;
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

// A joiner's waker. Every clone counts; the first one does not.
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
  // What the task looks at.
  struct Shared {
    Counts counts;
    End end;
    AbortAt abort_at;
    std::optional<AbortHandle> abort;
    std::optional<Waker> waker;
  };

  // The task: pending at first, and wakes itself while it is destroyed.
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
      if (shared_->end == End::kDestructorThrows) {
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
      if (shared_->abort_at == AbortAt::kRunning) shared_->abort->Abort();
      if (shared_->abort_at == AbortAt::kRunningThenSuspends) {
        shared_->abort->Abort();
        return kPending;
      }
#ifdef ABSL_HAVE_EXCEPTIONS
      if (shared_->end == End::kThrows) throw std::runtime_error("poll");
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

  // Ready when `condition` holds. Lets the tasks run until then.
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
        is_multi_thread_
            ? std::move(Builder::MultiThread().WorkerThreads(kWorkers))
            : Builder::CurrentThread();
    runtime_.emplace(builder.Build().value());
    shared_.end = std::get<1>(GetParam());
    shared_.abort_at = abort_at_;
  }
  ~TaskCombinationsTest() override {
    if (hold_ != nullptr) hold_->end.Notify();
  }

  // From here on no worker runs, and what has ended has ended for good.
  void StopWorkers() {
    if (!is_multi_thread_) return;
    hold_ = std::make_shared<Hold>();
    for (int i = 0; i < kWorkers; ++i) runtime_->Spawn(Holder(hold_)).Detach();
    while (hold_->begun.load() < kWorkers) std::this_thread::yield();
  }

  void RunUntil(const std::function<bool()>& condition) {
    if (!is_multi_thread_) {
      return runtime_->BlockOn(Until(condition));
    }
    std::exchange(hold_, nullptr)->end.Notify();
    while (!condition()) std::this_thread::yield();
  }

  void PollHandle() {
    if (join_ == Join::kNeverPolled || !handle_.has_value()) return;
    Context cx(joiner_.get());
    // The second time costs nothing: the waker is the same.
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(handle_->Poll(cx).IsPending());
      EXPECT_EQ(counts_.wakers_alive, 1);
    }
  }

  // What is asked for at the moment `at`.
  void AbortIf(AbortAt at) {
    if (abort_at_ != at) return;
    if (handle_.has_value()) return handle_->Abort();
    shared_.abort->Abort();
  }
  void DropIf(DropAt at) {
    if (drop_at_ != at) return;
    handle_.reset();
    // The waker goes at once, whether the task has ended or not.
    EXPECT_EQ(counts_.wakers_alive, 0);
  }

  bool IsCancelled() const {
    return abort_at_ == AbortAt::kBeforeFirstPoll ||
           abort_at_ == AbortAt::kSuspended ||
           abort_at_ == AbortAt::kRunningThenSuspends;
  }
  int ExpectedPolls() const {
    if (abort_at_ == AbortAt::kBeforeFirstPoll) return 0;
    return abort_at_ == AbortAt::kSuspended ? 1 : 2;
  }
  absl::Status ExpectedStatus() const {
    const std::string task = absl::StrCat("task ", shared_.abort->id());
    if (shared_.end == End::kDestructorThrows) {
      return absl::InternalError(
          absl::StrCat(task, " ended with an exception: destructor"));
    }
    if (IsCancelled()) {
      return absl::CancelledError(absl::StrCat(task, " was cancelled"));
    }
    if (shared_.end == End::kThrows) {
      return absl::InternalError(
          absl::StrCat(task, " ended with an exception: poll"));
    }
    return absl::OkStatus();
  }

  const bool is_multi_thread_ = std::get<0>(GetParam());
  const Join join_ = std::get<2>(GetParam());
  const DropAt drop_at_ = std::get<3>(GetParam());
  const AbortAt abort_at_ = std::get<4>(GetParam());

  Shared shared_;
  Counts& counts_ = shared_.counts;
  const BorrowedWaker joiner_{JoinerWaker(&counts_)};
  std::shared_ptr<Hold> hold_;
  std::optional<Runtime> runtime_;
  std::optional<JoinHandle<Output>> handle_;
};

TEST_P(TaskCombinationsTest, EndsAsItShould) {
  StopWorkers();
  handle_ = runtime_->Spawn(Subject(&shared_));
  shared_.abort = handle_->abort_handle();
  PollHandle();
  DropIf(DropAt::kBeforeFirstPoll);
  AbortIf(AbortAt::kBeforeFirstPoll);
  EXPECT_EQ(counts_.polls, 0);
  EXPECT_EQ(counts_.futures_ended, 0);

  RunUntil(
      [this] { return counts_.polls == 1 || shared_.abort->IsFinished(); });
  StopWorkers();
  if (!shared_.abort->IsFinished()) PollHandle();
  DropIf(DropAt::kSuspended);
  AbortIf(AbortAt::kSuspended);
  // Only a thread of the runtime ends it.
  EXPECT_EQ(counts_.futures_ended, abort_at_ == AbortAt::kBeforeFirstPoll);
  if (shared_.waker.has_value()) {
    shared_.waker->WakeByRef();
    std::move(*shared_.waker).Wake();
  }

  RunUntil([this] { return shared_.abort->IsFinished(); });
  StopWorkers();
  EXPECT_EQ(counts_.polls, ExpectedPolls());
  EXPECT_EQ(counts_.futures_ended, 1);
  EXPECT_EQ(counts_.futures_ended_elsewhere, 0);
  EXPECT_EQ(counts_.wakers_alive, 0);
  // A handle that went while the task was suspended was there at the end of
  // one that was cancelled before.
  const bool joined_at_end =
      handle_.has_value() || (drop_at_ == DropAt::kSuspended &&
                              abort_at_ == AbortAt::kBeforeFirstPoll);
  EXPECT_EQ(counts_.wakes, join_ == Join::kPolled && joined_at_end);
  const absl::Status expected = ExpectedStatus();
  const bool has_output = expected.ok() && handle_.has_value();
  EXPECT_EQ(counts_.outputs_alive, has_output);
  EXPECT_EQ(counts_.outputs_ended_elsewhere, 0);

  AbortIf(AbortAt::kEnd);
  DropIf(DropAt::kEnd);
  EXPECT_EQ(counts_.outputs_alive, has_output && handle_.has_value());
  if (handle_.has_value()) {
    Context cx(joiner_.get());
    PollResult<JoinResult<Output>> result = handle_->Poll(cx);
    ASSERT_TRUE(result.IsReady());
    EXPECT_EQ(result->status(), expected);
  }
  EXPECT_EQ(counts_.outputs_alive, 0);
  EXPECT_EQ(counts_.wakers_alive, 0);
  EXPECT_EQ(counts_.futures_ended, 1);

  RunUntil([this] { return runtime_->handle().alive_tasks() == 0; });
}

std::string NameOf(const testing::TestParamInfo<Combination>& info) {
  static constexpr const char* kEnds[] = {"Value", "Throws",
                                          "DestructorThrows"};
  static constexpr const char* kJoins[] = {"NeverPolled", "Polled"};
  static constexpr const char* kDrops[] = {
      "DropBeforeFirstPoll", "DropSuspended", "DropAtEnd", "NoDrop"};
  static constexpr const char* kAborts[] = {
      "NoAbort",      "AbortBeforeFirstPoll",     "AbortSuspended",
      "AbortRunning", "AbortRunningThenSuspends", "AbortAtEnd"};
  const auto [multi_thread, end, join, drop_at, abort_at] = info.param;
  return absl::StrCat(multi_thread ? "MultiThread" : "CurrentThread", "_",
                      kEnds[static_cast<int>(end)], "_",
                      kJoins[static_cast<int>(join)], "_",
                      kDrops[static_cast<int>(drop_at)], "_",
                      kAborts[static_cast<int>(abort_at)]);
}

INSTANTIATE_TEST_SUITE_P(
    All, TaskCombinationsTest,
    testing::Combine(
        testing::Bool(),
#ifdef ABSL_HAVE_EXCEPTIONS
        testing::Values(End::kValue, End::kThrows, End::kDestructorThrows),
#else
        testing::Values(End::kValue),
#endif
        testing::Values(Join::kNeverPolled, Join::kPolled),
        testing::Values(DropAt::kBeforeFirstPoll, DropAt::kSuspended,
                        DropAt::kEnd, DropAt::kNever),
        testing::Values(AbortAt::kNever, AbortAt::kBeforeFirstPoll,
                        AbortAt::kSuspended, AbortAt::kRunning,
                        AbortAt::kRunningThenSuspends, AbortAt::kEnd)),
    &NameOf);

}  // namespace
}  // namespace rouse
