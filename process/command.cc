// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/process/command.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/no_destructor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/log/vlog.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/io/fd/adopt_fd.h"
#include "rouse/process/child.h"
#include "rouse/process/child_pipe.h"
#include "rouse/process/exit_status.h"
#include "rouse/process/reaper.h"
#include "rouse/process/start.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/fallback.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"

namespace rouse {
namespace {

using reactor::AsyncFd;

// Returns a duplicate of `fd` whose number is at least `lowest`.
absl::StatusOr<OwnedFd> DuplicatePast(int fd, int lowest) {
  OwnedFd past(fcntl(fd, F_DUPFD_CLOEXEC, lowest));
  if (past.IsValid()) return past;
  return absl::ErrnoToStatus(
      errno, absl::StrCat("fcntl(F_DUPFD_CLOEXEC, ", lowest, ")",
                          errno == EINVAL ? "; the number of a child's "
                                            "descriptor is too large for the "
                                            "limit of open files"
                                          : ""));
}

// Returns an error if a descriptor or a source, of which each child needs one,
// is missing. Otherwise a program might run, only to be killed.
absl::Status CheckRoom(const reactor::Handle& handle) {
  OwnedFd fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd.IsValid()) return absl::ErrnoToStatus(errno, "eventfd");
  return AsyncFd<OwnedFd>::Create(std::move(fd), reactor::Interest::kReadable,
                                  handle)
      .status();
}

// Ends a process that has just been started.
void Undo(pid_t pid) {
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool HasZero(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

}  // namespace

// The streams with which a child is started, and the other ends of its pipes.
struct Command::Streams {
  std::vector<OwnedFd> sources;  // of the child's descriptors
  std::vector<internal::StartPlan::Descriptor> descriptors;
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
  process_group_ = group;
  return *this;
}

Command& Command::NewSession(bool on) {
  new_session_ = on;
  return *this;
}

Command& Command::Arg0(std::string name) {
  arg0_ = std::move(name);
  return *this;
}

struct Command::Extras {
  std::map<int, std::shared_ptr<const OwnedFd>> fds;
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<std::vector<gid_t>> groups;
  std::map<int, rlimit> limits;
};

const Command::Extras& Command::extras() const {
  static const absl::NoDestructor<Extras> kNone;
  return extras_ == nullptr ? *kNone : *extras_;
}

template <class Change>
Command& Command::ChangeExtras(Change change) {
  auto changed = std::make_shared<Extras>(extras());
  change(*changed);
  extras_ = std::move(changed);
  return *this;
}

Command& Command::ExtraFd(int number, OwnedFd fd) {
  auto shared = std::make_shared<const OwnedFd>(std::move(fd));
  return ChangeExtras([&](Extras& extras) {
    extras.fds.insert_or_assign(number, std::move(shared));
  });
}

Command& Command::Uid(uid_t uid) {
  return ChangeExtras([&](Extras& extras) { extras.uid = uid; });
}

Command& Command::Gid(gid_t gid) {
  return ChangeExtras([&](Extras& extras) { extras.gid = gid; });
}

Command& Command::Groups(std::vector<gid_t> groups) {
  return ChangeExtras(
      [&](Extras& extras) { extras.groups = std::move(groups); });
}

Command& Command::ResourceLimit(int resource, rlim_t soft, rlim_t hard) {
  return ChangeExtras([&](Extras& extras) {
    extras.limits.insert_or_assign(resource, rlimit{soft, hard});
  });
}

Command& Command::OutputLimit(size_t bytes) {
  output_limit_ = bytes;
  return *this;
}

absl::Status Command::Validate() const {
  bool has_zero = HasZero(program_) || HasZero(directory_.value_or("")) ||
                  HasZero(arg0_.value_or(""));
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
  if (new_session_ && process_group_.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Command '", program_,
                     "': NewSession() also makes a process group; do not call "
                     "ProcessGroup()"));
  }
  for (const auto& [number, fd] : extras().fds) {
    if (number >= 3 && number < std::numeric_limits<int>::max()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "Command '", program_, "': ExtraFd() got the number ", number,
        "; use Stdin(), Stdout() or Stderr() for numbers below 3, and a "
        "small number for others"));
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
  // Above all numbers in the child, so that no source is overwritten while the
  // child's descriptors are set up.
  const int lowest =
      extras().fds.empty() ? 3 : extras().fds.rbegin()->first + 1;
  const auto add = [&](int fd, int number) -> absl::Status {
    absl::StatusOr<OwnedFd> source = DuplicatePast(fd, lowest);
    if (!source.ok()) return std::move(source).status();
    streams.descriptors.push_back({source->get(), number});
    streams.sources.push_back(*std::move(source));
    return absl::OkStatus();
  };
  for (const auto& [number, fd] : extras().fds) {
    if (absl::Status status = add(fd->get(), number); !status.ok()) {
      return status;
    }
  }
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
    if (absl::Status status = add(
            stdio.kind_ == Stdio::Kind::kFd ? stdio.fd_->get() : theirs.get(),
            i);
        !status.ok()) {
      return status;
    }
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

absl::StatusOr<internal::StartedProcess> Command::Start(
    const Streams& streams) const {
  internal::StartPlan plan;
  plan.new_session = new_session_;
  plan.process_group = process_group_;
  plan.descriptors = streams.descriptors;
  for (const auto& [resource, values] : extras().limits) {
    plan.limits.push_back({resource, values});
  }
  plan.groups = extras().groups;
  // Another user must not have the groups of root.
  if (extras().uid.has_value() && !extras().groups.has_value() &&
      geteuid() == 0) {
    plan.groups.emplace();
  }
  plan.gid = extras().gid;
  plan.uid = extras().uid;
  plan.directory = directory_;
  plan.program = program_;
  plan.args = {arg0_.value_or(program_)};
  plan.args.insert(plan.args.end(), args_.begin(), args_.end());
  plan.environment = Environment();
  return internal::StartProcess(plan);
}

absl::StatusOr<Child> Command::Spawn(const reactor::Handle& handle) const {
  internal::ReapStrays();
  if (absl::Status status = Validate(); !status.ok()) return status;
  const absl::StatusOr<reactor::Handle> bound = reactor::BindHandle(handle);
  if (!bound.ok()) return bound.status();
  absl::StatusOr<Streams> streams = OpenStreams(*bound);
  if (!streams.ok()) return std::move(streams).status();
  if (absl::Status status = CheckRoom(*bound); !status.ok()) return status;
  absl::StatusOr<internal::StartedProcess> started = Start(*streams);
  if (!started.ok()) return std::move(started).status();
  const pid_t pid = started->pid;
  if (!started->pidfd.IsValid()) {
    Undo(pid);
    return absl::UnimplementedError(
        "Command: child processes need Linux 5.3 or later");
  }
  absl::StatusOr<AsyncFd<OwnedFd>> pidfd = AsyncFd<OwnedFd>::Create(
      std::move(started->pidfd), reactor::Interest::kReadable, *bound);
  if (!pidfd.ok()) {
    Undo(pid);
    return std::move(pidfd).status();
  }
  Child child(pid, *std::move(pidfd), kill_on_drop_);
  child.stdin_ = std::move(streams->input);
  child.stdout_ = std::move(streams->outputs[0]);
  child.stderr_ = std::move(streams->outputs[1]);
  ROUSE_VLOG(1, "started ", child, ": ", *this);
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
                                               reactor::Handle handle,
                                               size_t limit) {
  absl::StatusOr<Child> child = command.Spawn(handle);
  if (!child.ok()) co_return child.status();
  Co<absl::StatusOr<ProcessOutput>> output =
      (*std::move(child)).WaitWithOutput(limit);
  co_return co_await std::move(output);
}

}  // namespace

std::string Command::ToString() const {
  std::string text = absl::StrCat("\"", absl::CEscape(program_), "\"");
  for (const std::string& arg : args_) {
    absl::StrAppend(&text, " \"", absl::CEscape(arg), "\"");
  }
  return text;
}

Co<absl::StatusOr<ExitStatus>> Command::Run(reactor::Handle handle) const {
  return RunToEnd(*this, std::move(handle));
}

Co<absl::StatusOr<ProcessOutput>> Command::Output(
    reactor::Handle handle) const {
  Command command = *this;
  if (!stdio_[STDIN_FILENO].has_value()) command.Stdin(Stdio::Null());
  if (!stdio_[STDOUT_FILENO].has_value()) command.Stdout(Stdio::Piped());
  if (!stdio_[STDERR_FILENO].has_value()) command.Stderr(Stdio::Piped());
  return RunForOutput(std::move(command), std::move(handle), output_limit_);
}

}  // namespace rouse
