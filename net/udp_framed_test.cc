// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/udp_framed.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rouse/future/future.h"
#include "rouse/future/stream.h"
#include "rouse/io/codec/bytes_codec.h"
#include "rouse/io/length_codec.h"
#include "rouse/io/line_codec.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/udp_socket.h"
#include "rouse/reactor/reactor.h"
#include "rouse/testing/expect_panic.h"
#include "rouse/testing/internal/tcp_fixture.h"
#include "rouse/waker/context.h"

namespace rouse {
namespace {

using Lines = UdpFramed<UdpSocket&, LineCodec>;
static_assert(Stream<Lines>);
static_assert(Future<Lines::SendFuture>);

class UdpFramedTest : public TcpTest {
 protected:
  static UdpSocket Open() {
    return UdpSocket::Bind(SocketAddr::Localhost(0)).value();
  }
  void SendToB(std::string_view data) {
    ASSERT_TRUE(Run(a_.SendTo(data, b_addr_)).ok());
  }
  // Returns the next frame, or the name of its error's code.
  template <class F>
  std::string NextOf(F& framed) {
    const auto item = Run(Next(framed));
    if (!item->ok()) return absl::StatusCodeToString(item->status().code());
    EXPECT_EQ((*item)->second, a_addr_);
    return "'" + (*item)->first + "'";
  }

  UdpSocket a_ = Open();
  UdpSocket b_ = Open();
  SocketAddr a_addr_ = a_.local_addr().value();
  SocketAddr b_addr_ = b_.local_addr().value();
};

TEST_F(UdpFramedTest, AFrameArrivesWithItsSender) {
  UdpFramed sending(a_, LineCodec());
  UdpFramed receiving(b_, LineCodec());
  ASSERT_TRUE(Run(sending.Send("hello", b_addr_)).ok());
  EXPECT_EQ(NextOf(receiving), "'hello'");
}

TEST_F(UdpFramedTest, ADatagramCanHaveSeveralFrames) {
  UdpFramed framed(b_, LineCodec());
  SendToB("one\ntwo\nthree");
  SendToB("four");
  EXPECT_EQ(NextOf(framed), "'one'");
  EXPECT_EQ(NextOf(framed), "'two'");
  // A frame ends with its datagram.
  EXPECT_EQ(NextOf(framed), "'three'");
  EXPECT_EQ(NextOf(framed), "'four'");
}

TEST_F(UdpFramedTest, ADatagramWithoutAFrameIsPassedOver) {
  UdpFramed framed(b_, BytesCodec());
  SendToB("");
  SendToB("x");
  EXPECT_EQ(NextOf(framed), "'x'");
}

TEST_F(UdpFramedTest, AnErrorOfTheCodecConcernsOneFrame) {
  UdpFramed framed(b_, LengthCodec(4, 1));
  using namespace std::string_view_literals;
  SendToB("\1a\5bcdef\1g"sv);
  SendToB("\3h"sv);
  SendToB("\1i"sv);
  EXPECT_EQ(NextOf(framed), "'a'");
  EXPECT_EQ(NextOf(framed), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(NextOf(framed), "'g'");
  EXPECT_EQ(NextOf(framed), "OUT_OF_RANGE");
  EXPECT_EQ(NextOf(framed), "'i'");
}

TEST_F(UdpFramedTest, AnErrorOfTheSocketIsNotTheEnd) {
  ASSERT_TRUE(b_.Connect(a_addr_).ok());
  UdpSocket moved = std::move(a_);
  {
    const UdpSocket closed = std::move(moved);
  }
  ASSERT_TRUE(Run(b_.Send("x")).ok());
  UdpFramed framed(b_, LineCodec());
  EXPECT_EQ(NextOf(framed), "UNAVAILABLE");
  a_ = UdpSocket::Bind(a_addr_).value();
  SendToB("hello");
  EXPECT_EQ(NextOf(framed), "'hello'");
}

TEST_F(UdpFramedTest, TheLargestDatagramIsWhole) {
  UdpFramed framed(b_, BytesCodec());
  const std::string largest(65507, 'x');
  SendToB(largest);
  EXPECT_EQ(NextOf(framed), "'" + largest + "'");
}

TEST_F(UdpFramedTest, AFrameThatCannotBeSentIsAnError) {
  UdpFramed framed(a_, LineCodec());
  EXPECT_EQ(Run(framed.Send("a\nb", b_addr_)).code(),
            absl::StatusCode::kInvalidArgument);
  UdpFramed bytes(a_, BytesCodec());
  const absl::Status status =
      Run(bytes.Send(std::string(70'000, 'x'), b_addr_));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), b_addr_.ToString()));
}

TEST_F(UdpFramedTest, ADestroyedNextLosesNothing) {
  UdpFramed framed(b_, LineCodec());
  {
    auto next = Next(framed);
    ASSERT_TRUE(task_.Poll(next).IsPending());
    EXPECT_EQ(task_.live(), 1);
  }
  EXPECT_EQ(task_.live(), 0);
  SendToB("one\ntwo");
  EXPECT_EQ(NextOf(framed), "'one'");
  EXPECT_EQ(NextOf(framed), "'two'");
}

TEST_F(UdpFramedTest, ADestroyedSendHasSentNothing) {
  UdpFramed framed(a_, LineCodec());
  {
    auto send = framed.Send("lost", b_addr_);
  }
  ASSERT_TRUE(Run(framed.Send("sent", b_addr_)).ok());
  UdpFramed receiving(b_, LineCodec());
  EXPECT_EQ(NextOf(receiving), "'sent'");
}

TEST_F(UdpFramedTest, ManyFramesLetOtherTasksRun) {
  UdpFramed framed(b_, LineCodec());
  SendToB(std::string(1000, '\n'));
  EXPECT_EQ(NextOf(framed), "''");
  Context cx(task_.waker());
  size_t frames = 0;
  while (framed.PollNext(cx).IsReady()) ++frames;
  EXPECT_EQ(frames, kBudgetPerPoll);
  EXPECT_EQ(task_.wakes(), 1);
}

TEST_F(UdpFramedTest, OwnsAndReleasesItsSocket) {
  UdpFramed framed(std::move(b_), LineCodec(3));
  EXPECT_EQ(framed.socket().local_addr().value(), b_addr_);
  framed.codec() = LineCodec(100);
  SendToB("longer");
  EXPECT_EQ(NextOf(framed), "'longer'");
  const UdpSocket socket = std::move(framed).IntoInner();
  EXPECT_EQ(socket.local_addr().value(), b_addr_);
}

TEST_F(UdpFramedTest, PollingACompleteSendPanics) {
  UdpFramed framed(a_, LineCodec());
  auto send = framed.Send("x", b_addr_);
  ASSERT_TRUE(Run(send).ok());
  EXPECT_PANIC((void)task_.Poll(send), "UdpFramed::Send() was polled after");
}

}  // namespace
}  // namespace rouse
