// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: kernel.h
// -----------------------------------------------------------------------------
//
// The system calls of the virtual machine for descriptors: epoll, eventfd and
// pairs of sockets. Used by the twin of the reactor.
//
// A file is the number of its unread bytes, and has room for any number. Each
// file and each epoll instance has a lock, whose cache line moves like any
// other.

#ifndef ROUSE_TESTING_SCALING_KERNEL_H_
#define ROUSE_TESTING_SCALING_KERNEL_H_

#include <sys/epoll.h>
#include <sys/types.h>

#include <cstddef>
#include <utility>

#include "absl/time/time.h"

namespace rouse::scaling {

// Like epoll_ctl(2), epoll_wait(2), read(2) and write(2), but always
// edge-triggered, and with a limit that is a duration. `epoll` and `fd` are
// descriptors of the system that serve as names, or results of
// `ConnectedPair()`.
int EpollControl(int epoll, int operation, int fd, epoll_event* event);
int EpollWait(int epoll, epoll_event* events, int capacity,
              absl::Duration limit);
ssize_t Read(int fd, void* buffer, size_t size);
ssize_t Write(int fd, const void* buffer, size_t size);

// Returns two connected sockets.
std::pair<int, int> ConnectedPair();

}  // namespace rouse::scaling

#endif  // ROUSE_TESTING_SCALING_KERNEL_H_
