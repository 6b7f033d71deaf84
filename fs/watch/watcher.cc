// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/watch/watcher.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/fs/operation.h"
#include "rouse/fs/posix.h"
#include "rouse/reactor/async_fd.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/ready.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs {
namespace {

struct Bit {
  WatchKind kind;
  uint32_t mask;
  std::string_view name;
};

// Events have one of these bits.
constexpr Bit kBits[] = {
    {WatchKind::kCreated, IN_CREATE, "kCreated"},
    {WatchKind::kRemoved, IN_DELETE, "kRemoved"},
    {WatchKind::kMovedFrom, IN_MOVED_FROM, "kMovedFrom"},
    {WatchKind::kMovedTo, IN_MOVED_TO, "kMovedTo"},
    {WatchKind::kModified, IN_MODIFY, "kModified"},
    {WatchKind::kClosedAfterWrite, IN_CLOSE_WRITE, "kClosedAfterWrite"},
    {WatchKind::kAttributes, IN_ATTRIB, "kAttributes"},
    {WatchKind::kSelfRemoved, IN_DELETE_SELF, "kSelfRemoved"},
    {WatchKind::kSelfMoved, IN_MOVE_SELF, "kSelfMoved"},
    {WatchKind::kUnmounted, IN_UNMOUNT, "kUnmounted"},
    {WatchKind::kEnded, IN_IGNORED, "kEnded"},
    {WatchKind::kOverflow, IN_Q_OVERFLOW, "kOverflow"},
};

// A read fails if the next event does not fit. An event has a name of at most
// 255 bytes.
constexpr size_t kBufferSize = 16 << 10;

uint32_t MaskOf(WatchKinds kinds) {
  uint32_t mask = 0;
  for (const Bit& bit : kBits) {
    if (WatchKinds::All().Contains(bit.kind) && kinds.Contains(bit.kind)) {
      mask |= bit.mask;
    }
  }
  return mask;
}

// Opens a file without access to its contents. May wait for a device, or for a
// network.
absl::StatusOr<OwnedFd> Locate(const std::string& path) {
  return internal::OpenFd(path, O_PATH, 0);
}

absl::Status AddError(int error, const std::string& path) {
  switch (error) {
    case ENOSPC:
      return absl::ResourceExhaustedError(absl::StrCat(
          "fs: cannot watch '", path,
          "': the user has as many watches as fs.inotify.max_user_watches "
          "allows; raise it with sysctl, or watch fewer files"));
    case EEXIST:
      return absl::AlreadyExistsError(
          absl::StrCat("fs: '", path,
                       "' is watched by this Watcher already, perhaps under "
                       "another path; remove that watch first"));
    case ENOENT:
      return absl::FailedPreconditionError(absl::StrCat(
          "fs: cannot watch '", path, "' without /proc; mount it"));
    default:
      return internal::PathError(error, "inotify_add_watch", path);
  }
}

}  // namespace

std::string_view ToString(WatchKind kind) {
  for (const Bit& bit : kBits) {
    if (bit.kind == kind) return bit.name;
  }
  return "an unknown WatchKind";
}

struct Watcher::State {
  explicit State(reactor::AsyncFd<OwnedFd> queue) : queue(std::move(queue)) {}

  absl::StatusOr<WatchId> Add(const OwnedFd& file, const std::string& path,
                              uint32_t mask);

  const reactor::AsyncFd<OwnedFd> queue;

  // An `Add()` can be polled by another task than the stream. No event of a
  // watch can be read before the path is here.
  ThreadMutex mu;
  absl::flat_hash_map<int, std::string> paths ABSL_GUARDED_BY(mu);

  // Bytes from `begin` to `end` are events that were read. Only for the stream.
  std::vector<char> buffer = std::vector<char>(kBufferSize);
  size_t begin = 0;
  size_t end = 0;
  bool failed = false;
};

absl::StatusOr<WatchId> Watcher::State::Add(const OwnedFd& file,
                                            const std::string& path,
                                            uint32_t mask) {
  // The link in /proc leads to the file itself, so the call waits for nothing.
  const std::string link = absl::StrCat("/proc/self/fd/", file.get());
  const ThreadMutexLock lock(&mu);
  // Without IN_MASK_CREATE, the call would change the earlier watch of the
  // file.
  const int watch =
      inotify_add_watch(queue.fd(), link.c_str(), mask | IN_MASK_CREATE);
  if (watch < 0) return AddError(errno, path);
  paths.insert_or_assign(watch, path);
  return WatchId(watch);
}

absl::StatusOr<Watcher> Watcher::Create(const reactor::Handle& handle) {
  OwnedFd fd(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!fd.IsValid()) {
    if (errno == EMFILE) {
      return absl::ResourceExhaustedError(
          "fs: cannot make a Watcher: the user has as many as "
          "fs.inotify.max_user_instances allows, or the process has as many "
          "descriptors as RLIMIT_NOFILE allows; raise the limit, or share "
          "Watchers");
    }
    return absl::ErrnoToStatus(errno, "inotify_init1");
  }
  absl::StatusOr<reactor::AsyncFd<OwnedFd>> queue =
      reactor::AsyncFd<OwnedFd>::Create(std::move(fd),
                                        reactor::Interest::kReadable, handle);
  if (!queue.ok()) return std::move(queue).status();
  return Watcher(std::make_shared<State>(*std::move(queue)));
}

Watcher::Watcher(std::shared_ptr<State> state) : state_(std::move(state)) {}
Watcher::Watcher(Watcher&&) noexcept = default;
Watcher& Watcher::operator=(Watcher&&) noexcept = default;
Watcher::~Watcher() = default;

Operation<WatchId> Watcher::Add(std::string path, WatchKinds kinds) {
  using Result = absl::StatusOr<WatchId>;
  Operation<OwnedFd> locate([path] { return Locate(path); });
  // The watch is added by the poll that returns its id, so nothing has to be
  // undone if the operation is destroyed.
  return Operation<WatchId>(
      [state = state_, path = std::move(path), mask = MaskOf(kinds),
       locate = std::move(locate)](Context& cx) mutable -> PollResult<Result> {
        if (mask == 0) {
          return Result(absl::InvalidArgumentError(
              absl::StrCat("fs: cannot watch '", path,
                           "' for nothing; name a kind of WatchKinds::All()")));
        }
        PollResult<absl::StatusOr<OwnedFd>> file = locate.Poll(cx);
        if (file.IsPending()) return kPending;
        if (!file->ok()) return Result(file->status());
        return state->Add(**file, path, mask);
      });
}

absl::Status Watcher::Remove(WatchId watch) {
  const int number = static_cast<int>(watch);
  const ThreadMutexLock lock(&state_->mu);
  // The kernel ends watches by itself. `kEnded` removes the path.
  if (!state_->paths.contains(number) ||
      inotify_rm_watch(state_->queue.fd(), number) != 0) {
    return absl::NotFoundError("fs: the watch has ended already");
  }
  return absl::OkStatus();
}

size_t Watcher::size() const {
  const ThreadMutexLock lock(&state_->mu);
  return state_->paths.size();
}

PollResult<std::optional<absl::StatusOr<WatchEvent>>> Watcher::PollNext(
    Context& cx) {
  using Item = std::optional<absl::StatusOr<WatchEvent>>;
  State& state = *state_;
  if (state.failed) return Item();
  for (;;) {
    while (state.begin < state.end) {
      PollResult<BudgetUnit> unit = PollProceed(cx);
      if (unit.IsPending()) return kPending;
      std::optional<WatchEvent> event = TakeEvent();
      if (!event.has_value()) continue;
      unit->MadeProgress();
      return Item(*std::move(event));
    }
    const auto read_events = [&state] {
      return read(state.queue.fd(), state.buffer.data(), state.buffer.size());
    };
    PollResult<absl::StatusOr<size_t>> size = state.queue.registration().PollIo(
        reactor::Direction::kRead, cx, /*waiter=*/nullptr, /*full=*/0,
        read_events, [](int error) {
          return absl::ErrnoToStatus(error, "read of an inotify queue");
        });
    if (size.IsPending()) return kPending;
    if (!size->ok()) {
      state.failed = true;
      return Item(size->status());
    }
    state.begin = 0;
    state.end = **size;
  }
}

std::optional<WatchEvent> Watcher::TakeEvent() {
  State& state = *state_;
  inotify_event raw;
  const char* const at = state.buffer.data() + state.begin;
  std::memcpy(&raw, at, sizeof(raw));
  state.begin += sizeof(raw) + raw.len;
  for (const Bit& bit : kBits) {
    if ((raw.mask & bit.mask) == 0) continue;
    std::optional<WatchEvent> event(std::in_place, bit.kind, WatchId(raw.wd));
    event->is_dir = (raw.mask & IN_ISDIR) != 0;
    event->cookie = raw.cookie;
    // The kernel fills the name up with zeros.
    if (raw.len > 0) event->name = at + sizeof(raw);
    if (bit.kind == WatchKind::kOverflow) return event;
    const ThreadMutexLock lock(&state.mu);
    const auto path = state.paths.find(raw.wd);
    if (path == state.paths.end()) return std::nullopt;
    event->path = path->second;
    if (bit.kind == WatchKind::kEnded) state.paths.erase(path);
    return event;
  }
  return std::nullopt;
}

}  // namespace rouse::fs
