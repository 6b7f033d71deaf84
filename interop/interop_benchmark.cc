// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// What each bridge costs per operation, beside the oneshot channel that each of
// them contains.

#include <coroutine>
#include <optional>
#include <utility>

#include "benchmark/benchmark.h"
#include "rouse/interop/await.h"
#include "rouse/interop/execution/from_sender.h"
#include "rouse/interop/execution/mini_library.h"
#include "rouse/interop/from_callback.h"
#include "rouse/sync/oneshot.h"
#include "rouse/waker/context.h"
#include "rouse/waker/waker.h"

namespace rouse::interop {
namespace {

// Polls `future`, completes what it waits for, and polls it again.
template <class F, class Complete>
void PollTwice(const Waker& waker, F future, Complete complete) {
  Context cx(waker);
  benchmark::DoNotOptimize(future.Poll(cx));
  complete();
  benchmark::DoNotOptimize(future.Poll(cx));
}

void BM_Oneshot(benchmark::State& state) {
  const Waker waker = Waker::FromCallable([] {});
  for (auto _ : state) {
    auto [sender, receiver] = oneshot::Channel<int>();
    PollTwice(waker, std::move(receiver),
              [&sender = sender] { sender.Send(1); });
  }
}
BENCHMARK(BM_Oneshot);

void BM_FromCallback(benchmark::State& state) {
  const Waker waker = Waker::FromCallable([] {});
  for (auto _ : state) {
    std::optional<Callback<int>> callback;
    auto start = [&callback](Callback<int> done) {
      callback.emplace(std::move(done));
    };
    PollTwice(waker, FromCallback<int>(std::move(start)),
              [&callback] { (*callback)(1); });
  }
}
BENCHMARK(BM_FromCallback);

// An awaitable that is resumed by hand.
struct Resumed {
  explicit Resumed(std::coroutine_handle<>* a) : awaiting(a) {}
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> handle) { *awaiting = handle; }
  int await_resume() { return 1; }
  std::coroutine_handle<>* awaiting;
};

void BM_Await(benchmark::State& state) {
  const Waker waker = Waker::FromCallable([] {});
  for (auto _ : state) {
    std::coroutine_handle<> awaiting;
    PollTwice(waker, Await(Resumed(&awaiting)),
              [&awaiting] { awaiting.resume(); });
  }
}
BENCHMARK(BM_Await);

// A sender that is completed by hand.
class Completed {
 public:
  using sender_concept = mini::sender_tag;

  explicit Completed(void** operation) : operation_(operation) {}

  template <class Self, class... Env>
  static consteval mini::completion_signatures<mini::set_value_t(int)>
  get_completion_signatures() {
    return {};
  }

  struct Base {
    virtual void Complete() = 0;
  };
  template <class R>
  struct Operation : Base {
    using operation_state_concept = mini::operation_state_tag;
    Operation(void** o, R r) : operation(o), receiver(std::move(r)) {}
    Operation(Operation&&) = delete;
    void start() & noexcept { *operation = static_cast<Base*>(this); }
    void Complete() override { mini::set_value_t()(std::move(receiver), 1); }
    void** operation;
    R receiver;
  };
  template <class R>
  Operation<R> connect(R receiver) && {
    return {operation_, std::move(receiver)};
  }

 private:
  void** operation_;
};

void BM_FromSender(benchmark::State& state) {
  const Waker waker = Waker::FromCallable([] {});
  for (auto _ : state) {
    void* operation = nullptr;
    PollTwice(waker, FromSender<mini::Library>(Completed(&operation)),
              [&] { static_cast<Completed::Base*>(operation)->Complete(); });
  }
}
BENCHMARK(BM_FromSender);

}  // namespace
}  // namespace rouse::interop
