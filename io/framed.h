// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: framed.h
// -----------------------------------------------------------------------------
//
// A stream of bytes as a stream of frames: lines, messages, whatever a `Codec`
// (codec.h) makes of it.
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

// Framed
//
// Frames on an `S`, which it owns or, if `S` is a reference, refers to. Where
// `S` can only be read, or only be written, so can this. Movable, but not while
// a future of it lives. Not thread-safe: to read in one task and write in
// another, split the stream and make a `Framed` of each half.
//
// # Reading
//
// It is a `Stream` of `absl::StatusOr<Frame>`: `Next(framed)`. An error of the
// codec is about one frame, and the next item is the frame behind it. An error
// of the stream, and its end, is the last item before the end.
//
// No more is kept than the codec wants of an incomplete frame, and what is read
// at once: the limit is the codec's.
//
// # Cancelling
//
// Nothing is lost: a frame that has been read in part stays here, and so does
// one that has been written in part; the next `Send()` or `Flush()` goes on
// with it. Frames are never torn.
template <class S, class C>
class Framed {
  static_assert(Codec<C>);

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

  // The next frame. Takes a unit of the budget for each.
  PollResult<std::optional<absl::StatusOr<Frame>>> PollNext(
      Context& cx, Waiter* waiter = nullptr)
    requires AsyncRead<S>
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

  // Sends a frame, and all that `Feed()` was given before. Gives
  // `absl::Status`: of the codec, and then nothing is sent, or of the stream.
  // Where frames are strings, a `std::string_view` will do; it is copied.
  //
  // Destroying it before it was polled means that nothing is sent; later, the
  // rest stays here to be sent.
  template <class F>
    requires AsyncWrite<S> && (std::is_convertible_v<F &&, Frame> ||
                               (std::is_convertible_v<F &&, std::string_view> &&
                                std::is_constructible_v<Frame, F &&>))
  SendFuture Send(F&& frame) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendFuture(*this, Frame(std::forward<F>(frame)));
  }

  // Adds a frame to what the next `Flush()` or `Send()` sends. The codec's
  // error. It does not wait, and there is no limit: see `unsent()`.
  absl::Status Feed(const Frame& frame)
    requires AsyncWrite<S>
  {
    // There may always be something left to send: what has been sent goes when
    // it is the larger part.
    if (sent_ > out_.size() / 2) {
      out_.erase(0, sent_);
      sent_ = 0;
    }
    absl::Cleanup take_back = [this, size = out_.size()] { out_.resize(size); };
    absl::Status status = codec_.Encode(frame, out_);
    std::move(take_back).Cancel();
    return status;
  }

  // Sends what there is to be sent. Gives `absl::Status`.
  FlushFuture Flush() ABSL_ATTRIBUTE_LIFETIME_BOUND
    requires AsyncWrite<S>
  {
    return FlushFuture(*this);
  }

  // The same for futures of your own.
  PollResult<absl::Status> PollFlush(Context& cx, Waiter* waiter = nullptr)
    requires AsyncWrite<S>
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

  // How many bytes wait to be sent.
  size_t unsent() const { return out_.size() - sent_; }

  // What has been read and belongs to frames that are not complete, or have not
  // been asked for.
  std::string_view buffered() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return std::string_view(in_).substr(begin_, end_ - begin_);
  }

  C& codec() ABSL_ATTRIBUTE_LIFETIME_BOUND { return codec_; }

  // The stream. What is read or written directly is missing here.
  std::remove_reference_t<S>& stream() ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return stream_;
  }

  // Takes the stream out, to go on without frames. What is `buffered()` and
  // what is `unsent()` is lost.
  S IntoInner() && { return std::forward<S>(stream_); }

 private:
  enum class State { kReading, kAtEnd, kEnded };

  // At least so much is read at once, if there is.
  static constexpr size_t kReadSize = 4096;  // bytes
  // A buffer with nothing in it is no larger.
  static constexpr size_t kKeptSize = 65536;  // bytes

  static void Shrink(std::string& buffer) {
    if (buffer.capacity() > kKeptSize) buffer = std::string();
  }

  static absl::StatusOr<Frame> Error(absl::Status error) {
    return internal::ErrorFor<absl::StatusOr<Frame>>(std::move(error));
  }

  std::optional<absl::StatusOr<Frame>> DecodeOne() {
    std::string_view bytes = buffered();
    // Also if memory runs out: the codec knows what it has taken.
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

  // Behind what is buffered.
  absl::Span<char> Room() {
    if (begin_ == end_) {
      begin_ = 0;
      end_ = 0;
    }
    if (in_.size() - end_ < kReadSize) {
      // What has been taken goes first, so that it grows only with a frame.
      in_.erase(0, begin_);
      end_ -= begin_;
      begin_ = 0;
      if (in_.size() - end_ < kReadSize) {
        // By a part of what it has, so that a long frame is not copied often.
        in_.resize(end_ + kReadSize + end_ / 2);
      }
    }
    return absl::MakeSpan(in_).subspan(end_);
  }

  S stream_;
  C codec_;
  State state_ = State::kReading;

  // What has been read is from `begin_` to `end_`, and `incomplete_` if the
  // codec has said so.
  std::string in_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool incomplete_ = false;

  // What is to be written, but for the first `sent_` bytes.
  std::string out_;
  size_t sent_ = 0;
};

template <class S, class C>
Framed(S&&, C) -> Framed<S, C>;

// As all futures: polling one that is finished is a `Panic()`, and they may be
// moved until they are polled.
template <class S, class C>
class [[nodiscard]] Framed<S, C>::SendFuture {
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
  std::optional<Frame> frame_;  // until it is in the buffer
  FlushFuture flush_;
};

}  // namespace rouse

#endif  // ROUSE_IO_FRAMED_H_
