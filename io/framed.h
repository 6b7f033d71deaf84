// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: framed.h
// -----------------------------------------------------------------------------
//
// Turns a stream of bytes into a stream of frames: lines, messages, or any
// other frames of a `Codec` (codec.h).
//
//   rouse::Co<absl::Status> Serve(rouse::TcpStream stream) {
//     rouse::Framed connection(std::move(stream), rouse::LineCodec());
//     while (auto line = co_await rouse::Next(connection)) {
//       co_await rouse::OrReturn(line->status());
//       co_await rouse::OrReturn(connection.Send(Answer(**line)));
//     }
//     co_return absl::OkStatus();
//   }

#ifndef ROUSE_IO_FRAMED_H_
#define ROUSE_IO_FRAMED_H_

#include <cstddef>
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
#include "rouse/base/error_for.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/codec.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/io/waiter.h"
#include "rouse/io/write_some.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// FramedParts
//
// Everything that a `Framed` consists of: see `Framed::IntoParts()`. To change
// the codec in the middle of a stream, make a `FramedParts` with the new codec
// and the other parts, and a `Framed` of that.
template <class S, class C>
struct FramedParts {
  FramedParts(S&& stream, C codec, std::string read = std::string(),
              std::string unsent = std::string())
      : stream(std::forward<S>(stream)),
        codec(std::move(codec)),
        read(std::move(read)),
        unsent(std::move(unsent)) {}

  S stream;
  C codec;
  std::string read;    // bytes read that belong to no returned frame
  std::string unsent;  // bytes of frames that have not been written
};

template <class S, class C>
FramedParts(S&&, C, std::string, std::string) -> FramedParts<S, C>;

// Framed
//
// Frames on an `S`. The `Framed` owns the `S` or, if `S` is a reference, refers
// to the stream. If `S` can only be read, or only be written, or if `C` is only
// a `Decoder` or an `Encoder`, the same holds for the `Framed`. Movable, except
// while a future of the `Framed` exists. Not thread-safe: to read in one task
// and write in another, split the stream and make a `Framed` of each half.
//
// # Reading
//
// A `Framed` is a `Stream` of `absl::StatusOr<Frame>`, read with
// `Next(framed)`. An error of the codec concerns a single frame, and the next
// item is the frame behind it. An error of the stream is the last item. If the
// stream ends, the `Framed` ends after the codec's last frame or error.
//
// A `Framed` keeps no more than the bytes of an incomplete frame that the codec
// wants, and the bytes of a single read. The limit is the codec's.
//
// # Cancelling
//
// Nothing is lost. A partly read frame stays in the `Framed`, and so does a
// partly written frame: the next `Send()` or `Flush()` continues with it.
// Frames are never torn.
template <class S, class C>
class Framed {
  static_assert(Decoder<C> || Encoder<C>);

  struct FlushOp {
    static constexpr std::string_view kName = "Framed::Flush()";
    FlushOp() = default;
    PollResult<absl::Status> operator()(Framed& framed, Context& cx,
                                        IoWaiter<S>* waiter) const {
      return framed.PollFlush(cx, waiter);
    }
  };

 public:
  using Frame = typename C::Frame;
  using Waiter = IoWaiter<S>;

  class SendFuture;
  using FlushFuture = internal::IoFuture<Framed, FlushOp>;

  explicit Framed(S&& stream, C codec = C())
      : stream_(std::forward<S>(stream)), codec_(std::move(codec)) {}

  // Continues with `parts`: the bytes in `parts.read` are read first, and those
  // in `parts.unsent` are sent first.
  explicit Framed(FramedParts<S, C> parts)
      : stream_(std::forward<S>(parts.stream)),
        codec_(std::move(parts.codec)),
        in_(std::move(parts.read)),
        end_(in_.size()),
        out_(std::move(parts.unsent)) {}

  // Returns the next frame. Takes a unit of the budget for each frame.
  PollResult<std::optional<absl::StatusOr<Frame>>> PollNext(
      Context& cx, Waiter* waiter = nullptr)
    requires AsyncRead<S> && Decoder<C>
  {
    using Item = std::optional<absl::StatusOr<Frame>>;
    for (;;) {
      if (state_ == State::kEnded) return Item(std::nullopt);
      if ((begin_ < end_ && !incomplete_) || state_ == State::kAtEnd) {
        PollResult<BudgetUnit> unit = PollProceed(cx);
        if (unit.IsPending()) return kPending;
        Item item = DecodeOne();
        if (item.has_value()) {
          unit->MadeProgress();
          return item;
        }
        if (state_ == State::kAtEnd) {
          state_ = State::kEnded;
          continue;
        }
        incomplete_ = true;
      }
      PollResult<absl::StatusOr<size_t>> size =
          rouse::PollRead(stream_, cx, Room(), waiter);
      if (size.IsPending()) {
        if (begin_ == end_) Shrink(in_);
        return kPending;
      }
      if (!size->ok()) {
        state_ = State::kEnded;
        return Item(Error((*std::move(size)).status()));
      }
      if (**size == 0) state_ = State::kAtEnd;
      end_ += **size;
      incomplete_ = false;
    }
  }

  // Sends `frame`, after all frames that were passed to `Feed()` before. If
  // frames are strings, a `std::string_view` can be passed; it is copied.
  //
  // Returns a future of `absl::Status`: an error of the codec, in which case
  // nothing is sent, or an error of the stream.
  //
  // Cancellation: if the future is destroyed before its first poll, nothing is
  // sent. Later, the unsent bytes stay in the `Framed` and are sent next.
  template <class F>
    requires AsyncWrite<S> && Encoder<C> &&
             (std::is_convertible_v<F &&, Frame> ||
              (std::is_convertible_v<F &&, std::string_view> &&
               std::is_constructible_v<Frame, F &&>))
  SendFuture Send(F&& frame) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendFuture(*this, Frame(std::forward<F>(frame)));
  }

  // Adds `frame` to the bytes that the next `Flush()` or `Send()` sends.
  // Returns the codec's error. Never waits, and has no limit: see `unsent()`.
  absl::Status Feed(const Frame& frame)
    requires AsyncWrite<S> && Encoder<C>
  {
    // Unsent bytes may remain at all times. The sent bytes are therefore erased
    // when they are the larger part.
    if (sent_ > out_.size() / 2) {
      out_.erase(0, sent_);
      sent_ = 0;
    }
    absl::Cleanup take_back = [this, size = out_.size()] { out_.resize(size); };
    absl::Status status = codec_.Encode(frame, out_);
    std::move(take_back).Cancel();
    return status;
  }

  // Sends all unsent bytes. Returns a future of `absl::Status`.
  FlushFuture Flush() ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires AsyncWrite<S> && Encoder<C>
  {
    return FlushFuture(*this);
  }

  // Sends all unsent bytes like `Flush()`, for use in your own futures.
  PollResult<absl::Status> PollFlush(Context& cx, Waiter* waiter = nullptr)
    requires AsyncWrite<S> && Encoder<C>
  {
    while (sent_ < out_.size()) {
      const std::string_view left = std::string_view(out_).substr(sent_);
      auto size = internal::PollWriteSome(stream_, cx, left, waiter, "Framed");
      if (size.IsPending()) return kPending;
      if (!size->ok()) return (*std::move(size)).status();
      sent_ += **size;
    }
    out_.clear();
    Shrink(out_);
    sent_ = 0;
    return rouse::PollFlush(stream_, cx, waiter);
  }

  // Returns the number of unsent bytes.
  size_t unsent() const { return out_.size() - sent_; }

  // Returns the bytes that have been read and belong to incomplete frames, or
  // to frames that have not been asked for.
  std::string_view buffered() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return std::string_view(in_).substr(begin_, end_ - begin_);
  }

  // Returns the codec, for example to change its options between frames.
  C& codec() ABSL_ATTRIBUTE_LIFETIME_BOUND { return codec_; }

  // Returns the stream. Bytes read from or written to the stream directly are
  // missing here.
  std::remove_reference_t<S>& stream() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return stream_;
  }

  // Takes the stream, the codec and all buffered bytes out, so that nothing is
  // lost: to go on without frames, or with another codec, for example after an
  // upgrade of the protocol. `buffered()` becomes `read`.
  FramedParts<S, C> IntoParts() && {
    in_.resize(end_);
    in_.erase(0, begin_);
    out_.erase(0, sent_);
    return FramedParts<S, C>(std::forward<S>(stream_), std::move(codec_),
                             std::move(in_), std::move(out_));
  }

  // Takes the stream out, for use without frames. The bytes in `buffered()` and
  // the `unsent()` bytes are lost; see `IntoParts()`.
  S IntoInner() && { return std::forward<S>(stream_); }

 private:
  enum class State { kReading, kAtEnd, kEnded };

  // Minimum space for a read, in case as many bytes are available.
  static constexpr size_t kReadSize = 4096;  // bytes
  // Largest size of an empty buffer.
  static constexpr size_t kKeptSize = 65536;  // bytes

  static void Shrink(std::string& buffer) {
    if (buffer.capacity() > kKeptSize) buffer = std::string();
  }

  static absl::StatusOr<Frame> Error(absl::Status error) {
    return internal::ErrorFor<absl::StatusOr<Frame>>(std::move(error));
  }

  std::optional<absl::StatusOr<Frame>> DecodeOne() {
    std::string_view bytes = buffered();
    // Also runs if memory runs out, because the codec knows which bytes have
    // been taken.
    const absl::Cleanup advance = [this, &bytes, before = bytes.size()] {
      begin_ += before - bytes.size();
    };
    absl::StatusOr<std::optional<Frame>> frame = state_ == State::kAtEnd
                                                     ? codec_.DecodeEnd(bytes)
                                                     : codec_.Decode(bytes);
    if (!frame.ok()) return Error(std::move(frame).status());
    if (!frame->has_value()) return std::nullopt;
    return absl::StatusOr<Frame>(**std::move(frame));
  }

  // Returns the space behind the buffered bytes.
  absl::Span<char> Room() {
    if (begin_ == end_) {
      begin_ = 0;
      end_ = 0;
    }
    if (in_.size() - end_ < kReadSize) {
      // Taken bytes are erased first, so that the buffer grows only with a
      // frame.
      in_.erase(0, begin_);
      end_ -= begin_;
      begin_ = 0;
      if (in_.size() - end_ < kReadSize) {
        // Grows by a fraction of the present size, so that a long frame is not
        // copied often.
        in_.resize(end_ + kReadSize + end_ / 2);
      }
    }
    return absl::MakeSpan(in_).subspan(end_);
  }

  S stream_;
  C codec_;
  State state_ = State::kReading;

  // The bytes that have been read are from `begin_` to `end_`. `incomplete_`
  // says whether the codec found no complete frame in the bytes.
  std::string in_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool incomplete_ = false;

  // Bytes to be written, except for the first `sent_` bytes.
  std::string out_;
  size_t sent_ = 0;
};

template <class S, class C>
Framed(S&&, C) -> Framed<S, C>;
template <class S, class C>
Framed(FramedParts<S, C>) -> Framed<S, C>;

// Like all futures, a `SendFuture` panics if polled after it was ready, and can
// be moved until its first poll.
template <class S, class C>
class [[nodiscard(
    "the frame is sent when the future is awaited")]] Framed<S, C>::SendFuture {
 public:
  SendFuture(Framed& framed, Frame frame)
      : framed_(&framed), frame_(std::move(frame)), flush_(framed) {}

  PollResult<absl::Status> Poll(Context& cx) {
    if (frame_.has_value()) {
      absl::Status status = framed_->Feed(*std::exchange(frame_, std::nullopt));
      if (!status.ok()) {
        framed_ = nullptr;
        return status;
      }
    }
    if (framed_ == nullptr) internal::PanicFinished("Framed::Send()");
    auto status = flush_.Poll(cx);
    if (status.IsReady()) framed_ = nullptr;
    return status;
  }

 private:
  Framed* framed_;              // null when finished
  std::optional<Frame> frame_;  // null after the first poll
  FlushFuture flush_;
};

}  // namespace rouse

#endif  // ROUSE_IO_FRAMED_H_
