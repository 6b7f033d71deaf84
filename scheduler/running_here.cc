#include "rouse/scheduler/running_here.h"

#include "absl/base/attributes.h"

namespace rouse::scheduler {
namespace {

ABSL_CONST_INIT thread_local const RunningHere* current = nullptr;

}  // namespace

// None is inlined: a coroutine might keep the variable's address while it moves
// to another thread.

ABSL_ATTRIBUTE_NOINLINE RunningHere::RunningHere(const void* runtime)
    : runtime_(runtime), outer_(current) {
  current = this;
}

ABSL_ATTRIBUTE_NOINLINE RunningHere::~RunningHere() { current = outer_; }

ABSL_ATTRIBUTE_NOINLINE bool RunningHere::MustNotBlock() {
  return current != nullptr && current->runtime_ != nullptr;
}

ABSL_ATTRIBUTE_NOINLINE bool RunningHere::Runs(const void* runtime) {
  for (const RunningHere* here = current; here != nullptr;
       here = here->outer_) {
    if (here->runtime_ == runtime) return true;
  }
  return false;
}

}  // namespace rouse::scheduler
