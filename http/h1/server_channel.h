// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: server_channel.h
// -----------------------------------------------------------------------------
//
// `ServerChannel` is the part of a `ServerConnection` that the body of a
// request uses, too, perhaps on another thread.

#ifndef ROUSE_HTTP_H1_SERVER_CHANNEL_H_
#define ROUSE_HTTP_H1_SERVER_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/http/body.h"
#include "rouse/http/byte_stream.h"
#include "rouse/http/h1/receiver.h"
#include "rouse/http/headers.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse::http::internal {

// ServerChannel
//
// The connection and its received bytes. The `ServerConnection` uses the
// members without the lock unless `is_shared`; only the `ServerConnection`
// reads and writes `is_shared`. As an `Io`, takes the lock if necessary.
class ServerChannel final : public Io {
 public:
  explicit ServerChannel(std::unique_ptr<Io> io) : io(std::move(io)) {}

  PollResult<absl::StatusOr<size_t>> PollRead(
      Context& cx, absl::Span<char> buffer) override {
    const MaybeLock lock(*this);
    return io->PollRead(cx, buffer);
  }
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data) override {
    const MaybeLock lock(*this);
    return io->PollWrite(cx, data);
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts) override {
    const MaybeLock lock(*this);
    return io->PollWriteVectored(cx, parts);
  }
  PollResult<absl::Status> PollFlush(Context& cx) override {
    const MaybeLock lock(*this);
    return io->PollFlush(cx);
  }
  PollResult<absl::Status> PollShutdown(Context& cx) override {
    const MaybeLock lock(*this);
    return io->PollShutdown(cx);
  }

  ThreadMutex mu;
  bool is_shared = false;

  // Null when the connection has ended or was taken over.
  std::unique_ptr<Io> io;
  Receiver in{true};
  // Number of the request whose body may be read.
  uint64_t exchange = 0;
  // The part of "100 Continue" that must be sent before the body is read, and
  // whether that text must still be flushed.
  std::string_view to_continue;
  bool must_flush = false;
  // The task that waits for the body, if any. The connection takes the place of
  // this task on `io` after the response, and wakes the task.
  std::optional<Waker> reader;

 private:
  // Holds the lock if the channel is shared.
  class MaybeLock {
   public:
    explicit MaybeLock(ServerChannel& channel) {
      if (channel.is_shared) lock_.emplace(&channel.mu);
    }

   private:
    std::optional<ThreadMutexLock> lock_;
  };
};

// RequestBody
//
// The source of the body of a request that has not fully arrived.
class RequestBody final : public BodySource {
 public:
  RequestBody(std::shared_ptr<ServerChannel> channel, uint64_t exchange,
              absl::Duration progress_timeout)
      : channel_(std::move(channel)),
        exchange_(exchange),
        progress_timeout_(progress_timeout) {}

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer) override;
  Headers TakeTrailers() override { return std::move(trailers_); }

 private:
  PollResult<absl::StatusOr<size_t>> PollLocked(Context& cx,
                                                absl::Span<char> buffer);
  // Returns whether the peer was too slow.
  bool IsTooSlow(Context& cx);

  const std::shared_ptr<ServerChannel> channel_;
  const uint64_t exchange_;
  const absl::Duration progress_timeout_;
  std::optional<Sleep> timer_;  // while the peer sends nothing
  bool timer_runs_ = false;
  bool is_done_ = false;
  Headers trailers_;
};

}  // namespace rouse::http::internal

#endif  // ROUSE_HTTP_H1_SERVER_CHANNEL_H_
