// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: split.h
// -----------------------------------------------------------------------------
//
// The two directions of a stream apart, so that one task reads and another one
// writes. The stream is a `TcpStream`, a `UnixStream`, or, in tests, an end of
// a `Duplex`.
//
// As long as the stream stays where it is, its halves refer to it:
//
//   auto [reader, writer] = rouse::Split(stream);
//   co_await rouse::Join(rouse::Copy(reader, file), rouse::Copy(log, writer));
//
// Halves that go to tasks of their own share it:
//
//   auto [reader, writer] = rouse::IntoSplit(std::move(stream));
//   rouse::Spawn(Receive(std::move(reader)));
//   rouse::Spawn(SendAll(std::move(writer)));

#ifndef ROUSE_NET_SPLIT_H_
#define ROUSE_NET_SPLIT_H_

#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

namespace internal {

// Whether a stream has halves: const functions that are thread-safe, and a way
// to end its writing half without waiting.
template <class S>
concept CanSplit = requires(const S& stream) {
  typename S::Waiter;
  { stream.ShutdownWrite() } -> std::same_as<absl::Status>;
};

// What halves of both kinds can do; `Half` has a `stream()`.
template <class Half, class S>
class ReadHalfBase {
 public:
  using Waiter = typename S::Waiter;

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer,
                                              Waiter* waiter = nullptr) const {
    return static_cast<const Half&>(*this).stream().PollRead(cx, buffer,
                                                             waiter);
  }
};

template <class Half, class S>
class WriteHalfBase {
 public:
  using Waiter = typename S::Waiter;

  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data,
                                               Waiter* waiter = nullptr) const {
    return stream().PollWrite(cx, data, waiter);
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts,
      Waiter* waiter = nullptr) const {
    return stream().PollWriteVectored(cx, parts, waiter);
  }
  PollResult<absl::Status> PollFlush(Context& cx) const {
    return stream().PollFlush(cx);
  }
  PollResult<absl::Status> PollShutdown(Context& cx) const {
    return stream().PollShutdown(cx);
  }

 private:
  const S& stream() const { return static_cast<const Half&>(*this).stream(); }
};

}  // namespace internal

// ReadHalf, WriteHalf
//
// What a stream can be read from, and written to, as `AsyncRead` and
// `AsyncWrite`. Refer to the stream. Copyable; const members are thread-safe.
template <class S>
class ReadHalf : public internal::ReadHalfBase<ReadHalf<S>, S> {
 public:
  explicit ReadHalf(const S& stream ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : stream_(&stream) {}

  const S& stream() const { return *stream_; }

 private:
  const S* stream_;
};

template <class S>
class WriteHalf : public internal::WriteHalfBase<WriteHalf<S>, S> {
 public:
  explicit WriteHalf(const S& stream ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : stream_(&stream) {}

  const S& stream() const { return *stream_; }

 private:
  const S* stream_;
};

// Split()
//
// Both halves of `stream`, which outlives them and is not moved meanwhile.
template <internal::CanSplit S>
std::pair<ReadHalf<S>, WriteHalf<S>> Split(
    const S& stream ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return {ReadHalf<S>(stream), WriteHalf<S>(stream)};
}

template <class S>
class OwnedWriteHalf;

// OwnedReadHalf
//
// The connection is closed when both halves are gone. Movable, but not while a
// future of it lives; const members are thread-safe.
template <class S>
class OwnedReadHalf : public internal::ReadHalfBase<OwnedReadHalf<S>, S> {
 public:
  OwnedReadHalf(OwnedReadHalf&&) = default;
  OwnedReadHalf& operator=(OwnedReadHalf&&) = default;

  const S& stream() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return *stream_; }

 private:
  template <internal::CanSplit T>
  friend std::pair<OwnedReadHalf<T>, OwnedWriteHalf<T>> IntoSplit(T stream);
  template <class T>
  friend absl::StatusOr<T> Reunite(OwnedReadHalf<T>&& reader,
                                   OwnedWriteHalf<T>&& writer);

  explicit OwnedReadHalf(std::shared_ptr<S> stream)
      : stream_(std::move(stream)) {}

  std::shared_ptr<S> stream_;  // null if moved from
};

// OwnedWriteHalf
//
// As `OwnedReadHalf`. Destroying it tells the peer that nothing more will be
// written, as `ShutdownWrite()` does, though the other half lives on.
template <class S>
class OwnedWriteHalf : public internal::WriteHalfBase<OwnedWriteHalf<S>, S> {
 public:
  OwnedWriteHalf(OwnedWriteHalf&&) = default;
  OwnedWriteHalf& operator=(OwnedWriteHalf&& other) noexcept {
    // What was here ends now, not when `other` does.
    OwnedWriteHalf replaced(std::move(other));
    std::swap(stream_, replaced.stream_);
    return *this;
  }
  ~OwnedWriteHalf() {
    // A connection that has ended cannot be shut down, nor need it be.
    if (stream_ != nullptr) stream_->ShutdownWrite().IgnoreError();
  }

  const S& stream() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return *stream_; }

  // Ends this half without telling the peer; that is told when the other half
  // goes too.
  void Forget() && { stream_.reset(); }

 private:
  template <internal::CanSplit T>
  friend std::pair<OwnedReadHalf<T>, OwnedWriteHalf<T>> IntoSplit(T stream);
  template <class T>
  friend absl::StatusOr<T> Reunite(OwnedReadHalf<T>&& reader,
                                   OwnedWriteHalf<T>&& writer);

  explicit OwnedWriteHalf(std::shared_ptr<S> stream)
      : stream_(std::move(stream)) {}

  std::shared_ptr<S> stream_;  // null if moved from
};

// IntoSplit()
//
// Both halves of `stream`, which may go to different tasks and threads. One
// allocation.
template <internal::CanSplit S>
std::pair<OwnedReadHalf<S>, OwnedWriteHalf<S>> IntoSplit(S stream) {
  auto shared = std::make_shared<S>(std::move(stream));
  return {OwnedReadHalf<S>(shared), OwnedWriteHalf<S>(shared)};
}

// Reunite()
//
// Makes the stream of its two halves again. If they are those of different
// streams gives InvalidArgument, and they stay as they are. No future of either
// lives.
template <class S>
absl::StatusOr<S> Reunite(OwnedReadHalf<S>&& reader,
                          OwnedWriteHalf<S>&& writer) {
  if (reader.stream_ == nullptr || reader.stream_ != writer.stream_) {
    return absl::InvalidArgumentError(
        "Reunite: the halves are of different streams; give those that one "
        "IntoSplit() has made");
  }
  writer.stream_.reset();
  const std::shared_ptr<S> stream = std::move(reader.stream_);
  return std::move(*stream);
}

}  // namespace rouse

#endif  // ROUSE_NET_SPLIT_H_
