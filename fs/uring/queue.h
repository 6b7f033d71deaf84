// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: queue.h
// -----------------------------------------------------------------------------
//
// Internal to fs/uring/: a ring of io_uring(7) that any thread can use.
//
// # Protocol
//
// One mutex guards the ring and all requests. Whoever holds the mutex takes the
// completions that have come, and submits the requests that wait. A read that
// the page cache serves is complete when its submission returns, so its first
// poll is ready. A task waits for later completions of the ring's descriptor.
//
// A `Request` is in one of four states:
//
//   kIdle       owned by its operation; the kernel does not know the request
//   kWaiting    owned by its operation, and in `waiting_`, because the kernel
//               works on `limit_` requests, or the queue is closed
//   kSubmitted  the kernel uses the request's memory
//   kDone       owned by its operation; `result` is set
//
// An operation that is destroyed while its request is kSubmitted gives the
// request to the queue, which frees the request when it is complete. At most
// `limit_` requests and as many cancellations are under way, and the completion
// queue has room for two times `limit_` completions, so none is ever lost or
// held back by the kernel.

#ifndef ROUSE_FS_URING_QUEUE_H_
#define ROUSE_FS_URING_QUEUE_H_

#include "rouse/base/cxx20.h"

#include <liburing.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "rouse/base/intrusive_list.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/fs/file.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/wake_list.h"
#include "rouse/waker/waker.h"

namespace rouse::fs::uring::internal {

// Request
//
// A request to the kernel, with everything that the kernel uses.
struct Request : IntrusiveListNode<> {
  enum class State { kIdle, kWaiting, kSubmitted, kDone };

  explicit Request(File file) : file(std::move(file)) {}

  // What the kernel is asked for. Not changed while the request is kWaiting or
  // kSubmitted.
  io_uring_op opcode = IORING_OP_NOP;
  File file;  // stays open; has no back end, which would own the queue
  uint64_t offset = 0;
  std::string bytes;
  // The part of `bytes` to be read or written.
  char* data = nullptr;
  uint32_t size = 0;
  uint32_t fsync_flags = 0;

  // Guarded by the queue's mutex.
  State state = State::kIdle;
  bool is_abandoned = false;
  int result = 0;  // or the negative of an errno
  Waker waker;
};

// Queue
//
// Thread-safe.
class Queue {
 public:
  // The result of a request if the queue was closed.
  static constexpr int kClosed = -ESHUTDOWN;

  // See `CreateBackend()` for the errors.
  static absl::StatusOr<std::shared_ptr<Queue>> Create(uint32_t limit);

  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  // Waits until the kernel uses no request.
  ~Queue();

  // Submits the request if it is kIdle. Returns its result when it is complete,
  // and then leaves it kIdle.
  PollResult<int> Poll(Request& request, Context& cx);

  // Takes back a request, or lets it run to its end.
  void Drop(std::unique_ptr<Request> request);

  // Handles all completions that have come.
  void Reap();

  // Ends all waits with `kClosed`. Called when no task waits for completions
  // any more.
  void Close();

  // Returns the descriptor, which is readable if completions have come.
  int fd() const { return ring_.ring_fd; }

 private:
  // What must be done after the mutex has been released, because it calls
  // wakers and closes files.
  struct After {
    After() = default;
    ~After();

    WakeList woken;
    IntrusiveList<Request> dead;
  };

  // Takes completions, and submits requests that wait. Returns whether
  // completions are left, for which `after` had no room.
  bool Step(After& after) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool TakeCompletions(After& after) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Prepare(Request* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Gives prepared requests to the kernel, as far as it has memory for them.
  void Submit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  ThreadMutex mu_;
  // Changed under `mu_`; only the descriptor is read without it.
  io_uring ring_ = {};
  bool has_ring_ = false;
  uint32_t limit_ = 0;
  uint32_t under_way_ ABSL_GUARDED_BY(mu_) = 0;      // kSubmitted requests
  uint32_t cancellations_ ABSL_GUARDED_BY(mu_) = 0;  // without a completion
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  IntrusiveList<Request> waiting_ ABSL_GUARDED_BY(mu_);
  IntrusiveList<Request> submitted_ ABSL_GUARDED_BY(mu_);
};

}  // namespace rouse::fs::uring::internal

#endif  // ROUSE_FS_URING_QUEUE_H_
