// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/scaling/kernel.h"

#include <sys/epoll.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "rouse/testing/scaling/line_model.h"
#include "rouse/testing/scaling/machine.h"

namespace rouse::scaling {
namespace {

// Both objects have a cache line for the lock.

struct File;

struct alignas(LineModel::kLineSize) Epoll {
  // Files with an event that no call has returned yet.
  std::vector<File*> ready;
};

struct alignas(LineModel::kLineSize) File {
  size_t unread = 0;
  // The file to which a write goes: the other socket, or an eventfd itself.
  File* written = this;
  Epoll* epoll = nullptr;
  epoll_event event{};
  uint32_t happened = 0;
};

// No descriptor of the system is this large.
constexpr int kFirstSocket = 1 << 24;

struct Kernel {
  absl::flat_hash_map<int, std::unique_ptr<File>> files;
  absl::flat_hash_map<int, std::unique_ptr<Epoll>> epolls;
  int next_socket = kFirstSocket;

  static Kernel& current() {
    static const char key = 0;
    return *static_cast<Kernel*>(Machine::current()->Shared(&key, [] {
      return std::shared_ptr<void>(std::make_shared<Kernel>());
    }));
  }

  File& file(int fd) {
    std::unique_ptr<File>& file = files[fd];
    if (file == nullptr) file = std::make_unique<File>();
    return *file;
  }
  Epoll& epoll(int fd) {
    std::unique_ptr<Epoll>& epoll = epolls[fd];
    if (epoll == nullptr) epoll = std::make_unique<Epoll>();
    return *epoll;
  }
};

// The functions below take the lock of the object that they are called for.

void LockFile(File& file) {
  Machine::current()->Do(Access::kModify, &file, Site::current());
}
void LockEpoll(Epoll& epoll) {
  Machine::current()->Do(Access::kModify, &epoll, Site::current());
}

// Reports `events` of the file.
void Notify(File& file, uint32_t events) {
  Machine& machine = *Machine::current();
  events &= file.event.events;
  if (file.epoll == nullptr || events == 0) return;
  LockEpoll(*file.epoll);
  if (std::exchange(file.happened, file.happened | events) == 0) {
    file.epoll->ready.push_back(&file);
  }
  if (machine.HasSleeper(file.epoll)) machine.FutexWakeOne(file.epoll);
}

}  // namespace

int EpollControl(int epoll, int operation, int fd, epoll_event* event) {
  Machine& machine = *Machine::current();
  Kernel& kernel = Kernel::current();
  machine.Spend(machine.costs().system_call);
  File& file = kernel.file(fd);
  LockFile(file);
  if (file.epoll != nullptr) {
    LockEpoll(*file.epoll);
    std::erase(file.epoll->ready, &file);
    file.happened = 0;
    file.epoll = nullptr;
  }
  if (operation == EPOLL_CTL_DEL) return 0;
  file.epoll = &kernel.epoll(epoll);
  file.event = *event;
  Notify(file, file.unread > 0 ? EPOLLIN | EPOLLOUT : EPOLLOUT);
  return 0;
}

int EpollWait(int epoll, epoll_event* events, int capacity,
              absl::Duration limit) {
  Machine& machine = *Machine::current();
  Epoll& queue = Kernel::current().epoll(epoll);
  machine.Spend(machine.costs().epoll_wait);
  LockEpoll(queue);
  if (queue.ready.empty()) {
    if (limit <= absl::ZeroDuration()) return 0;
    machine.FutexWait(
        &queue, [&queue] { return queue.ready.empty(); },
        limit == absl::InfiniteDuration() ? Machine::kNever
                                          : absl::ToDoubleNanoseconds(limit));
    LockEpoll(queue);
  }
  const size_t count =
      std::min(static_cast<size_t>(capacity), queue.ready.size());
  machine.Spend(machine.costs().epoll_event * static_cast<double>(count));
  for (size_t i = 0; i < count; ++i) {
    File& file = *queue.ready[i];
    events[i].events = std::exchange(file.happened, 0);
    events[i].data = file.event.data;
  }
  queue.ready.erase(queue.ready.begin(),
                    queue.ready.begin() + static_cast<ptrdiff_t>(count));
  return static_cast<int>(count);
}

ssize_t Read(int fd, void* /*buffer*/, size_t size) {
  Machine& machine = *Machine::current();
  File& file = Kernel::current().file(fd);
  machine.Spend(machine.costs().system_call);
  LockFile(file);
  if (file.unread == 0) {
    errno = EAGAIN;
    return -1;
  }
  machine.Spend(machine.costs().socket_read);
  size = std::min(size, file.unread);
  file.unread -= size;
  return static_cast<ssize_t>(size);
}

ssize_t Write(int fd, const void* /*buffer*/, size_t size) {
  Machine& machine = *Machine::current();
  File& file = *Kernel::current().file(fd).written;
  machine.Spend(machine.costs().system_call);
  if (fd >= kFirstSocket) machine.Spend(machine.costs().socket_write);
  LockFile(file);
  file.unread += size;
  Notify(file, EPOLLIN);
  return static_cast<ssize_t>(size);
}

std::pair<int, int> ConnectedPair() {
  Kernel& kernel = Kernel::current();
  const int one = kernel.next_socket++;
  const int other = kernel.next_socket++;
  kernel.file(one).written = &kernel.file(other);
  kernel.file(other).written = &kernel.file(one);
  return {one, other};
}

}  // namespace rouse::scaling
