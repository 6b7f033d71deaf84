// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/fresh_stack.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <exception>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#include "absl/functional/function_ref.h"
#include "rouse/base/exceptions.h"
#include "rouse/base/stack_room.h"

#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(ABSL_HAVE_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace rouse {
namespace {

// Memory for a stack, below which lies a page that cannot be accessed.
class StackMemory {
 public:
  StackMemory()
      : guard_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        mapping_(mmap(nullptr, guard_ + kFreshStackSize, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE,
                      -1, 0)) {
    if (mapping_ == MAP_FAILED) return;
    if (mprotect(bottom(), kFreshStackSize, PROT_READ | PROT_WRITE) == 0) {
      return;
    }
    munmap(mapping_, guard_ + kFreshStackSize);
    mapping_ = MAP_FAILED;
  }
  StackMemory(const StackMemory&) = delete;
  StackMemory& operator=(const StackMemory&) = delete;
  ~StackMemory() {
    if (!exists()) return;
#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
    // The outermost function has not returned.
    ASAN_UNPOISON_MEMORY_REGION(bottom(), kFreshStackSize);
#endif
    munmap(mapping_, guard_ + kFreshStackSize);
  }

  bool exists() const { return mapping_ != MAP_FAILED; }
  void* bottom() const { return static_cast<char*>(mapping_) + guard_; }

 private:
  const size_t guard_;
  void* mapping_;
};

// Informs the sanitizers of the two changes of the stack. Each function is
// called right before or right after a change, and is inlined: otherwise its
// return would be a return on the other stack for ThreadSanitizer.
class Sanitizers {
 public:
  Sanitizers() {
#if defined(ABSL_HAVE_THREAD_SANITIZER)
    outside_ = __tsan_get_current_fiber();
    inside_ = __tsan_create_fiber(0);
#endif
  }
  Sanitizers(const Sanitizers&) = delete;
  Sanitizers& operator=(const Sanitizers&) = delete;
  ~Sanitizers() {
#if defined(ABSL_HAVE_THREAD_SANITIZER)
    __tsan_destroy_fiber(inside_);
#endif
  }

  ABSL_ATTRIBUTE_ALWAYS_INLINE void BeforeEntry(
      [[maybe_unused]] const StackMemory& stack) {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
    __sanitizer_start_switch_fiber(&fake_stack_, stack.bottom(),
                                   kFreshStackSize);
#endif
#if defined(ABSL_HAVE_THREAD_SANITIZER)
    __tsan_switch_to_fiber(inside_, 0);
#endif
  }
  ABSL_ATTRIBUTE_ALWAYS_INLINE void AfterEntry() {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
    __sanitizer_finish_switch_fiber(nullptr, &outside_bottom_, &outside_size_);
#endif
  }
  ABSL_ATTRIBUTE_ALWAYS_INLINE void BeforeReturn() {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
    __sanitizer_start_switch_fiber(nullptr, outside_bottom_, outside_size_);
#endif
#if defined(ABSL_HAVE_THREAD_SANITIZER)
    __tsan_switch_to_fiber(outside_, 0);
#endif
  }
  ABSL_ATTRIBUTE_ALWAYS_INLINE void AfterReturn() {
#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
    __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
#endif
  }

 private:
#if defined(ABSL_HAVE_ADDRESS_SANITIZER)
  void* fake_stack_ = nullptr;
  const void* outside_bottom_ = nullptr;
  size_t outside_size_ = 0;
#endif
#if defined(ABSL_HAVE_THREAD_SANITIZER)
  void* outside_;
  void* inside_;
#endif
};

// A call on another stack. Lives on the stack of the caller.
class Call {
 public:
  Call(absl::FunctionRef<void()> f, const StackMemory& stack)
      : f_(f), stack_(stack) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Returns false if the system reports an error.
  bool Run() {
    ucontext_t inside;
    if (getcontext(&inside) != 0) return false;
    inside.uc_stack.ss_sp = stack_.bottom();
    inside.uc_stack.ss_size = kFreshStackSize;
    inside.uc_link = nullptr;
    // The arguments of the function are of type int.
    const auto self = reinterpret_cast<uintptr_t>(this);
    makecontext(&inside, reinterpret_cast<void (*)()>(&Enter), 2,
                static_cast<unsigned>(self >> 16 >> 16),
                static_cast<unsigned>(self));
    const internal::StackBounds outer = internal::ExchangeStackBounds(
        internal::StackBounds::Of(stack_.bottom(), kFreshStackSize));
    Leave(inside);
    internal::ExchangeStackBounds(outer);
    return true;
  }

  // Rethrows the exception of the function, if any.
  void Rethrow() {
#ifdef ABSL_HAVE_EXCEPTIONS
    if (exception_ != nullptr) std::rethrow_exception(exception_);
#endif
  }

 private:
  // Changes to the stack of `inside`, and returns when the function has
  // returned. Without `swapcontext()`, of which AddressSanitizer warns.
  ABSL_ATTRIBUTE_NOINLINE void Leave(const ucontext_t& inside) {
    // Returns twice, and the second time with the effects of the function.
    getcontext(&outside_);
    if (!has_run_) {
      sanitizers_.BeforeEntry(stack_);
      setcontext(&inside);
    }
    sanitizers_.AfterReturn();
  }

  // The function of the new stack. Does not return.
  ABSL_ATTRIBUTE_NO_SANITIZE_ADDRESS static void Enter(unsigned high,
                                                       unsigned low) {
    Call* const self =
        reinterpret_cast<Call*>(uintptr_t{high} << 16 << 16 | uintptr_t{low});
    self->sanitizers_.AfterEntry();
    self->CallFunction();
    self->has_run_ = true;
    self->sanitizers_.BeforeReturn();
    setcontext(&self->outside_);
  }

  ABSL_ATTRIBUTE_NOINLINE void CallFunction() {
    ROUSE_TRY { f_(); }
    ROUSE_CATCH_ALL {
#ifdef ABSL_HAVE_EXCEPTIONS
      exception_ = std::current_exception();
#endif
    }
  }

  const absl::FunctionRef<void()> f_;
  const StackMemory& stack_;
  Sanitizers sanitizers_;
  ucontext_t outside_;
  volatile bool has_run_ = false;
  std::exception_ptr exception_;
};

}  // namespace

bool RunOnFreshStack(absl::FunctionRef<void()> f) {
  const StackMemory stack;
  if (!stack.exists()) return false;
  Call call(f, stack);
  if (!call.Run()) return false;
  call.Rethrow();
  return true;
}

}  // namespace rouse
