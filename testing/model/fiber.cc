// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/debugging/leak_check.h"
#include "absl/log/check.h"
#include "absl/log/log.h"

#ifndef __x86_64__
#include <ucontext.h>
#endif

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef ABSL_HAVE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

#ifdef __x86_64__
// Saves the callee-saved registers on this stack, stores the stack pointer in
// `*from`, and continues where the stack `to` was left in the same way.
extern "C" void rouse_model_switch(void** from, void* to);
asm(R"(
.text
.globl rouse_model_switch
.type rouse_model_switch, @function
rouse_model_switch:
  .cfi_startproc
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .cfi_endproc
.size rouse_model_switch, .-rouse_model_switch
)");
#endif

namespace rouse::model {
namespace {

constexpr size_t kStackSize = size_t{256} << 10;

// The exceptions that the fiber's stack is handling. The C++ runtime keeps
// these two words for each system thread.
struct HandledExceptions {
  void* caught = nullptr;
  unsigned int uncaught = 0;

  void Save() { std::memcpy(this, abi::__cxa_get_globals(), kSize); }
  void Restore() const { std::memcpy(abi::__cxa_get_globals(), this, kSize); }

  static constexpr size_t kSize = sizeof(void*) + sizeof(unsigned int);
};

// Stacks, each behind a page that an overflow hits. Mapping a stack costs as
// much as many executions, so stacks are reused, and never unmapped.
class StackCache {
 public:
  char* Take() {
    if (free_.empty()) return Map();
    char* stack = free_.back();
    free_.pop_back();
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
    // The frames of the stack's last use were never left.
    ASAN_UNPOISON_MEMORY_REGION(stack, kStackSize);
#endif
    return stack;
  }
  void Give(char* stack) { free_.push_back(stack); }

 private:
  static char* Map() {
    const size_t page = static_cast<size_t>(getpagesize());
    void* mapped = mmap(nullptr, page + kStackSize, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    CHECK(mapped != MAP_FAILED)
        << "out of memory for the stack of a model's thread";
    CHECK_EQ(mprotect(mapped, page, PROT_NONE), 0);
    return static_cast<char*>(mapped) + page;
  }

  std::vector<char*> free_;
};

StackCache& Stacks() {
  static auto& stacks = *new StackCache;
  return stacks;
}

class StackFiber final : public Fiber {
 public:
  StackFiber() {
#ifdef ABSL_HAVE_THREAD_SANITIZER
    sanitizer_fiber_ = __tsan_get_current_fiber();
#endif
  }

  explicit StackFiber(std::function<void()> body)
      : body_(std::move(body)), stack_(Stacks().Take()) {
#ifdef ABSL_HAVE_THREAD_SANITIZER
    sanitizer_fiber_ = __tsan_create_fiber(0);
#endif
#ifdef __x86_64__
    void** top = reinterpret_cast<void**>(stack_ + kStackSize);
    *--top = nullptr;  // the return address of Enter; aligns as a call does
    *--top = reinterpret_cast<void*>(&Enter);
    for (int i = 0; i < 6; ++i) *--top = nullptr;
    saved_ = static_cast<void*>(top);
#else
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_;
    context_.uc_stack.ss_size = kStackSize;
    makecontext(&context_, &Enter, 0);
#endif
  }

  ~StackFiber() override {
    if (body_ == nullptr) return;
#ifdef ABSL_HAVE_THREAD_SANITIZER
    __tsan_destroy_fiber(sanitizer_fiber_);
#endif
    Stacks().Give(stack_);
  }

  void SwitchTo(Fiber& to) override {
    StackFiber& next = static_cast<StackFiber&>(to);
    exceptions_.Save();
    entering_ = &next;
#ifdef ABSL_HAVE_THREAD_SANITIZER
    // All fibers belong to one thread, so every switch is a synchronization.
    __tsan_switch_to_fiber(next.sanitizer_fiber_, 0);
#endif
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
    leaving_ = this;
    __sanitizer_start_switch_fiber(&fake_stack_, next.stack_,
                                   next.stack_ == nullptr ? 0 : next.size_);
#endif
#ifdef __x86_64__
    rouse_model_switch(&saved_, next.saved_);
#else
    swapcontext(&context_, &next.context_);
#endif
    Entered();
  }

 private:
  // Runs on the fiber that has just been switched to.
  void Entered() {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
    const void* bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(fake_stack_, &bottom, &size);
    // The first switch away from the main fiber reports the main fiber's stack.
    leaving_->stack_ = static_cast<char*>(const_cast<void*>(bottom));
    leaving_->size_ = size;
#endif
    exceptions_.Restore();
  }

  [[noreturn]] static void Enter() {
    StackFiber* self = entering_;
    self->Entered();
    self->body_();
    LOG(FATAL) << "the body of a fiber returned";
  }

  static inline StackFiber* entering_ = nullptr;
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  static inline StackFiber* leaving_ = nullptr;
  void* fake_stack_ = nullptr;
#endif
#ifdef ABSL_HAVE_THREAD_SANITIZER
  void* sanitizer_fiber_;
#endif

  std::function<void()> body_;  // null: the fiber of the calling thread
  char* stack_ = nullptr;
  [[maybe_unused]] size_t size_ = kStackSize;
#ifdef __x86_64__
  void* saved_ = nullptr;
#else
  ucontext_t context_;
#endif
  HandledExceptions exceptions_;
};

class ThreadFiber final : public Fiber {
 public:
  ThreadFiber() = default;

  explicit ThreadFiber(std::function<void()> body) {
    // The state outlives the fiber, because the thread may sleep on the state.
    std::thread([state = state_, body = std::move(body)] {
      // As in Execution::Run(), but for this system thread.
      const absl::LeakCheckDisabler disabler;
      state->baton.acquire();
      body();
    }).detach();
  }

  void SwitchTo(Fiber& to) override {
    // A fiber sleeps here forever if no other fiber switches back.
    const std::shared_ptr<State> state = state_;
    static_cast<ThreadFiber&>(to).state_->baton.release();
    state->baton.acquire();
  }

 private:
  struct State {
    std::binary_semaphore baton{0};
  };

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace

std::unique_ptr<Fiber> Fiber::Main(Kind kind) {
  if (kind == Kind::kThread) return std::make_unique<ThreadFiber>();
  return std::make_unique<StackFiber>();
}

std::unique_ptr<Fiber> Fiber::New(Kind kind, std::function<void()> body) {
  if (kind == Kind::kThread) {
    return std::make_unique<ThreadFiber>(std::move(body));
  }
  return std::make_unique<StackFiber>(std::move(body));
}

}  // namespace rouse::model
