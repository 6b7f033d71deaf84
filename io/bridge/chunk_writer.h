// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: chunk_writer.h
// -----------------------------------------------------------------------------
//
// Writes bytes to a sink of chunks, such as the sender of a channel:
//
//   rouse::ChunkWriter body(std::move(sender));
//   co_await rouse::OrReturn(rouse::Copy(file, body));
//
// `StreamReader` (stream_reader.h) reads the chunks at the other end.

#ifndef ROUSE_IO_BRIDGE_CHUNK_WRITER_H_
#define ROUSE_IO_BRIDGE_CHUNK_WRITER_H_

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rouse/future/future.h"
#include "rouse/future/streams/sink.h"
#include "rouse/io/async_write.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// ChunkWriter
//
// An `AsyncWrite` that sends each write's bytes, as a `std::string`, to a
// `Sink` `K`. The `ChunkWriter` owns the `K` or, if `K` is a reference, refers
// to the sink. Many small writes make many small chunks: put a `BufWriter` in
// front. Movable. Not thread-safe.
//
// A write is ready when the chunks before have been sent, and may leave its own
// chunk on the way: the next write or flush waits for the chunk, and returns
// the error if the sink refuses it. Destroying a pending write or flush loses
// nothing. A chunk on the way is lost when the `ChunkWriter` is destroyed:
// flush first. `PollShutdown()` only flushes: destroy the writer, and with it
// the sink, to end the stream.
//
// Errors are those of the sink. An exception of the sink leaves the write or
// flush, and its chunk is lost.
//
// Cost: one allocation for each chunk, and one in the constructor.
template <class K>
class ChunkWriter {
  static_assert(Sink<K, std::string>,
                "ChunkWriter needs a sink of strings, with a Send()");

  using Sent = std::remove_cvref_t<decltype(std::declval<K&>().Send(
      std::declval<std::string>()))>;
  static constexpr bool kWaits = Future<Sent>;

 public:
  explicit ChunkWriter(K&& sink)
      : state_(std::make_unique<State>(std::forward<K>(sink))) {}

  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data) {
    return PollWriteVectored(cx, absl::MakeConstSpan(&data, 1));
  }
  // Sends all parts as a single chunk.
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts) {
    using Result = absl::StatusOr<size_t>;
    const size_t size = internal::TotalSize(parts);
    if (size == 0) return Result(0);
    PollResult<absl::Status> before = PollFlush(cx);
    if (before.IsPending()) return kPending;
    if (!before->ok()) return Result(*std::move(before));
    PollResult<BudgetUnit> unit = PollProceed(cx);
    if (unit.IsPending()) return kPending;
    std::string chunk;
    chunk.reserve(size);
    for (const std::string_view part : parts) chunk += part;
    unit->MadeProgress();
    PollResult<absl::Status> sent = kPending;
    if constexpr (kWaits) {
      state_->sending.emplace(state_->sink.Send(std::move(chunk)));
      sent = PollFlush(cx);
    } else {
      sent = ToStatus(state_->sink.Send(std::move(chunk)));
    }
    if (sent.IsReady() && !sent->ok()) return Result(*std::move(sent));
    return Result(size);
  }

  // Waits until the sink has taken all bytes.
  PollResult<absl::Status> PollFlush([[maybe_unused]] Context& cx) {
    if constexpr (kWaits) {
      std::optional<Sent>& sending = state_->sending;
      if (!sending.has_value()) return absl::OkStatus();
      // Also after an exception, because the future must not be polled again.
      absl::Cleanup end = [&sending] { sending.reset(); };
      auto outcome = sending->Poll(cx);
      if (outcome.IsPending()) {
        std::move(end).Cancel();
        return kPending;
      }
      return ToStatus(*std::move(outcome));
    } else {
      return absl::OkStatus();
    }
  }
  PollResult<absl::Status> PollShutdown(Context& cx) { return PollFlush(cx); }

  // Returns the sink. What is sent directly may overtake a chunk on the way.
  std::remove_reference_t<K>& inner() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return state_->sink;
  }

  // Takes the sink out. A chunk on the way is lost.
  K IntoInner() && {
    if constexpr (kWaits) state_->sending.reset();
    return std::forward<K>(state_->sink);
  }

 private:
  struct Nothing {};

  // In one place, because a future refers to the sink, and must not be moved
  // after its first poll.
  struct State {
    explicit State(K&& k) : sink(std::forward<K>(k)) {}

    K sink;
    // The send of the chunk on the way.
    [[no_unique_address]] std::conditional_t<kWaits, std::optional<Sent>,
                                             Nothing> sending;
  };

  template <class Outcome>
  static absl::Status ToStatus(Outcome&& outcome) {
    if constexpr (std::convertible_to<Outcome, absl::Status>) {
      return std::forward<Outcome>(outcome);
    } else {
      return std::forward<Outcome>(outcome).status();
    }
  }

  std::unique_ptr<State> state_;  // null if moved from
};

template <class K>
ChunkWriter(K&&) -> ChunkWriter<K>;

}  // namespace rouse

#endif  // ROUSE_IO_BRIDGE_CHUNK_WRITER_H_
