// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests messages for the library itself, between the data: key updates and
// tickets.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/tls/engine/library.h"
#include "rouse/tls/tls_acceptor.h"
#include "rouse/tls/tls_connector.h"
#include "rouse/tls/tls_fixture.h"
#include "rouse/tls/tls_stream.h"
#include "rouse/tls/tls_version.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using absl_testing::IsOk;
using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Versions, TlsVersionTest,
                         ::testing::Values(TlsVersion::k1_2, TlsVersion::k1_3),
                         &NameOfVersion);

TEST_P(TlsVersionTest, UpdatesKeys) {
  auto [client, server] = Connected();
  Exchange(client, server);
  if (GetParam() == TlsVersion::k1_2) {
    EXPECT_THAT(
        client.UpdateKeys(),
        StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("TLS 1.2")));
    Exchange(client, server);
    return;
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(client.UpdateKeys(), IsOk());
    if (i % 2 == 0) {
      EXPECT_THAT(server.UpdateKeys(), IsOk());
    }
    Exchange(client, server);
  }
  // Another call before the write changes nothing, also if the peer has asked
  // for the change.
  EXPECT_THAT(client.UpdateKeys(), IsOk());
  EXPECT_THAT(client.UpdateKeys(), IsOk());
  ASSERT_THAT(Run(WriteAll(client, "twice")), IsOk());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("twice"));
  EXPECT_THAT(server.UpdateKeys(), IsOk());
  Exchange(client, server);
  // Also while bytes are waiting.
  client.stream().faults()->allowance = 10;
  ASSERT_THAT(Run(WriteAll(client, "first")), IsOk());
  EXPECT_THAT(client.UpdateKeys(), IsOk());
  client.stream().Allow(100000);
  ASSERT_THAT(Run(WriteAll(client, "second")), IsOk());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("firstsecond"));
  Exchange(client, server);
  // A shutdown sends the update first, and the reader's answer to the peer's
  // update does not follow close_notify.
  EXPECT_THAT(client.UpdateKeys(), IsOk());
  EXPECT_THAT(Run(Shutdown(client)), IsOk());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds(""));
  EXPECT_THAT(server.UpdateKeys(), IsOk());
  ASSERT_THAT(Run(WriteAll(server, "last")), IsOk());
  const int writes = client.stream().faults()->writes;
  EXPECT_THAT(ReadSome(client), IsOkAndHolds("last"));
  EXPECT_EQ(client.stream().faults()->writes, writes);
}

#ifndef OPENSSL_IS_BORINGSSL
// A client over a stream of which the test passes on the bytes, so that the
// client can have a part of what the server has sent.
class TlsMessagesTest : public TlsTest {
 protected:
  TlsMessagesTest() {
    // A ticket contains the certificate, and needs several records.
    const TlsAcceptor server = ServerBuilder()
                                   .AddRoots(authority_.pem())
                                   .RequireClientCertificate()
                                   .Build()
                                   .value();
    SSL_CTX_set_max_send_fragment(server.ssl_ctx(), 512);
    SSL_CTX_set_num_tickets(server.ssl_ctx(), 1);
    const TlsConnector connector =
        ClientBuilder()
            .Certificate(identity_.chain, identity_.key)
            .Build()
            .value();
    auto [near, client_wire] = Duplex(1 << 16);
    auto [far, server_wire] = Duplex(1 << 16);
    client_wire_ = std::move(client_wire);
    server_wire_ = std::move(server_wire);
    auto connect =
        connector.Connect("example.com", TestStream(std::move(near)));
    auto accept = server.Accept(TestStream(std::move(far)));
    bool has_connected = false;
    while (!has_connected || !server_.has_value()) {
      if (!has_connected) {
        auto connected = Poll(connect);
        has_connected = connected.IsReady();
        if (has_connected) client_ = *std::move(*connected);
      }
      Pass(*client_wire_, *server_wire_);
      if (!server_.has_value()) {
        auto accepted = Poll(accept);
        if (accepted.IsReady()) server_ = *std::move(*accepted);
      }
      // The ticket stays in the wire.
      if (!server_.has_value()) Pass(*server_wire_, *client_wire_);
    }
  }

  // Passes on at most `most` bytes. Returns how many.
  size_t Pass(DuplexStream& from, DuplexStream& to, size_t most = 1 << 16) {
    std::string bytes(most, '\0');
    auto read = Read(from, absl::MakeSpan(bytes));
    auto result = Poll(read);
    if (result.IsPending()) return 0;
    bytes.resize(result->value());
    EXPECT_THAT(Run(WriteAll(to, bytes)), IsOk());
    return bytes.size();
  }
  // Has the client receive the first record of the ticket.
  void ReceiveHalfOfTheTicket() {
    EXPECT_EQ(Pass(*server_wire_, *client_wire_, 560), 560u);
    char buffer[16];
    auto read = Read(*client_, absl::MakeSpan(buffer));
    EXPECT_TRUE(Poll(read).IsPending());
    EXPECT_EQ(SSL_in_init(client_->ssl()), 1);
  }

  CountingWaker reader_, writer_;
  std::optional<DuplexStream> client_wire_;
  std::optional<DuplexStream> server_wire_;
  std::optional<Stream> client_;
  std::optional<Stream> server_;
};

TEST_F(TlsMessagesTest, AWriteReceivesTheRestOfAMessage) {
  ReceiveHalfOfTheTicket();
  auto write = Write(*client_, "hello");
  EXPECT_TRUE(Poll(write).IsPending());
  EXPECT_EQ(Pass(*client_wire_, *server_wire_), 0u);
  const int wakes = task_.wakes();
  EXPECT_GT(Pass(*server_wire_, *client_wire_), 0u);
  EXPECT_GT(task_.wakes(), wakes);
  EXPECT_THAT(*Poll(write), IsOkAndHolds(5));
  EXPECT_GT(Pass(*client_wire_, *server_wire_), 0u);
  EXPECT_THAT(ReadSome(*server_), IsOkAndHolds("hello"));
}

TEST_F(TlsMessagesTest, AWriteThatWaitsForAMessageCanBeDestroyed) {
  ReceiveHalfOfTheTicket();
  for (const std::string_view data : {"one", "another"}) {
    auto write = Write(*client_, data);
    EXPECT_TRUE(Poll(write).IsPending());
  }
  ASSERT_THAT(Run(WriteAll(*server_, "greeting")), IsOk());
  EXPECT_GT(Pass(*server_wire_, *client_wire_), 0u);
  EXPECT_THAT(ReadSome(*client_), IsOkAndHolds("greeting"));
  ASSERT_THAT(Run(WriteAll(*client_, "hello")), IsOk());
  EXPECT_GT(Pass(*client_wire_, *server_wire_), 0u);
  EXPECT_THAT(ReadSome(*server_), IsOkAndHolds("hello"));
}

TEST_F(TlsMessagesTest, AReaderOfAnotherTaskReceivesTheRestForAWriter) {
  ReceiveHalfOfTheTicket();
  char buffer[16];
  auto read = Read(*client_, absl::MakeSpan(buffer));
  EXPECT_TRUE(reader_.Poll(read).IsPending());
  auto write = Write(*client_, "hello");
  EXPECT_TRUE(writer_.Poll(write).IsPending());
  // The writer's poll has replaced the reader's waker.
  EXPECT_EQ(reader_.wakes(), 1);
  EXPECT_TRUE(reader_.Poll(read).IsPending());
  EXPECT_EQ(writer_.wakes(), 0);
  EXPECT_GT(Pass(*server_wire_, *client_wire_), 0u);
  EXPECT_EQ(reader_.wakes(), 2);
  EXPECT_EQ(writer_.wakes(), 0);
  EXPECT_TRUE(reader_.Poll(read).IsPending());
  EXPECT_EQ(writer_.wakes(), 1);
  EXPECT_THAT(*writer_.Poll(write), IsOkAndHolds(5));
}

TEST_F(TlsMessagesTest, AWriterDoesNotWaitForAReaderThatIsGone) {
  ReceiveHalfOfTheTicket();
  {
    char buffer[16];
    auto read = Read(*client_, absl::MakeSpan(buffer));
    EXPECT_TRUE(reader_.Poll(read).IsPending());
  }
  auto write = Write(*client_, "hello");
  EXPECT_TRUE(writer_.Poll(write).IsPending());
  EXPECT_GT(Pass(*server_wire_, *client_wire_), 0u);
  EXPECT_EQ(writer_.wakes(), 1);
  EXPECT_THAT(*writer_.Poll(write), IsOkAndHolds(5));
}

TEST_F(TlsMessagesTest, AReaderGetsDataThatAWriterHasReceived) {
  ReceiveHalfOfTheTicket();
  char buffer[16];
  auto read = Read(*client_, absl::MakeSpan(buffer));
  EXPECT_TRUE(reader_.Poll(read).IsPending());
  // The writer finds the rest and the data together.
  ASSERT_THAT(Run(WriteAll(*server_, "greeting")), IsOk());
  EXPECT_GT(Pass(*server_wire_, *client_wire_), 0u);
  const int wakes = reader_.wakes();
  auto write = Write(*client_, "hello");
  EXPECT_THAT(*writer_.Poll(write), IsOkAndHolds(5));
  EXPECT_GT(reader_.wakes(), wakes);
  EXPECT_THAT(*reader_.Poll(read), IsOkAndHolds(8));
}

TEST_F(TlsMessagesTest, AWriteReturnsTheErrorOfTheEndInAMessage) {
  ReceiveHalfOfTheTicket();
  auto write = Write(*client_, "hello");
  EXPECT_TRUE(Poll(write).IsPending());
  ASSERT_THAT(Run(Shutdown(*client_wire_)), IsOk());
  EXPECT_THAT(Run(write), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(ReadSome(*client_), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(TlsMessagesTest, ShutdownReceivesTheRestOfAMessage) {
  ReceiveHalfOfTheTicket();
  EXPECT_GT(Pass(*server_wire_, *client_wire_), 0u);
  EXPECT_THAT(Run(Shutdown(*client_)), IsOk());
  EXPECT_GT(Pass(*client_wire_, *server_wire_), 0u);
  EXPECT_THAT(ReadSome(*server_), IsOkAndHolds(""));
}

TEST_F(TlsMessagesTest, AShutdownWaitsForTheRestOfAMessage) {
  ReceiveHalfOfTheTicket();
  auto shutdown = Shutdown(*client_);
  EXPECT_TRUE(Poll(shutdown).IsPending());
  EXPECT_EQ(Pass(*client_wire_, *server_wire_), 0u);
  const int wakes = task_.wakes();
  EXPECT_GT(Pass(*server_wire_, *client_wire_), 0u);
  EXPECT_GT(task_.wakes(), wakes);
  EXPECT_THAT(*Poll(shutdown), IsOk());
  EXPECT_GT(Pass(*client_wire_, *server_wire_), 0u);
  EXPECT_THAT(ReadSome(*server_), IsOkAndHolds(""));
}

TEST_F(TlsMessagesTest, AShutdownThatWaitsForAMessageCanBeDestroyed) {
  ReceiveHalfOfTheTicket();
  {
    auto shutdown = Shutdown(*client_);
    EXPECT_TRUE(Poll(shutdown).IsPending());
  }
  EXPECT_GT(Pass(*server_wire_, *client_wire_), 0u);
  ASSERT_THAT(Run(WriteAll(*client_, "hello")), IsOk());
  EXPECT_GT(Pass(*client_wire_, *server_wire_), 0u);
  EXPECT_THAT(ReadSome(*server_), IsOkAndHolds("hello"));
}

// A peer may send the rest only after the bytes that are waiting.
TEST_F(TlsMessagesTest, AShutdownThatWaitsForAMessageSendsTheBytesThatWait) {
  client_->stream().faults()->allowance = 10;
  ASSERT_THAT(Run(WriteAll(*client_, "hello")), IsOk());
  ReceiveHalfOfTheTicket();
  client_->stream().Allow(100000);
  auto shutdown = Shutdown(*client_);
  EXPECT_TRUE(Poll(shutdown).IsPending());
  EXPECT_GT(Pass(*client_wire_, *server_wire_), 0u);
  EXPECT_THAT(ReadSome(*server_), IsOkAndHolds("hello"));
  EXPECT_GT(Pass(*server_wire_, *client_wire_), 0u);
  EXPECT_THAT(*Poll(shutdown), IsOk());
}

TEST_F(TlsMessagesTest, AReaderOfAnotherTaskReceivesTheRestForAShutdown) {
  ReceiveHalfOfTheTicket();
  char buffer[16];
  auto read = Read(*client_, absl::MakeSpan(buffer));
  EXPECT_TRUE(reader_.Poll(read).IsPending());
  auto shutdown = Shutdown(*client_);
  EXPECT_TRUE(writer_.Poll(shutdown).IsPending());
  EXPECT_EQ(reader_.wakes(), 1);
  EXPECT_TRUE(reader_.Poll(read).IsPending());
  EXPECT_GT(Pass(*server_wire_, *client_wire_), 0u);
  EXPECT_TRUE(reader_.Poll(read).IsPending());
  EXPECT_EQ(writer_.wakes(), 1);
  EXPECT_THAT(*writer_.Poll(shutdown), IsOk());
}

TEST_F(TlsMessagesTest, AShutdownReturnsTheErrorOfTheEndInAMessage) {
  ReceiveHalfOfTheTicket();
  auto shutdown = Shutdown(*client_);
  EXPECT_TRUE(Poll(shutdown).IsPending());
  ASSERT_THAT(Run(Shutdown(*client_wire_)), IsOk());
  EXPECT_THAT(Run(shutdown), StatusIs(absl::StatusCode::kDataLoss));
  // The stream below is closed all the same.
  EXPECT_EQ(client_->stream().faults()->shutdowns, 1);
}

TEST_F(TlsMessagesTest, AFloodOfTicketsDoesNotHoldThePoll) {
  auto [client, server] = Connected(1 << 20);
  Exchange(client, server);
  constexpr size_t kTickets = 2000;
  for (size_t i = 0; i < kTickets; ++i) {
    ASSERT_EQ(SSL_new_session_ticket(server.ssl()), 1);
  }
  ASSERT_THAT(Run(WriteAll(server, "data")), IsOk());
  ASSERT_THAT(Run(Flush(server)), IsOk());
  char buffer[16];
  auto read = Read(client, absl::MakeSpan(buffer));
  int polls = 0;
  for (;; ++polls) {
    const size_t received = client.stream().faults()->received;
    const int wakes = task_.wakes();
    const auto result = Poll(read);
    EXPECT_LE(client.stream().faults()->received - received, 128u << 10);
    if (result.IsReady()) {
      EXPECT_THAT(*result, IsOkAndHolds(4));
      break;
    }
    // Other tasks run, and then this one again.
    ASSERT_EQ(task_.wakes(), wakes + 1);
  }
  EXPECT_GE(polls, 3);
}

TEST_F(TlsMessagesTest, APeerThatReadsNoAnswersIsRefused) {
  auto [client, server] = Connected();
  Exchange(client, server);
  client.stream().faults()->allowance = 0;
  absl::Status refused;
  int updates = 0;
  for (; refused.ok() && updates < 10000; ++updates) {
    ASSERT_THAT(server.UpdateKeys(), IsOk());
    ASSERT_THAT(Run(WriteAll(server, "x")), IsOk());
    refused = ReadSome(client).status();
  }
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kAborted,
                                AllOf(HasSubstr("\"example.com\""),
                                      HasSubstr("does not read"))));
  // An answer has 27 bytes.
  EXPECT_GT(updates, 2000);
  EXPECT_LT(updates, 3000);
}
#endif  // OPENSSL_IS_BORINGSSL

}  // namespace
}  // namespace rouse
