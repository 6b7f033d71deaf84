// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/fs/uring/uring.h"

#include <liburing.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rouse/fs/backend.h"
#include "rouse/fs/file.h"
#include "rouse/fs/operation.h"
#include "rouse/fs/posix.h"
#include "rouse/fs/uring/queue.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/ready.h"
#include "rouse/reactor/registration.h"
#include "rouse/scheduler/abort_on_drop_handle.h"
#include "rouse/scheduler/current.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse::fs::uring {
namespace {

using internal::Queue;
using internal::Request;

// `Request::size` has 32 bits.
constexpr size_t kLargestStep = size_t{1} << 30;

// The task that waits for completions.
class CompletionTask {
 public:
  CompletionTask(std::shared_ptr<Queue> queue,
                 reactor::Registration registration)
      : queue_(std::move(queue)), registration_(std::move(registration)) {}
  CompletionTask(CompletionTask&&) noexcept = default;
  ~CompletionTask() {
    if (queue_ != nullptr) queue_->Close();
  }

  PollResult<void> Poll(Context& cx) {
    for (;;) {
      auto event = registration_.PollReady(reactor::Direction::kRead, cx);
      if (event.IsPending()) return kPending;
      if (!event->ok()) return {};  // the runtime ends
      // Before the completions are taken, so that a later one is an event.
      registration_.WouldBlock(**event);
      queue_->Reap();
    }
  }

 private:
  std::shared_ptr<Queue> queue_;
  reactor::Registration registration_;  // ends before the descriptor is closed
};

class Ring : public Backend, public std::enable_shared_from_this<Ring> {
 public:
  Ring(std::shared_ptr<Queue> queue, AbortOnDropHandle<void> completions)
      : queue_(std::move(queue)), completions_(std::move(completions)) {}

  Queue& queue() { return *queue_; }

  Operation<std::string> ReadAt(File file, uint64_t offset,
                                size_t size) override;
  Operation<void> WriteAt(File file, uint64_t offset,
                          std::string data) override;
  Operation<void> Sync(File file) override;
  Operation<void> SyncData(File file) override;

 private:
  std::shared_ptr<Queue> queue_;
  AbortOnDropHandle<void> completions_;
};

// The part that all operations share.
class Transfer {
 public:
  Transfer(std::shared_ptr<Ring> ring, File file, io_uring_op opcode)
      : ring_(std::move(ring)),
        request_(std::make_unique<Request>(std::move(file))) {
    request_->opcode = opcode;
  }
  Transfer(Transfer&&) noexcept = default;
  ~Transfer() {
    if (request_ != nullptr) ring_->queue().Drop(std::move(request_));
  }

 protected:
  Request& request() { return *request_; }
  const std::string& path() const { return request_->file.path(); }

  // Returns the error of `call` for a file without offsets. The kernel would
  // ignore the offset, and wait.
  absl::Status Check(uint64_t offset, size_t size, std::string_view call) {
    if (lseek(request_->file.fd(), 0, SEEK_CUR) < 0) {
      return fs::internal::PathError(errno, call, path());
    }
    return fs::internal::CheckOffset(offset, size, path());
  }

  // Returns a result that is not negative, or the errno of `call` as an error.
  PollResult<absl::StatusOr<size_t>> PollRequest(Context& cx,
                                                 std::string_view call) {
    using Result = absl::StatusOr<size_t>;
    if (!cx.HasBudget()) return YieldForBudget(cx);
    for (;;) {
      const PollResult<int> polled = ring_->queue().Poll(*request_, cx);
      if (polled.IsPending()) return kPending;
      const int result = *polled;
      // The kernel also takes requests back if the thread that has submitted
      // them ends.
      if (result == -EINTR || result == -ECANCELED) continue;
      TakeUnitIfAny(cx, static_cast<size_t>(std::max(result, 0)));
      if (result >= 0) return Result(static_cast<size_t>(result));
      if (result == Queue::kClosed) {
        return Result(absl::UnavailableError(
            "fs: the runtime of the io_uring back end has ended"));
      }
      return Result(fs::internal::PathError(-result, call, path()));
    }
  }

 private:
  std::shared_ptr<Ring> ring_;
  std::unique_ptr<Request> request_;
};

class ReadTransfer : public Transfer {
 public:
  ReadTransfer(std::shared_ptr<Ring> ring, File file, uint64_t offset,
               size_t size)
      : Transfer(std::move(ring), std::move(file), IORING_OP_READ),
        offset_(offset),
        size_(size) {}

  PollResult<absl::StatusOr<std::string>> operator()(Context& cx) {
    using Result = absl::StatusOr<std::string>;
    std::string& bytes = request().bytes;
    for (;;) {
      if (!begun_) {
        if (done_ == 0) {
          absl::Status status = Check(offset_, size_, "pread");
          if (!status.ok()) return Result(std::move(status));
        }
        if (done_ == size_) return Result(std::move(bytes));
        const size_t step =
            std::min(fs::internal::NextReadStep(done_, size_), kLargestStep);
        bytes.resize(done_ + step);
        request().data = bytes.data() + done_;
        request().size = static_cast<uint32_t>(step);
        request().offset = offset_ + done_;
        begun_ = true;
      }
      PollResult<absl::StatusOr<size_t>> size = PollRequest(cx, "pread");
      if (size.IsPending()) return kPending;
      if (!size->ok()) return Result(size->status());
      begun_ = false;
      done_ += **size;
      if (**size > 0) continue;
      bytes.resize(done_);
      return Result(std::move(bytes));
    }
  }

 private:
  uint64_t offset_;
  size_t size_;
  size_t done_ = 0;     // bytes that were read
  bool begun_ = false;  // whether the kernel may use `bytes`
};

class WriteTransfer : public Transfer {
 public:
  WriteTransfer(std::shared_ptr<Ring> ring, File file, uint64_t offset,
                std::string data)
      : Transfer(std::move(ring), std::move(file), IORING_OP_WRITE),
        offset_(offset) {
    request().bytes = std::move(data);
  }

  PollResult<absl::Status> operator()(Context& cx) {
    std::string& bytes = request().bytes;
    for (;;) {
      if (!begun_) {
        if (done_ == 0) {
          absl::Status status = Check(offset_, bytes.size(), "pwrite");
          if (!status.ok()) return status;
        }
        if (done_ == bytes.size()) return absl::OkStatus();
        request().data = bytes.data() + done_;
        request().size =
            static_cast<uint32_t>(std::min(bytes.size() - done_, kLargestStep));
        request().offset = offset_ + done_;
        begun_ = true;
      }
      PollResult<absl::StatusOr<size_t>> size = PollRequest(cx, "pwrite");
      if (size.IsPending()) return kPending;
      if (!size->ok()) return size->status();
      // The system accepts no byte only if something is broken.
      if (**size == 0) return fs::internal::PathError(EIO, "pwrite", path());
      begun_ = false;
      done_ += **size;
    }
  }

 private:
  uint64_t offset_;
  size_t done_ = 0;     // bytes that were written
  bool begun_ = false;  // whether the kernel may use `bytes`
};

class SyncTransfer : public Transfer {
 public:
  SyncTransfer(std::shared_ptr<Ring> ring, File file, uint32_t flags,
               std::string_view call)
      : Transfer(std::move(ring), std::move(file), IORING_OP_FSYNC),
        call_(call) {
    request().fsync_flags = flags;
  }

  PollResult<absl::Status> operator()(Context& cx) {
    PollResult<absl::StatusOr<size_t>> done = PollRequest(cx, call_);
    if (done.IsPending()) return kPending;
    return done->status();
  }

 private:
  std::string_view call_;
};

Operation<std::string> Ring::ReadAt(File file, uint64_t offset, size_t size) {
  return Operation<std::string>(
      ReadTransfer(shared_from_this(), std::move(file), offset, size));
}

Operation<void> Ring::WriteAt(File file, uint64_t offset, std::string data) {
  return Operation<void>(WriteTransfer(shared_from_this(), std::move(file),
                                       offset, std::move(data)));
}

Operation<void> Ring::Sync(File file) {
  return Operation<void>(
      SyncTransfer(shared_from_this(), std::move(file), 0, "fsync"));
}

Operation<void> Ring::SyncData(File file) {
  return Operation<void>(SyncTransfer(shared_from_this(), std::move(file),
                                      IORING_FSYNC_DATASYNC, "fdatasync"));
}

}  // namespace

absl::StatusOr<std::shared_ptr<Backend>> CreateBackend(Options options) {
  if (scheduler::Current() == nullptr) {
    return absl::FailedPreconditionError(
        "fs: this thread has no runtime for a ring; call CreateBackend() in a "
        "task, or after Runtime::Enter()");
  }
  absl::StatusOr<std::shared_ptr<Queue>> queue =
      Queue::Create(options.max_operations);
  if (!queue.ok()) return std::move(queue).status();
  absl::StatusOr<reactor::Registration> registration =
      reactor::Registration::Create((*queue)->fd(),
                                    reactor::Interest::kReadable);
  if (!registration.ok()) return std::move(registration).status();
  auto completions = Spawn(CompletionTask(*queue, *std::move(registration)),
                           {.name = "fs-uring"});
  return std::make_shared<Ring>(
      *std::move(queue), AbortOnDropHandle<void>(std::move(completions)));
}

}  // namespace rouse::fs::uring
