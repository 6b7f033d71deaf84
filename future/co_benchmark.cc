#include "benchmark/benchmark.h"
#include "rouse/future/co.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {
namespace {

Co<int> ReadyChild(int x) { co_return x; }

Co<> AwaitReadyChildren(benchmark::State& state) {
  int sum = 0;
  for (auto _ : state) {
    sum += co_await ReadyChild(1);
    benchmark::DoNotOptimize(sum);
  }
}

// One operation: a child is called, runs to its end and gives its value.
void BM_AwaitReadyChild(benchmark::State& state) {
  Co<> co = AwaitReadyChildren(state);
  const Waker waker;
  Context cx(waker);
  benchmark::DoNotOptimize(co.Poll(cx).IsReady());
}
BENCHMARK(BM_AwaitReadyChild);

// Pending every other time: each poll of the root is a wake and a suspension.
class Alternating {
 public:
  PollResult<void> Poll(Context&) {
    ready_ = !ready_;
    if (ready_) return kPending;
    return {};
  }

 private:
  bool ready_ = false;
};

Co<> AwaitForever() {
  Alternating leaf;
  for (;;) co_await leaf;
}

Co<> AwaitAtDepth(int depth) {
  if (depth == 1) {
    co_await AwaitForever();
  } else {
    co_await AwaitAtDepth(depth - 1);
  }
}

// One operation: the root is polled, its leaf is ready, the frame that awaits
// it is resumed, and awaits the leaf again, which is pending.
void BM_WakeAndSuspend(benchmark::State& state) {
  Co<> co = AwaitAtDepth(static_cast<int>(state.range(0)) - 1);
  const Waker waker;
  Context cx(waker);
  for (auto _ : state) {
    benchmark::DoNotOptimize(co.Poll(cx).IsReady());
  }
}
BENCHMARK(BM_WakeAndSuspend)->Arg(2)->Arg(16)->Arg(64);

}  // namespace
}  // namespace rouse
