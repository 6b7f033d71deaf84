// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/uring/queue.h"

#include <liburing.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::fs::uring::internal {
namespace {

constexpr uint32_t kLargestLimit = 4096;

absl::Status SetUpError(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
      return absl::PermissionDeniedError(
          "fs: this process may not use io_uring; see the sysctl "
          "kernel.io_uring_disabled and the container's seccomp profile");
    case ENOSYS:
      return absl::UnimplementedError(
          "fs: this kernel has no io_uring, or hides it; use Linux 5.6 or "
          "later");
    case ENOMEM:
      return absl::ResourceExhaustedError(
          "fs: no memory for io_uring; before Linux 5.12, raise "
          "RLIMIT_MEMLOCK");
    default:
      return absl::ErrnoToStatus(error, "io_uring_setup");
  }
}

}  // namespace

Queue::After::~After() {
  woken.WakeAll();
  while (Request* request = dead.PopFront()) delete request;
}

absl::StatusOr<std::shared_ptr<Queue>> Queue::Create(uint32_t limit) {
  if (limit < 1 || limit > kLargestLimit) {
    return absl::InvalidArgumentError(
        absl::StrCat("fs: a ring cannot have ", limit,
                     " operations; choose from 1 to ", kLargestLimit));
  }
  auto queue = std::make_shared<Queue>();
  io_uring_params params = {};
  if (const int error =
          io_uring_queue_init_params(limit, &queue->ring_, &params);
      error < 0) {
    return SetUpError(-error);
  }
  queue->has_ring_ = true;
  queue->limit_ = std::min(params.sq_entries, params.cq_entries / 2);
  io_uring_probe* const probe = io_uring_get_probe_ring(&queue->ring_);
  const absl::Cleanup free_probe = [probe] {
    if (probe != nullptr) io_uring_free_probe(probe);
  };
  for (const int opcode : {IORING_OP_READ, IORING_OP_WRITE, IORING_OP_FSYNC,
                           IORING_OP_ASYNC_CANCEL}) {
    if (probe == nullptr || !io_uring_opcode_supported(probe, opcode)) {
      return SetUpError(ENOSYS);
    }
  }
  return queue;
}

Queue::~Queue() {
  if (!has_ring_) return;
  for (;;) {
    After after;
    const ThreadMutexLock lock(&mu_);
    while (TakeCompletions(after)) {
    }
    if (under_way_ + cancellations_ == 0) break;
    // An error means that the kernel has no memory for the requests that are
    // not submitted. They are tried again.
    (void)io_uring_submit_and_wait(&ring_, 1);
  }
  io_uring_queue_exit(&ring_);
}

PollResult<int> Queue::Poll(Request& request, Context& cx) {
  PollResult<int> result = kPending;
  bool more;
  bool is_stuck;
  {
    Waker before;  // destroyed after the mutex has been released
    After after;
    const ThreadMutexLock lock(&mu_);
    if (request.state == Request::State::kIdle && !closed_) {
      request.state = Request::State::kWaiting;
      waiting_.PushBack(&request);
    }
    // The task is not woken in its own poll.
    before = std::move(request.waker);
    more = Step(after);
    if (request.state == Request::State::kDone) {
      request.state = Request::State::kIdle;
      result = request.result;
    } else if (closed_) {
      result = kClosed;
    } else if (before.WillWake(cx.waker())) {
      request.waker = std::move(before);
    } else {
      request.waker = cx.waker().Clone();
    }
    is_stuck = io_uring_sq_ready(&ring_) > 0;
  }
  if (more) Reap();
  // Perhaps no completion comes that would submit the rest.
  if (result.IsPending() && is_stuck) cx.Yield();
  return result;
}

void Queue::Drop(std::unique_ptr<Request> request) {
  Waker dropped;  // destroyed after the mutex has been released
  const ThreadMutexLock lock(&mu_);
  dropped = std::move(request->waker);
  if (request->state != Request::State::kSubmitted) {
    request->Unlink();
    return;
  }
  request->is_abandoned = true;
  Request* const abandoned = request.release();
  if (cancellations_ == limit_) return;
  io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
  if (entry == nullptr) return;
  io_uring_prep_cancel64(entry, reinterpret_cast<uintptr_t>(abandoned), 0);
  io_uring_sqe_set_data(entry, nullptr);
  ++cancellations_;
  Submit();
}

void Queue::Reap() {
  for (bool more = true; more;) {
    After after;
    const ThreadMutexLock lock(&mu_);
    more = Step(after);
  }
}

void Queue::Close() {
  for (bool more = true; more;) {
    After after;
    const ThreadMutexLock lock(&mu_);
    closed_ = true;
    more = false;
    const auto wake = [&](Request* request) {
      if (request->waker.IsNoop()) return;
      if (after.woken.IsFull()) {
        more = true;
      } else {
        after.woken.Push(std::move(request->waker));
      }
    };
    waiting_.ForEach(wake);
    submitted_.ForEach(wake);
  }
}

bool Queue::Step(After& after) {
  for (;;) {
    if (TakeCompletions(after)) return true;
    if (waiting_.IsEmpty() || under_way_ >= limit_ || closed_) {
      if (io_uring_sq_ready(&ring_) > 0) Submit();
      return TakeCompletions(after);
    }
    while (!waiting_.IsEmpty() && under_way_ < limit_) {
      // The queue has no room only if the kernel has no memory.
      if (io_uring_sq_space_left(&ring_) == 0) break;
      Prepare(waiting_.PopFront());
    }
    const uint32_t ready = io_uring_sq_ready(&ring_);
    Submit();
    if (io_uring_sq_ready(&ring_) == ready) return TakeCompletions(after);
  }
}

bool Queue::TakeCompletions(After& after) {
  unsigned head;
  unsigned count = 0;
  bool more = false;
  io_uring_cqe* completion;
  io_uring_for_each_cqe(&ring_, head, completion) {
    auto* const request =
        static_cast<Request*>(io_uring_cqe_get_data(completion));
    if (request == nullptr) {
      --cancellations_;
    } else if (request->is_abandoned) {
      request->Unlink();
      after.dead.PushBack(request);
      --under_way_;
    } else if (!after.woken.IsFull()) {
      request->Unlink();
      request->state = Request::State::kDone;
      request->result = completion->res;
      after.woken.Push(std::move(request->waker));
      --under_way_;
    } else {
      more = true;
      break;
    }
    ++count;
  }
  io_uring_cq_advance(&ring_, count);
  return more;
}

void Queue::Prepare(Request* request) {
  io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
  const int fd = request->file.fd();
  if (request->opcode == IORING_OP_READ) {
    io_uring_prep_read(entry, fd, request->data, request->size,
                       request->offset);
  } else if (request->opcode == IORING_OP_WRITE) {
    io_uring_prep_write(entry, fd, request->data, request->size,
                        request->offset);
  } else {
    io_uring_prep_fsync(entry, fd, request->fsync_flags);
  }
  io_uring_sqe_set_data(entry, request);
  request->state = Request::State::kSubmitted;
  submitted_.PushBack(request);
  ++under_way_;
}

void Queue::Submit() {
  // Ends a submission at the first request that the kernel refuses, which is
  // then complete. Goes on with the next one.
  while (io_uring_sq_ready(&ring_) > 0) {
    const int result = io_uring_submit(&ring_);
    if (result <= 0 && result != -EINTR) return;
  }
}

}  // namespace rouse::fs::uring::internal
