// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: udp_framed.h
// -----------------------------------------------------------------------------
//
// Frames in datagrams, by a `Codec` (rouse/io/codec.h):
//
//   rouse::UdpFramed frames(std::move(socket), rouse::BytesCodec());
//   while (auto item = co_await rouse::Next(frames)) {
//     co_await rouse::OrReturn(item->status());
//     auto& [frame, peer] = **item;
//     co_await rouse::OrReturn(frames.Send(std::move(frame), peer));
//   }

#ifndef ROUSE_NET_UDP_FRAMED_H_
#define ROUSE_NET_UDP_FRAMED_H_

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
#include "rouse/io/codec.h"
#include "rouse/io/fd/io_future.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/udp_socket.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {

// UdpFramed
//
// Frames on an `S`, which is a `UdpSocket` or a reference to a `UdpSocket`. The
// `UdpFramed` owns the socket or refers to it. Movable, except while a future
// of the `UdpFramed` exists. Not thread-safe. The constructor allocates a
// buffer for the largest datagram, once.
//
// # Receiving
//
// A `UdpFramed` is a `Stream` of `absl::StatusOr` of a frame with its sender,
// read with `Next(framed)`. The codec gets each datagram as a stream of its
// own, which ends with the datagram: a datagram can contain several frames, or
// none, and a frame never consists of several datagrams. Bytes that belong to
// no frame are dropped.
//
// An error of the codec concerns a single frame. An error of the socket, such
// as an ICMP error, concerns an earlier datagram. Neither is the end: the next
// item is the frame behind it. The stream has no end, but returns Unavailable
// again and again after the reactor has been shut down.
//
// Cancellation: nothing is lost when a future of `Next()` is destroyed.
template <class S, class C>
class UdpFramed {
  static_assert(std::is_same_v<std::remove_const_t<std::remove_reference_t<S>>,
                               UdpSocket>,
                "UdpFramed takes a UdpSocket");
  static_assert(Decoder<C> || Encoder<C>);

 public:
  using Frame = typename C::Frame;
  using Waiter = UdpSocket::Waiter;

  class SendFuture;

  explicit UdpFramed(S&& socket, C codec = C())
      : socket_(std::forward<S>(socket)),
        codec_(std::move(codec)),
        buffer_(std::make_unique_for_overwrite<char[]>(kMaxDatagram)) {}

  // Returns the next frame with its sender. Takes a unit of the budget for each
  // frame and each datagram.
  PollResult<std::optional<absl::StatusOr<std::pair<Frame, SocketAddr>>>>
  PollNext(Context& cx, Waiter* waiter = nullptr)
    requires Decoder<C>
  {
    using Item = std::optional<absl::StatusOr<std::pair<Frame, SocketAddr>>>;
    for (;;) {
      if (has_datagram_) {
        PollResult<BudgetUnit> unit = PollProceed(cx);
        if (unit.IsPending()) return kPending;
        unit->MadeProgress();
        absl::StatusOr<std::optional<Frame>> frame = DecodeOne();
        if (!frame.ok()) return Item(std::move(frame).status());
        if (frame->has_value()) {
          return Item(std::pair<Frame, SocketAddr>(**std::move(frame), peer_));
        }
        has_datagram_ = false;
      }
      auto received = socket_.PollRecvFrom(
          cx, absl::MakeSpan(buffer_.get(), kMaxDatagram), waiter);
      if (received.IsPending()) return kPending;
      if (!received->ok()) return Item((*std::move(received)).status());
      left_ = std::string_view(buffer_.get(), (*received)->size);
      peer_ = (*received)->peer;
      has_datagram_ = true;
    }
  }

  // Sends `frame` to `to` as one datagram. If frames are strings, a
  // `std::string_view` can be passed; it is copied.
  //
  // Returns a future of `absl::Status`: an error of the codec, in which case
  // nothing is sent, or an error of the socket; see `UdpSocket`.
  //
  // Cancellation: if the future is destroyed before it is ready, nothing has
  // been sent, and the frame is lost.
  template <class F>
    requires Encoder<C> && std::is_constructible_v<Frame, F&&>
  SendFuture Send(F&& frame,
                  const SocketAddr& to) ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return SendFuture(*this, Frame(std::forward<F>(frame)), to);
  }

  // Returns the codec, for example to change its options between frames.
  C& codec() ABSL_ATTRIBUTE_LIFETIME_BOUND { return codec_; }

  // Returns the socket.
  const UdpSocket& socket() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return socket_;
  }

  // Takes the socket out. The frames of the last datagram that have not been
  // asked for are lost.
  S IntoInner() && { return std::forward<S>(socket_); }

 private:
  // The size of the largest possible datagram, so that none is truncated.
  static constexpr size_t kMaxDatagram = 65536;  // bytes

  absl::StatusOr<std::optional<Frame>> DecodeOne() {
    std::string_view bytes = left_;
    // Also runs if memory runs out, because the codec knows which bytes have
    // been taken.
    const absl::Cleanup advance = [this, &bytes] { left_ = bytes; };
    return codec_.DecodeEnd(bytes);
  }

  S socket_;
  C codec_;
  std::unique_ptr<char[]> buffer_;
  // The last datagram, and the part of it that the codec has not taken.
  bool has_datagram_ = false;
  SocketAddr peer_;
  std::string_view left_;
};

template <class S, class C>
UdpFramed(S&&, C) -> UdpFramed<S, C>;

// Like all futures, a `SendFuture` panics if polled after it was ready, and can
// be moved until its first poll.
template <class S, class C>
class [[nodiscard]] UdpFramed<S, C>::SendFuture {
 public:
  SendFuture(UdpFramed& framed, Frame frame, const SocketAddr& to)
      : framed_(&framed), frame_(std::move(frame)), to_(to) {}

  PollResult<absl::Status> Poll(Context& cx) {
    if (framed_ == nullptr) internal::PanicFinished("UdpFramed::Send()");
    if (frame_.has_value()) {
      absl::Status status = framed_->codec_.Encode(*frame_, datagram_);
      if (!status.ok()) return Finish(std::move(status));
      frame_.reset();
    }
    auto size = framed_->socket_.PollSendTo(cx, datagram_, to_, &waiter_);
    if (size.IsPending()) return kPending;
    return Finish(std::move(*size).status());
  }

 private:
  absl::Status Finish(absl::Status status) {
    framed_ = nullptr;
    return status;
  }

  UdpFramed* framed_;           // null when finished
  std::optional<Frame> frame_;  // null when encoded
  std::string datagram_;
  SocketAddr to_;
  Waiter waiter_;
};

}  // namespace rouse

#endif  // ROUSE_NET_UDP_FRAMED_H_
