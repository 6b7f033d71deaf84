// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: watcher.h
// -----------------------------------------------------------------------------
//
// A `Watcher` reports changes of files and directories, as a stream:
//
//   rouse::fs::Watcher watcher =
//       co_await rouse::OrReturn(rouse::fs::Watcher::Create());
//   co_await rouse::OrReturn(watcher.Add("/etc/app"));
//   for (;;) {
//     std::optional<absl::StatusOr<rouse::fs::WatchEvent>> event =
//         co_await rouse::Next(watcher);
//     if (!event.has_value()) break;
//     if (!event->ok()) co_return event->status();
//     if ((*event)->kind == rouse::fs::WatchKind::kOverflow) ReadEverything();
//     ...
//   }

#ifndef ROUSE_FS_WATCH_WATCHER_H_
#define ROUSE_FS_WATCH_WATCHER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/fs/operation.h"
#include "rouse/reactor/handle.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs {

// WatchKind
//
// What has happened. The kinds of the first group are asked for in
// `Watcher::Add()`. The kinds of the second group are always reported.
enum class WatchKind : uint16_t {
  // An entry of a watched directory, or the watched file.
  kCreated = 1 << 0,
  kRemoved = 1 << 1,
  kMovedFrom = 1 << 2,  // renamed, from this name
  kMovedTo = 1 << 3,    // renamed, to this name
  kModified = 1 << 4,   // written to, or cut off
  kClosedAfterWrite = 1 << 5,
  kAttributes = 1 << 6,  // permissions, owner, times, or the number of links
  // The watched file or directory itself.
  kSelfRemoved = 1 << 7,
  kSelfMoved = 1 << 8,

  kUnmounted = 1 << 9,  // the file system of the watched file was unmounted
  // The watch has ended: by `Remove()`, because the file was removed, or with
  // its file system. The last event of a watch.
  kEnded = 1 << 10,
  // Events were lost, of any watch, because the program reads them too slowly.
  // What the program knows about the files may be out of date.
  kOverflow = 1 << 11,
};

// Returns the name, such as "kCreated".
std::string_view ToString(WatchKind kind);

// Formats the kind, for logs.
template <class Sink>
void AbslStringify(Sink& sink, WatchKind kind) {
  sink.Append(ToString(kind));
}

// WatchKinds
//
// A set of kinds: `WatchKind::kCreated | WatchKind::kRemoved`.
class WatchKinds {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a set of one kind.
  constexpr WatchKinds(WatchKind kind) : bits_(static_cast<uint16_t>(kind)) {}

  // Returns the kinds that can be asked for.
  static constexpr WatchKinds All() { return WatchKinds(uint16_t{0x1ff}); }

  // Returns whether the set has `kind`.
  constexpr bool Contains(WatchKind kind) const {
    return (bits_ & static_cast<uint16_t>(kind)) != 0;
  }
  friend constexpr WatchKinds operator|(WatchKinds a, WatchKinds b) {
    return WatchKinds(static_cast<uint16_t>(a.bits_ | b.bits_));
  }
  friend bool operator==(WatchKinds, WatchKinds) = default;

 private:
  explicit constexpr WatchKinds(uint16_t bits) : bits_(bits) {}

  uint16_t bits_;
};

constexpr WatchKinds operator|(WatchKind a, WatchKind b) {
  return WatchKinds(a) | WatchKinds(b);
}

// WatchId
//
// Names a watch of a `Watcher`. Never used again for another watch.
enum class WatchId : int {};

// WatchEvent
//
// A change. A value.
struct WatchEvent {
  WatchEvent(WatchKind kind, WatchId watch) : kind(kind), watch(watch) {}

  WatchKind kind;
  // The watch. Means nothing if `kind` is `kOverflow`.
  WatchId watch;
  // The path that was given to `Add()`. Empty if `kind` is `kOverflow`.
  std::string path;
  // The name of the entry in the watched directory. Empty if the event concerns
  // the watched file or directory itself.
  std::string name;
  // True if the file that the event concerns is a directory.
  bool is_dir = false;
  // A number that the two events of a renaming share, `kMovedFrom` and
  // `kMovedTo`, and other events do not. 0 if the event is no renaming.
  uint32_t cookie = 0;
};

// Watcher
//
// An inotify(7) queue. A stream of `absl::StatusOr<WatchEvent>`, which ends
// only after an error. Events come in the order of the changes. Equal events
// that follow each other may be merged into one.
//
// A watch is of a file, not of its path: a file that is renamed continues to be
// watched, with the path that was given to `Add()`, and a new file that takes
// its place is not watched. To follow a path, watch its directory. The entries
// of a watched directory are reported, but not the entries of its
// subdirectories. Changes by other computers, on a network file system, and
// changes through mmap(2), are not reported.
//
// Movable. Not thread-safe, but an `Add()` may be polled by another thread.
// Destroying the watcher ends all watches.
class Watcher {
 public:
  // Makes a watcher without watches. Must be called where a reactor is current,
  // such as in a task, unless `handle` names one.
  //
  //   ResourceExhausted  out of inotify instances or descriptors; the message
  //                      says which limit to raise
  //
  // and the errors of `reactor::Registration::Create()`.
  static absl::StatusOr<Watcher> Create(
      const reactor::Handle& handle = reactor::Handle());

  Watcher(Watcher&&) noexcept;
  Watcher& operator=(Watcher&&) noexcept;
  ~Watcher();

  // Watches the file or directory at `path` for `kinds`. Follows symbolic
  // links. Looks the path up on a thread of the blocking pool. Destroying a
  // pending `Add()` adds nothing.
  //
  //   NotFound           nothing is at `path`
  //   PermissionDenied   the process may not read the file
  //   AlreadyExists      this watcher watches the file already, perhaps under
  //                      another path
  //   InvalidArgument    `kinds` has no kind that can be asked for, or `path`
  //                      contains a zero byte
  //   FailedPrecondition /proc is not mounted
  //   ResourceExhausted  the user's limit of watches is reached; the message
  //                      says which limit to raise
  //
  // The watch costs about 1 KiB of the kernel's memory.
  Operation<WatchId> Add(std::string path,
                         WatchKinds kinds = WatchKinds::All());

  // Ends a watch. Events that the queue has are still reported, and then
  // `kEnded`. Returns NotFound if the watch has ended.
  absl::Status Remove(WatchId watch);

  // Returns the next event. After an error, returns nothing. Destroying a
  // future that polls loses no event.
  //
  //   Unavailable        the reactor has been shut down
  PollResult<std::optional<absl::StatusOr<WatchEvent>>> PollNext(Context& cx);

  // Returns the number of watches whose `kEnded` was not reported yet.
  size_t size() const;

 private:
  struct State;

  explicit Watcher(std::shared_ptr<State> state);

  // Takes the first event of the buffer, which must not be empty. Returns
  // nothing if no watch has the event.
  std::optional<WatchEvent> TakeEvent();

  // Shared with pending `Add()`s.
  std::shared_ptr<State> state_;
};

}  // namespace rouse::fs

#endif  // ROUSE_FS_WATCH_WATCHER_H_
