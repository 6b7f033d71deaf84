// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// posix_spawn(3) cannot set users, groups and limits, and does not say which
// step failed. fork(2) copies the page tables, which takes longer than all else
// if the calling process is large.
//
// The child therefore is a clone(2) that shares the memory of the calling
// process (CLONE_VM), whose thread continues when the child has loaded its
// program or has ended (CLONE_VFORK). Until then the child runs only
// `ChildMain()`, which makes system calls and nothing else: it takes no lock,
// allocates nothing, and changes no object except a `Failure`.
//
// A child that changes its user gets a copy of the memory, like a fork. In
// shared memory, the new user might be allowed to trace the child, and thereby
// to change the calling process; and Linux would mark the calling process as
// one that must not be dumped.

#include "rouse/process/start.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "rouse/reactor/owned_fd.h"

#ifdef __GLIBC__
// `clone()` under a name that ThreadSanitizer does not intercept: its
// interceptor expects that the child has memory of its own.
extern "C" int __clone(int (*)(void*), void*, int, void*,
                       ...) noexcept;  // NOLINT(bugprone-reserved-identifier)
#define ROUSE_CLONE __clone
#else
#define ROUSE_CLONE clone
#endif

// The child has the stack and the thread-local objects of the calling thread,
// whose sanitizer must not see what the child does.
#if ABSL_HAVE_ATTRIBUTE(disable_sanitizer_instrumentation)
#define ROUSE_NOT_INSTRUMENTED \
  __attribute__((disable_sanitizer_instrumentation))
#else
#define ROUSE_NOT_INSTRUMENTED       \
  ABSL_ATTRIBUTE_NO_SANITIZE_ADDRESS \
  ABSL_ATTRIBUTE_NO_SANITIZE_THREAD  \
  ABSL_ATTRIBUTE_NO_SANITIZE_UNDEFINED
#endif

namespace rouse::internal {
namespace {

// Of Linux 5.2; C libraries have defined the flag only for some years.
constexpr int kClonePidfd = 0x1000;
constexpr unsigned long kUsualTimerSlack = 50'000;  // nanoseconds
constexpr int kSignals = _NSIG;
constexpr uint64_t kIgnored = 1;                     // SIG_IGN
constexpr size_t kSignalSetBytes = (_NSIG - 1) / 8;  // the kernel's

enum class Step {
  kSession,
  kProcessGroup,
  kDescriptor,
  kLimit,
  kGroups,
  kGid,
  kUid,
  kDirectory,
  kProgram,
};

// The step that has failed.
struct Failure {
  Step step;
  size_t index;  // of the descriptor or the limit
  int error;     // 0 if no step has failed
};

// A `StartPlan` without anything that must be computed.
struct ChildPlan {
  const StartPlan* plan;
  absl::Span<char* const> paths;
  char* const* args;
  char* const* environment;
  Failure* failure;  // in memory that both processes share
};

// Returns whether another folder of PATH may have the program.
ROUSE_NOT_INSTRUMENTED inline bool IsElsewhere(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES ||
         error == ESTALE || error == ENODEV || error == ETIMEDOUT;
}

[[noreturn]] ROUSE_NOT_INSTRUMENTED void Fail(ChildPlan& child, Step step,
                                              size_t index, int error) {
  *child.failure = {step, index, error};
  for (;;) syscall(SYS_exit_group, 127);
}

ROUSE_NOT_INSTRUMENTED int ChildMain(void* argument) {
  ChildPlan& child = *static_cast<ChildPlan*>(argument);
  const StartPlan& plan = *child.plan;
  // Zeros: the default action, and the empty set. Large enough for the kernel's
  // `struct sigaction` and `sigset_t`.
  const uint64_t zeros[8] = {};
  for (int number = 1; number < kSignals; ++number) {
    // Ignored signals stay ignored. Asked here, because another thread of the
    // calling process may have installed a handler before the clone.
    uint64_t action[8] = {};  // the first word is the handler
    if (number != SIGPIPE &&
        syscall(SYS_rt_sigaction, number, nullptr, action, kSignalSetBytes) ==
            0 &&
        action[0] == kIgnored) {
      continue;
    }
    syscall(SYS_rt_sigaction, number, zeros, nullptr, kSignalSetBytes);
  }
  // A thread of Rouse has another slack (base/thread.h).
  syscall(SYS_prctl, PR_SET_TIMERSLACK, kUsualTimerSlack, 0, 0, 0);
  if (plan.new_session && syscall(SYS_setsid) < 0) {
    Fail(child, Step::kSession, 0, errno);
  }
  if (plan.process_group.has_value() &&
      syscall(SYS_setpgid, 0, *plan.process_group) != 0) {
    Fail(child, Step::kProcessGroup, 0, errno);
  }
  for (size_t i = 0; i < plan.descriptors.size(); ++i) {
    const StartPlan::Descriptor& descriptor = plan.descriptors[i];
    if (syscall(SYS_dup3, descriptor.from, descriptor.to, 0) < 0) {
      Fail(child, Step::kDescriptor, i, errno);
    }
  }
  for (size_t i = 0; i < plan.limits.size(); ++i) {
    const StartPlan::Limit& limit = plan.limits[i];
    if (syscall(SYS_prlimit64, 0, limit.resource, &limit.values, nullptr) !=
        0) {
      Fail(child, Step::kLimit, i, errno);
    }
  }
  // The C library's functions would change all threads of the caller.
  if (plan.groups.has_value() &&
      syscall(SYS_setgroups, plan.groups->size(), plan.groups->data()) != 0) {
    Fail(child, Step::kGroups, 0, errno);
  }
  if (plan.gid.has_value() &&
      syscall(SYS_setresgid, *plan.gid, *plan.gid, *plan.gid) != 0) {
    Fail(child, Step::kGid, 0, errno);
  }
  if (plan.uid.has_value() &&
      syscall(SYS_setresuid, *plan.uid, *plan.uid, *plan.uid) != 0) {
    Fail(child, Step::kUid, 0, errno);
  }
  if (plan.directory.has_value() &&
      syscall(SYS_chdir, plan.directory->c_str()) != 0) {
    Fail(child, Step::kDirectory, 0, errno);
  }
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, zeros, nullptr, kSignalSetBytes);
  int error = ENOENT;
  for (const char* path : child.paths) {
    syscall(SYS_execve, path, child.args, child.environment);
    const bool go_on = IsElsewhere(errno);
    // In a search, other errors only mean that the program is elsewhere.
    if (!go_on || errno == EACCES || child.paths.size() == 1) error = errno;
    if (!go_on) break;
  }
  Fail(child, Step::kProgram, 0, error);
}

// Returns the paths at which a program may be.
std::vector<std::string> Paths(const std::string& program) {
  if (program.empty()) return {};
  if (program.find('/') != std::string::npos) return {program};
  const char* const path = getenv("PATH");
  std::vector<std::string> paths;
  for (const std::string_view folder :
       absl::StrSplit(path != nullptr ? path : "/bin:/usr/bin", ':')) {
    paths.push_back(folder.empty() ? program
                                   : absl::StrCat(folder, "/", program));
  }
  return paths;
}

// Returns the pointers to the strings, and a null pointer.
std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& string : strings) {
    pointers.push_back(const_cast<char*>(string.data()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Blocks all signals of the thread while the object exists, so that no handler
// runs in the child. Unlike the C library's function, the system call also
// blocks the signals of the C library itself.
class BlockSignals {
 public:
  BlockSignals() {
    const uint64_t all[2] = {~uint64_t{0}, ~uint64_t{0}};
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, all, before_, kSignalSetBytes);
  }
  ~BlockSignals() {
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, before_, nullptr, kSignalSetBytes);
  }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  uint64_t before_[2];
};

ROUSE_NOT_INSTRUMENTED int Clone(ChildPlan& child, int flags, int& pidfd) {
  alignas(16) char stack[size_t{32} << 10];
  return ROUSE_CLONE(&ChildMain, stack + sizeof(stack),
                     flags | CLONE_VFORK | kClonePidfd | SIGCHLD, &child,
                     &pidfd);
}

std::string Describe(const StartPlan& plan, const Failure& failure) {
  switch (failure.step) {
    case Step::kSession:
      return "setsid";
    case Step::kProcessGroup:
      return absl::StrCat("setpgid to ", *plan.process_group);
    case Step::kDescriptor:
      return absl::StrCat("dup3 to ", plan.descriptors[failure.index].to);
    case Step::kLimit: {
      const StartPlan::Limit& limit = plan.limits[failure.index];
      return absl::StrCat("prlimit of resource ", limit.resource, " to ",
                          limit.values.rlim_cur, " and ",
                          limit.values.rlim_max);
    }
    case Step::kGroups:
      return absl::StrCat("setgroups of ", plan.groups->size(), " groups");
    case Step::kGid:
      return absl::StrCat("setresgid to ", *plan.gid);
    case Step::kUid:
      return absl::StrCat("setresuid to ", *plan.uid);
    case Step::kDirectory:
      return absl::StrCat("chdir to '", *plan.directory, "'");
    case Step::kProgram:
      break;
  }
  return "execve";
}

}  // namespace

absl::StatusOr<StartedProcess> StartProcess(const StartPlan& plan) {
  const std::vector<std::string> paths = Paths(plan.program);
  std::vector<char*> path_pointers = Pointers(paths);
  path_pointers.pop_back();
  const std::vector<char*> args = Pointers(plan.args);
  const std::vector<char*> environment = Pointers(plan.environment);
  const bool changes_user =
      plan.uid.has_value() || plan.gid.has_value() || plan.groups.has_value();
  // Zeros.
  void* const shared = mmap(nullptr, sizeof(Failure), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("Command '", plan.program, "': mmap"));
  }
  const absl::Cleanup unmap = [shared] { munmap(shared, sizeof(Failure)); };
  Failure& failure = *new (shared) Failure();
  ChildPlan child = {&plan, path_pointers, args.data(), environment.data(),
                     &failure};

  int pidfd = -1;
  pid_t pid;
  int error;
  {
    const BlockSignals block;
    pid = Clone(child, changes_user ? 0 : CLONE_VM, pidfd);
    error = errno;
  }
  if (pid < 0) {
    return absl::ErrnoToStatus(
        error, absl::StrCat("Command '", plan.program, "': clone"));
  }
  StartedProcess started{pid, OwnedFd(pidfd)};
  if (failure.error != 0) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return absl::ErrnoToStatus(failure.error,
                               absl::StrCat("Command '", plan.program,
                                            "': ", Describe(plan, failure)));
  }
  return started;
}

}  // namespace rouse::internal
