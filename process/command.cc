// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/process/command.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/io/fd/adopt_fd.h"
#include "rouse/process/child.h"
#include "rouse/process/child_pipe.h"
#include "rouse/process/exit_status.h"
#include "rouse/process/reaper.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/fallback.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {
namespace {

using reactor::AsyncFd;

// Returns a duplicate of `fd` past the numbers of the standard streams, so that
// setting up a standard stream in the child does not overwrite the source of
// another.
absl::StatusOr<OwnedFd> PastStandard(int fd) {
  OwnedFd past(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!past.IsValid()) {
    return absl::ErrnoToStatus(errno, "fcntl(F_DUPFD_CLOEXEC)");
  }
  return past;
}

// Returns a spare descriptor and source, which are released when the child
// exists and needs one of each. Otherwise a program might run, only to be
// killed because the descriptor or the source is missing.
absl::StatusOr<AsyncFd<OwnedFd>> SetAside(const reactor::Handle& handle) {
  OwnedFd fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd.IsValid()) return absl::ErrnoToStatus(errno, "eventfd");
  return AsyncFd<OwnedFd>::Create(std::move(fd), reactor::Interest::kReadable,
                                  handle);
}

// Ends a process that has just been started.
void Undo(pid_t pid) {
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// While the object exists, children of this thread get the usual timer slack. A
// thread of Rouse has another slack (base/thread.h), which its children would
// inherit.
class UsualTimerSlack {
 public:
  UsualTimerSlack() : before_(prctl(PR_GET_TIMERSLACK)) {
    prctl(PR_SET_TIMERSLACK, kUsual);
  }
  ~UsualTimerSlack() { prctl(PR_SET_TIMERSLACK, before_); }
  UsualTimerSlack(const UsualTimerSlack&) = delete;
  UsualTimerSlack& operator=(const UsualTimerSlack&) = delete;

 private:
  static constexpr unsigned long kUsual = 50'000;  // nanoseconds

  const long before_;
};

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool HasZero(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

}  // namespace

// The streams with which a child is started, and the other ends of its pipes.
struct Command::Streams {
  OwnedFd sources[3];  // invalid where inherited
  std::optional<ChildStdin> input;
  std::optional<ChildStdout> outputs[2];
};

Command& Command::Arg(std::string arg) {
  args_.push_back(std::move(arg));
  return *this;
}

Command& Command::Args(std::vector<std::string> args) {
  args_.insert(args_.end(), std::make_move_iterator(args.begin()),
               std::make_move_iterator(args.end()));
  return *this;
}

Command& Command::Env(std::string key, std::string value) {
  env_.insert_or_assign(std::move(key), std::move(value));
  return *this;
}

Command& Command::EnvRemove(std::string key) {
  env_.insert_or_assign(std::move(key), std::nullopt);
  return *this;
}

Command& Command::EnvClear() {
  clear_env_ = true;
  env_.clear();
  return *this;
}

Command& Command::CurrentDir(std::string path) {
  directory_ = std::move(path);
  return *this;
}

Command& Command::Stdin(Stdio stdio) {
  stdio_[STDIN_FILENO] = std::move(stdio);
  return *this;
}

Command& Command::Stdout(Stdio stdio) {
  stdio_[STDOUT_FILENO] = std::move(stdio);
  return *this;
}

Command& Command::Stderr(Stdio stdio) {
  stdio_[STDERR_FILENO] = std::move(stdio);
  return *this;
}

Command& Command::KillOnDrop(bool on) {
  kill_on_drop_ = on;
  return *this;
}

Command& Command::ProcessGroup(pid_t group) {
  group_ = group;
  return *this;
}

absl::Status Command::Validate() const {
  bool has_zero = HasZero(program_) || HasZero(directory_.value_or(""));
  for (const std::string& arg : args_) has_zero |= HasZero(arg);
  for (const auto& [key, value] : env_) {
    has_zero |= HasZero(key) || HasZero(value.value_or(""));
    if (key.empty() || key.find('=') != std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("Command: '", key,
                       "' is not a name of an environment variable; a name is "
                       "not empty and contains no '='"));
    }
  }
  if (has_zero) {
    return absl::InvalidArgumentError(
        absl::StrCat("Command '", program_.c_str(),
                     "': the program, an argument, a variable or the directory "
                     "contains a zero byte"));
  }
  return absl::OkStatus();
}

std::vector<std::string> Command::Environment() const {
  std::vector<std::string> environment;
  if (!clear_env_) {
    // Null after clearenv().
    for (char** entry = environ; entry != nullptr && *entry != nullptr;
         ++entry) {
      const std::string_view text = *entry;
      if (!env_.contains(std::string(text.substr(0, text.find('='))))) {
        environment.emplace_back(text);
      }
    }
  }
  for (const auto& [key, value] : env_) {
    if (value.has_value()) {
      environment.push_back(absl::StrCat(key, "=", *value));
    }
  }
  return environment;
}

absl::StatusOr<Command::Streams> Command::OpenStreams(
    const reactor::Handle& handle) const {
  Streams streams;
  for (int i = 0; i < 3; ++i) {
    const Stdio stdio = stdio_[i].value_or(Stdio::Inherit());
    OwnedFd theirs;
    OwnedFd ours;
    switch (stdio.kind_) {
      case Stdio::Kind::kInherit:
        continue;
      case Stdio::Kind::kNull:
        theirs.Reset(open("/dev/null", O_RDWR | O_CLOEXEC));
        if (!theirs.IsValid()) {
          return absl::ErrnoToStatus(errno, "open of /dev/null");
        }
        break;
      case Stdio::Kind::kPiped: {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) {
          return absl::ErrnoToStatus(errno, "pipe2");
        }
        theirs.Reset(ends[i == STDIN_FILENO ? 0 : 1]);
        ours.Reset(ends[i == STDIN_FILENO ? 1 : 0]);
        break;
      }
      case Stdio::Kind::kFd:
        if (absl::Status status = internal::MakeBlocking(stdio.fd_->get());
            !status.ok()) {
          return status;
        }
        break;
    }
    absl::StatusOr<OwnedFd> source = PastStandard(
        stdio.kind_ == Stdio::Kind::kFd ? stdio.fd_->get() : theirs.get());
    if (!source.ok()) return std::move(source).status();
    streams.sources[i] = *std::move(source);
    if (!ours.IsValid()) continue;
    if (i == STDIN_FILENO) {
      absl::StatusOr<ChildStdin> input =
          ChildStdin::FromFd(std::move(ours), handle);
      if (!input.ok()) return std::move(input).status();
      streams.input.emplace(*std::move(input));
    } else {
      absl::StatusOr<ChildStdout> output =
          ChildStdout::FromFd(std::move(ours), handle);
      if (!output.ok()) return std::move(output).status();
      streams.outputs[i - 1].emplace(*std::move(output));
    }
  }
  return streams;
}

absl::StatusOr<pid_t> Command::Start(const Streams& streams) const {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&actions) != 0 ||
      posix_spawnattr_init(&attributes) != 0) {
    return absl::ResourceExhaustedError("Command: out of memory");
  }
  const absl::Cleanup destroy = [&] {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  };
  // Fails only if memory runs out.
  int error = 0;
  for (int i = 0; i < 3 && error == 0; ++i) {
    if (!streams.sources[i].IsValid()) continue;
    error =
        posix_spawn_file_actions_adddup2(&actions, streams.sources[i].get(), i);
  }
  if (directory_.has_value() && error == 0) {
    error = posix_spawn_file_actions_addchdir_np(&actions, directory_->c_str());
  }
  if (error != 0) return absl::ErrnoToStatus(error, "posix_spawn_file_actions");

  sigset_t none, sigpipe;
  sigemptyset(&none);
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &sigpipe);
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (group_.has_value()) {
    posix_spawnattr_setpgroup(&attributes, *group_);
    flags |= POSIX_SPAWN_SETPGROUP;
  }
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));

  std::vector<std::string> args = {program_};
  args.insert(args.end(), args_.begin(), args_.end());
  std::vector<std::string> environment = Environment();
  pid_t pid;
  const UsualTimerSlack slack;
  error = posix_spawnp(&pid, program_.c_str(), &actions, &attributes,
                       Pointers(args).data(), Pointers(environment).data());
  if (error != 0) {
    return absl::ErrnoToStatus(
        error, absl::StrCat("posix_spawnp of '", program_, "'",
                            directory_.has_value()
                                ? absl::StrCat(" in '", *directory_, "'")
                                : ""));
  }
  return pid;
}

absl::StatusOr<Child> Command::Spawn(const reactor::Handle& handle) const {
  internal::ReapStrays();
  if (absl::Status status = Validate(); !status.ok()) return status;
  const absl::StatusOr<reactor::Handle> bound = reactor::BindHandle(handle);
  if (!bound.ok()) return bound.status();
  absl::StatusOr<Streams> streams = OpenStreams(*bound);
  if (!streams.ok()) return std::move(streams).status();
  absl::StatusOr<AsyncFd<OwnedFd>> spare = SetAside(*bound);
  if (!spare.ok()) return std::move(spare).status();
  const absl::StatusOr<pid_t> pid = Start(*streams);
  if (!pid.ok()) return pid.status();
  (*std::move(spare)).IntoInner().Reset();

  // The process id belongs to the child until the child is waited for.
  OwnedFd fd(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
  if (!fd.IsValid()) {
    // Linux returns EINVAL for a child that is being waited for at that moment.
    if (errno == ESRCH || errno == EINVAL) {
      // The process id does not belong to the child any more either.
      return absl::AbortedError(absl::StrCat(
          "Command '", program_,
          "': the child has exited, but its exit status is lost; the program "
          "must neither ignore SIGCHLD nor wait for arbitrary children"));
    }
    absl::Status status = absl::ErrnoToStatus(errno, "pidfd_open");
    Undo(*pid);
    return status;
  }
  absl::StatusOr<AsyncFd<OwnedFd>> pidfd = AsyncFd<OwnedFd>::Create(
      std::move(fd), reactor::Interest::kReadable, *bound);
  if (!pidfd.ok()) {
    Undo(*pid);
    return std::move(pidfd).status();
  }
  Child child(*pid, *std::move(pidfd), kill_on_drop_);
  child.stdin_ = std::move(streams->input);
  child.stdout_ = std::move(streams->outputs[0]);
  child.stderr_ = std::move(streams->outputs[1]);
  return child;
}

namespace {

Co<absl::StatusOr<ExitStatus>> RunToEnd(Command command,
                                        reactor::Handle handle) {
  absl::StatusOr<Child> child = command.Spawn(handle);
  if (!child.ok()) co_return child.status();
  // A pipe without a reader is closed. Otherwise the pipe might fill, and the
  // child would wait forever.
  child->TakeStdout().reset();
  child->TakeStderr().reset();
  auto wait = child->Wait();
  co_return co_await OrReturn(wait);
}

Co<absl::StatusOr<ProcessOutput>> RunForOutput(Command command,
                                               reactor::Handle handle) {
  absl::StatusOr<Child> child = command.Spawn(handle);
  if (!child.ok()) co_return child.status();
  Co<absl::StatusOr<ProcessOutput>> output =
      (*std::move(child)).WaitWithOutput();
  co_return co_await std::move(output);
}

}  // namespace

Co<absl::StatusOr<ExitStatus>> Command::Run(reactor::Handle handle) const {
  return RunToEnd(*this, std::move(handle));
}

Co<absl::StatusOr<ProcessOutput>> Command::Output(
    reactor::Handle handle) const {
  Command command = *this;
  if (!stdio_[STDIN_FILENO].has_value()) command.Stdin(Stdio::Null());
  if (!stdio_[STDOUT_FILENO].has_value()) command.Stdout(Stdio::Piped());
  if (!stdio_[STDERR_FILENO].has_value()) command.Stderr(Stdio::Piped());
  return RunForOutput(std::move(command), std::move(handle));
}

}  // namespace rouse
