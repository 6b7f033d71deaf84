// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/poll/user_source.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/poll/interest.h"
#include "rouse/reactor/poll/registry.h"
#include "rouse/reactor/poll/source.h"
#include "rouse/reactor/poll/token.h"
#include "rouse/reactor/ready.h"

namespace rouse::reactor {
namespace internal {
namespace {

// With this count an eventfd is not writable.
constexpr uint64_t kFull = 0xfffffffffffffffe;

// Adds `count`. An eventfd that is full stays full.
absl::Status Add(const OwnedFd& fd, uint64_t count) {
  while (write(fd.get(), &count, sizeof count) < 0) {
    if (errno == EAGAIN) break;
    if (errno != EINTR) {
      return absl::ErrnoToStatus(errno, "write to a UserSource");
    }
  }
  return absl::OkStatus();
}

// Sets the count to zero, which is an event for writers.
absl::Status Drain(const OwnedFd& fd) {
  uint64_t count;
  while (read(fd.get(), &count, sizeof count) < 0) {
    if (errno == EAGAIN) break;
    if (errno != EINTR) {
      return absl::ErrnoToStatus(errno, "read from a UserSource");
    }
  }
  return absl::OkStatus();
}

}  // namespace

// UserReadiness
//
// Two eventfds. The first is readable while the source is readable: its count
// is not zero. The second is writable while the source is writable: its count
// is zero then, and `kFull` otherwise. Each write to the first, and each read
// from the second that finds a count, is an edge of the direction.
class UserReadiness {
 public:
  UserReadiness(OwnedFd readable, OwnedFd writable)
      : readable_(std::move(readable)), writable_(std::move(writable)) {}

  int fd(Direction direction) const {
    return (direction == Direction::kRead ? readable_ : writable_).get();
  }

  absl::Status Set(Ready ready) {
    const ThreadMutexLock lock(&mu_);
    absl::Status status;
    if (ready.IsReadable()) {
      status = Add(readable_, 1);
    } else if (ready_.IsReadable()) {
      status = Drain(readable_);
    }
    if (ready.IsWritable()) {
      // Without a count, the read would be no edge.
      if (ready_.IsWritable()) status.Update(Add(writable_, 1));
      status.Update(Drain(writable_));
    } else if (ready_.IsWritable()) {
      status.Update(Add(writable_, kFull));
    }
    ready_ = ready;
    return status;
  }

  Ready Get() const {
    const ThreadMutexLock lock(&mu_);
    return ready_;
  }

 private:
  const OwnedFd readable_;
  const OwnedFd writable_;
  mutable ThreadMutex mu_;
  Ready ready_ ABSL_GUARDED_BY(mu_);
};

}  // namespace internal

namespace {

constexpr Direction kDirections[] = {Direction::kRead, Direction::kWrite};

bool Names(const std::optional<Interest>& interest, Direction direction) {
  if (!interest.has_value()) return false;
  return direction == Direction::kRead ? interest->IsReadable()
                                       : interest->IsWritable();
}

Interest InterestIn(Direction direction) {
  return direction == Direction::kRead ? Interest::kReadable
                                       : Interest::kWritable;
}

absl::Status NotRegistered() {
  return absl::NotFoundError("the UserSource is not registered");
}

}  // namespace

absl::Status SetReadiness::Set(Ready ready) const {
  if (ready != (ready & (Ready::kReadable | Ready::kWritable))) {
    return absl::InvalidArgumentError(
        "a UserSource can be only readable and writable; pass "
        "Ready::kReadable, Ready::kWritable, both, or Ready()");
  }
  return readiness_->Set(ready);
}

Ready SetReadiness::Get() const { return readiness_->Get(); }

absl::StatusOr<std::pair<UserSource, SetReadiness>> UserSource::Create() {
  OwnedFd readable(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!readable.IsValid()) return absl::ErrnoToStatus(errno, "eventfd");
  OwnedFd writable(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!writable.IsValid()) return absl::ErrnoToStatus(errno, "eventfd");
  absl::Status status = internal::Add(writable, internal::kFull);
  if (!status.ok()) return status;
  auto readiness = std::make_shared<internal::UserReadiness>(
      std::move(readable), std::move(writable));
  return std::pair(UserSource(readiness), SetReadiness(readiness));
}

absl::Status UserSource::Register(const Registry& registry, Token token,
                                  Interest interest) {
  if (registered_.has_value()) {
    return absl::AlreadyExistsError(
        "the UserSource is registered already; deregister it first");
  }
  return Change(registry, token, interest);
}

absl::Status UserSource::Reregister(const Registry& registry, Token token,
                                    Interest interest) {
  if (!registered_.has_value()) return NotRegistered();
  return Change(registry, token, interest);
}

absl::Status UserSource::Deregister(const Registry& registry) {
  if (!registered_.has_value()) return NotRegistered();
  absl::Status status;
  for (const Direction direction : kDirections) {
    if (!Names(registered_, direction)) continue;
    FdSource source(readiness_->fd(direction));
    status.Update(registry.Deregister(source));
  }
  registered_.reset();
  return status;
}

absl::Status UserSource::Change(const Registry& registry, Token token,
                                Interest interest) {
  if (!interest.IsReadable() && !interest.IsWritable()) {
    return absl::InvalidArgumentError(
        "a UserSource can be only readable and writable; name one of the two "
        "in the interest");
  }
  // Only additions can fail, for want of memory, so they come first.
  std::optional<Direction> added;
  for (const Direction direction : kDirections) {
    if (!Names(interest, direction) || Names(registered_, direction)) continue;
    FdSource source(readiness_->fd(direction));
    absl::Status status =
        registry.Register(source, token, InterestIn(direction));
    if (!status.ok()) {
      if (added.has_value()) {
        FdSource first(readiness_->fd(*added));
        registry.Deregister(first).IgnoreError();
      }
      return status;
    }
    added = direction;
  }
  absl::Status status;
  for (const Direction direction : kDirections) {
    if (!Names(registered_, direction)) continue;
    FdSource source(readiness_->fd(direction));
    status.Update(
        Names(interest, direction)
            ? registry.Reregister(source, token, InterestIn(direction))
            : registry.Deregister(source));
  }
  registered_ = interest;
  return status;
}

}  // namespace rouse::reactor
