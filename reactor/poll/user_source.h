// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: user_source.h
// -----------------------------------------------------------------------------
//
// The program, not the operating system, sets the readiness of a `UserSource`.
// A queue between threads can thus be awaited like a socket, by a `Poller` or
// by tasks:
//
//   auto [source, readiness] = UserSource::Create().value();
//   absl::StatusOr<PollEvented<UserSource>> evented =
//       PollEvented<UserSource>::Create(std::move(source),
//                                       Interest::kReadable);
//   ...
//   // On any thread, after the queue has got an element:
//   absl::Status status = readiness.Set(Ready::kReadable);

#ifndef ROUSE_REACTOR_POLL_USER_SOURCE_H_
#define ROUSE_REACTOR_POLL_USER_SOURCE_H_

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/registry.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/ready.h"

namespace rouse::reactor {

namespace internal {
class UserReadiness;
}

// SetReadiness
//
// Sets the readiness of a `UserSource`. Copyable: copies set the same
// readiness. Thread-safe. Can outlive the source.
class SetReadiness {
 public:
  // Makes `ready` the readiness of the source: `Ready::kReadable`,
  // `Ready::kWritable`, both, or `Ready()` for neither. Each state of `ready`
  // is an event, even if the source has the state already: a consumer gets an
  // event for each new element. Events of several calls can become one. A state
  // that `ready` lacks is taken away, even if another thread has set the state.
  //
  // Taking a state away raises no event, and undoes an event of the state if
  // the event has not been reported yet. After a reported event, a task must
  // report a refused attempt, as with a socket.
  //
  // Orders no memory: a queue needs a lock.
  //
  // Returns InvalidArgument for any other state, and changes nothing then.
  // Costs one or two system calls for each state.
  absl::Status Set(Ready ready) const;

  // Returns the readiness that was set last, initially `Ready()`.
  Ready Get() const;

 private:
  friend class UserSource;
  explicit SetReadiness(std::shared_ptr<internal::UserReadiness> readiness)
      : readiness_(std::move(readiness)) {}

  std::shared_ptr<internal::UserReadiness> readiness_;
};

// UserSource
//
// A `Source`, for `Registry::Register()`, `Registration` and `PollEvented`. Can
// be registered with one registry at a time. Movable; not thread-safe, unlike
// `SetReadiness`. Must be deregistered before the destructor, as `PollEvented`
// does; otherwise events come as long as a `SetReadiness` lives.
//
// Costs two eventfds, one for each direction. The source shares both with the
// `SetReadiness`.
class UserSource {
 public:
  // Makes a source that is not ready, and the object that sets its readiness.
  // Returns ResourceExhausted if out of descriptors or memory.
  static absl::StatusOr<std::pair<UserSource, SetReadiness>> Create();

  UserSource(UserSource&& other) noexcept
      : readiness_(std::move(other.readiness_)),
        registered_(std::exchange(other.registered_, std::nullopt)) {}
  UserSource& operator=(UserSource&& other) noexcept {
    readiness_ = std::move(other.readiness_);
    registered_ = std::exchange(other.registered_, std::nullopt);
    return *this;
  }
  ~UserSource() = default;

  // Perform the operations of these names: see source.h. Errors are those of
  // `Registry`, in addition to these:
  //
  //   AlreadyExists     `Register()` of a source that is registered
  //   NotFound          `Reregister()` or `Deregister()` of any other source
  //   InvalidArgument   an interest without a direction, such as only
  //                     `Interest::kPriority`
  absl::Status Register(const Registry& registry, Token token,
                        Interest interest);
  absl::Status Reregister(const Registry& registry, Token token,
                          Interest interest);
  absl::Status Deregister(const Registry& registry);

 private:
  // Changes the interest from `registered_` to `interest`.
  absl::Status Change(const Registry& registry, Token token, Interest interest);

  explicit UserSource(std::shared_ptr<internal::UserReadiness> readiness)
      : readiness_(std::move(readiness)) {}

  std::shared_ptr<internal::UserReadiness> readiness_;
  std::optional<Interest> registered_;
};

static_assert(Source<UserSource>);

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_POLL_USER_SOURCE_H_
