// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: locked_split.h
// -----------------------------------------------------------------------------
//
// Splits any stream into its two directions, so that one task reads and another
// task writes, even if the stream is not thread-safe: a stream of TLS, a
// `BufReader`, a stream of your own.
//
//   auto [reader, writer] = rouse::SplitLocked(std::move(tls_stream));
//   rouse::Spawn(Receive(std::move(reader)));
//   rouse::Spawn(SendAll(std::move(writer)));
//
// For a `TcpStream`, a `UnixStream` and a `Duplex`, which are thread-safe,
// `IntoSplit()` (rouse/net/split.h) does the same without a lock.

#ifndef ROUSE_IO_ADAPT_LOCKED_SPLIT_H_
#define ROUSE_IO_ADAPT_LOCKED_SPLIT_H_

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/base/thread_mutex.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// A stream that is used under a lock.
template <class S>
struct LockedStream {
  explicit LockedStream(S stream) : stream(std::move(stream)) {}

  ThreadMutex mu;
  S stream ABSL_GUARDED_BY(mu);
};

}  // namespace internal

template <class S>
class LockedWriteHalf;

// LockedReadHalf
//
// An `AsyncRead`. Owns the stream together with the `LockedWriteHalf`: the
// stream is destroyed with the later of them. Movable. Each half can be used by
// one task at a time, and the halves by different threads.
//
// A poll of a half holds the lock for as long as the stream's poll takes, and
// blocks the other half's polls meanwhile. The wakers of tasks are the
// stream's: a stream must be able to keep one waker for reading and another for
// writing, as `AsyncRead` and `AsyncWrite` require. Errors are those of the
// stream.
template <class S>
class LockedReadHalf {
 public:
  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer) {
    const ThreadMutexLock lock(&shared_->mu);
    return shared_->stream.PollRead(cx, buffer);
  }
  PollResult<absl::StatusOr<size_t>> PollReadVectored(
      Context& cx, absl::Span<const absl::Span<char>> buffers) {
    const ThreadMutexLock lock(&shared_->mu);
    return rouse::PollReadVectored(shared_->stream, cx, buffers,
                                   /*waiter=*/nullptr);
  }

 private:
  template <class T>
  friend std::pair<LockedReadHalf<T>, LockedWriteHalf<T>> SplitLocked(T stream);
  template <class T>
  friend absl::StatusOr<T> Unsplit(LockedReadHalf<T>&& reader,
                                   LockedWriteHalf<T>&& writer);

  explicit LockedReadHalf(std::shared_ptr<internal::LockedStream<S>> shared)
      : shared_(std::move(shared)) {}

  std::shared_ptr<internal::LockedStream<S>> shared_;  // null if moved from
};

// LockedWriteHalf
//
// An `AsyncWrite`, like `LockedReadHalf`. Destroying the half does not end the
// stream, because a destructor cannot wait: call `Shutdown()` first.
template <class S>
class LockedWriteHalf {
 public:
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data) {
    const ThreadMutexLock lock(&shared_->mu);
    return shared_->stream.PollWrite(cx, data);
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts) {
    const ThreadMutexLock lock(&shared_->mu);
    return shared_->stream.PollWriteVectored(cx, parts);
  }
  PollResult<absl::Status> PollFlush(Context& cx) {
    const ThreadMutexLock lock(&shared_->mu);
    return shared_->stream.PollFlush(cx);
  }
  PollResult<absl::Status> PollShutdown(Context& cx) {
    const ThreadMutexLock lock(&shared_->mu);
    return shared_->stream.PollShutdown(cx);
  }

 private:
  template <class T>
  friend std::pair<LockedReadHalf<T>, LockedWriteHalf<T>> SplitLocked(T stream);
  template <class T>
  friend absl::StatusOr<T> Unsplit(LockedReadHalf<T>&& reader,
                                   LockedWriteHalf<T>&& writer);

  explicit LockedWriteHalf(std::shared_ptr<internal::LockedStream<S>> shared)
      : shared_(std::move(shared)) {}

  std::shared_ptr<internal::LockedStream<S>> shared_;  // null if moved from
};

// SplitLocked()
//
// Returns both halves of `stream`, an `AsyncRead` and `AsyncWrite`, which can
// go to different tasks and threads. Allocates once.
template <class S>
std::pair<LockedReadHalf<S>, LockedWriteHalf<S>> SplitLocked(S stream) {
  static_assert(AsyncRead<S> && AsyncWrite<S>,
                "SplitLocked() needs a stream that can be read and written");
  auto shared = std::make_shared<internal::LockedStream<S>>(std::move(stream));
  return {LockedReadHalf<S>(shared), LockedWriteHalf<S>(shared)};
}

// Unsplit()
//
// Reassembles a stream from its two halves. Returns InvalidArgument, leaving
// both halves unchanged, if the halves belong to different streams. REQUIRES:
// no future of either half is alive.
template <class S>
absl::StatusOr<S> Unsplit(LockedReadHalf<S>&& reader,
                          LockedWriteHalf<S>&& writer) {
  if (reader.shared_ == nullptr || reader.shared_ != writer.shared_) {
    return absl::InvalidArgumentError(
        "Unsplit: the halves belong to different streams; pass both halves of "
        "one SplitLocked()");
  }
  writer.shared_.reset();
  const std::shared_ptr<internal::LockedStream<S>> shared =
      std::move(reader.shared_);
  const ThreadMutexLock lock(&shared->mu);
  return std::move(shared->stream);
}

}  // namespace rouse

#endif  // ROUSE_IO_ADAPT_LOCKED_SPLIT_H_
