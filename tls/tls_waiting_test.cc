// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests reads and writes that wait, that are destroyed while they wait, and
// that wake each other.

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/or_return.h"
#include "rouse/io/adapt/locked_split.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/counting_waker.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/testing/internal/some_bytes.h"
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
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Versions, TlsVersionTest,
                         ::testing::Values(TlsVersion::k1_2, TlsVersion::k1_3),
                         &NameOfVersion);

TEST_P(TlsVersionTest, ADestroyedWriteHasWrittenNothing) {
  auto [client, server] = Connected(2000);
  // Fills the stream, so that a part of the record is left.
  const std::string block = SomeBytes(10000);
  EXPECT_THAT(Run(Write(client, block)), IsOkAndHolds(10000));
  for (int i = 0; i < 3; ++i) {
    auto write = Write(client, "this is never sent");
    EXPECT_TRUE(Poll(write).IsPending());
  }
  std::string received(block.size(), '\0');
  auto both = Join(WriteAll(client, "end"),
                   ReadExact(server, absl::MakeSpan(received)));
  auto [wrote, read] = Run(both);
  ASSERT_THAT(wrote, IsOk());
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE(received == block);
  ASSERT_THAT(Run(Flush(client)), IsOk());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("end"));
}

TEST_P(TlsVersionTest, ADestroyedReadHasReadNothing) {
  auto [client, server] = Connected();
  for (int i = 0; i < 3; ++i) {
    char buffer[16];
    auto read = Read(server, absl::MakeSpan(buffer));
    EXPECT_TRUE(Poll(read).IsPending());
    // Half of a record has arrived.
    if (i == 0) {
      client.stream().faults()->allowance = 10;
      ASSERT_THAT(Run(WriteAll(client, "hello")), IsOk());
    }
  }
  client.stream().Allow(1000);
  ASSERT_THAT(Run(Flush(client)), IsOk());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("hello"));
}

TEST_P(TlsVersionTest, AWriteLeavesNothingBehindIfTheStreamCanTakeMore) {
  auto [client, server] = Connected();
  // The stream takes a part of a record at a time, but never refuses.
  client.stream().faults()->most = 100;
  const std::string data(5000, 'x');
  ASSERT_THAT(Run(WriteAll(client, data)), IsOk());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds(data));
  // Nothing is left for a flush.
  const int writes = client.stream().faults()->writes;
  EXPECT_THAT(Run(Flush(client)), IsOk());
  EXPECT_EQ(client.stream().faults()->writes, writes);
}

TEST_P(TlsVersionTest, AWriteLeavesTheRestBehindIfTheStreamIsFull) {
  auto [client, server] = Connected();
  client.stream().faults()->most = 100;
  client.stream().faults()->allowance = 250;
  ASSERT_THAT(Run(WriteAll(client, std::string(1000, 'x'))), IsOk());
  EXPECT_EQ(client.stream().faults()->allowance, 0u);
  client.stream().Allow(10000);
  EXPECT_THAT(Run(Flush(client)), IsOk());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds(std::string(1000, 'x')));
}

TEST_P(TlsVersionTest, FlushSendsWhatTheStreamHasNotTaken) {
  auto [client, server] = Connected();
  client.stream().faults()->allowance = 10;
  ASSERT_THAT(Run(WriteAll(client, "hello")), IsOk());
  auto flush = Flush(client);
  EXPECT_TRUE(Poll(flush).IsPending());
  const int wakes = task_.wakes();
  client.stream().Allow(1000);
  EXPECT_EQ(task_.wakes(), wakes + 1);
  EXPECT_THAT(Run(flush), IsOk());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("hello"));
}

TEST_P(TlsVersionTest, AReadThatWaitsSendsWhatTheStreamHasNotTaken) {
  auto [client, server] = Connected();
  client.stream().faults()->allowance = 10;
  ASSERT_THAT(Run(WriteAll(client, "question")), IsOk());
  char buffer[16];
  auto read = Read(client, absl::MakeSpan(buffer));
  EXPECT_TRUE(Poll(read).IsPending());
  const int wakes = task_.wakes();
  client.stream().Allow(1000);
  EXPECT_GT(task_.wakes(), wakes);
  EXPECT_TRUE(Poll(read).IsPending());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("question"));
}

TEST_P(TlsVersionTest, AReaderDoesNotTakeTheWakeOfAWriter) {
  CountingWaker writer, reader;
  auto [client, server] = Connected();
  client.stream().faults()->allowance = 10;
  ASSERT_THAT(Run(WriteAll(client, "first")), IsOk());
  auto write = Write(client, "second");
  EXPECT_TRUE(writer.Poll(write).IsPending());
  char buffer[16];
  auto read = Read(client, absl::MakeSpan(buffer));
  EXPECT_TRUE(reader.Poll(read).IsPending());
  EXPECT_TRUE(reader.Poll(read).IsPending());
  EXPECT_EQ(writer.wakes(), 0);
  client.stream().Allow(1000);
  EXPECT_EQ(writer.wakes(), 1);
  EXPECT_EQ(reader.wakes(), 0);
  EXPECT_THAT(*writer.Poll(write), IsOkAndHolds(6));
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("firstsecond"));
  ASSERT_THAT(Run(WriteAll(server, "answer")), IsOk());
  EXPECT_EQ(reader.wakes(), 1);
  EXPECT_EQ(writer.wakes(), 1);
  EXPECT_THAT(*reader.Poll(read), IsOkAndHolds(6));
}

TEST_P(TlsVersionTest, AReadSendsTheRestAfterAWriteOfTheTaskWasDestroyed) {
  auto [client, server] = Connected();
  client.stream().faults()->allowance = 10;
  ASSERT_THAT(Run(WriteAll(client, "question")), IsOk());
  {
    auto write = Write(client, "destroyed");
    EXPECT_TRUE(Poll(write).IsPending());
  }
  char buffer[16];
  auto read = Read(client, absl::MakeSpan(buffer));
  EXPECT_TRUE(Poll(read).IsPending());
  client.stream().Allow(1000);
  EXPECT_TRUE(Poll(read).IsPending());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("question"));
}

TEST_P(TlsVersionTest, AWriterThatLeavesBytesHasTheWaitingReaderSendThem) {
  CountingWaker reader;
  auto [client, server] = Connected();
  char buffer[16];
  auto read = Read(client, absl::MakeSpan(buffer));
  EXPECT_TRUE(reader.Poll(read).IsPending());
  client.stream().faults()->allowance = 10;
  // The writer goes away without a flush.
  ASSERT_THAT(Run(WriteAll(client, "question")), IsOk());
  EXPECT_EQ(reader.wakes(), 1);
  EXPECT_TRUE(reader.Poll(read).IsPending());
  client.stream().Allow(1000);
  EXPECT_EQ(reader.wakes(), 2);
  EXPECT_TRUE(reader.Poll(read).IsPending());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("question"));
}

TEST_P(TlsVersionTest, AReaderThatAddsBytesWakesTheWaitingWriter) {
  CountingWaker writer;
  auto [client, server] = Connected();
  client.stream().faults()->allowance = 10;
  ASSERT_THAT(Run(WriteAll(client, "first")), IsOk());
  auto flush = Flush(client);
  EXPECT_TRUE(writer.Poll(flush).IsPending());
  // Garbage, which the reader answers with an alert.
  ASSERT_THAT(Run(WriteAll(server.stream().inner(), "garbage!")), IsOk());
  EXPECT_FALSE(ReadSome(client).ok());
  EXPECT_EQ(writer.wakes(), 1);
  client.stream().Allow(1000);
  EXPECT_THAT(*writer.Poll(flush), IsOk());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("first"));
  // The alert of the client. In the view of OpenSSL, the version was wrong.
  EXPECT_THAT(ReadSome(server), StatusIs(absl::StatusCode::kFailedPrecondition,
                                         HasSubstr("the client")));
}

TEST_P(TlsVersionTest, HalvesMoveBytesBothWays) {
  auto [client, server] = Connected(5000);
  auto [client_reader, client_writer] = SplitLocked(std::move(client));
  auto [server_reader, server_writer] = SplitLocked(std::move(server));
  const std::string there = SomeBytes(300000), back = SomeBytes(200000);
  std::string got_there, got_back;
  auto send = [](LockedWriteHalf<Stream>& writer,
                 std::string_view bytes) -> Co<> {
    EXPECT_THAT(co_await WriteAll(writer, bytes), IsOk());
    EXPECT_THAT(co_await Shutdown(writer), IsOk());
  };
  auto all = Join(send(client_writer, there), send(server_writer, back),
                  ReadToEnd(server_reader, got_there),
                  ReadToEnd(client_reader, got_back));
  auto results = Run(all);
  EXPECT_THAT(std::get<2>(results), IsOk());
  EXPECT_THAT(std::get<3>(results), IsOk());
  EXPECT_TRUE(got_there == there);
  EXPECT_TRUE(got_back == back);
}

Co<absl::Status> TalkAsClient(TlsConnector connector, TestStream stream) {
  auto handshake = connector.Connect("example.com", std::move(stream));
  TlsStream<TestStream> tls = co_await OrReturn(std::move(handshake));
  co_await OrReturn(WriteAll(tls, std::string(1000, 'q')));
  if (tls.version() == TlsVersion::k1_3) co_await OrReturn(tls.UpdateKeys());
  co_await OrReturn(WriteAll(tls, "end"));
  co_await OrReturn(Flush(tls));
  std::string answer;
  co_await OrReturn(ReadToEnd(tls, answer));
  co_return co_await Shutdown(tls);
}

Co<absl::Status> TalkAsServer(TlsAcceptor acceptor, TestStream stream) {
  auto handshake = acceptor.Accept(std::move(stream));
  TlsStream<TestStream> tls = co_await OrReturn(std::move(handshake));
  std::string question(1003, '\0');
  co_await OrReturn(ReadExact(tls, absl::MakeSpan(question)));
  co_await OrReturn(WriteAll(tls, question));
  co_await OrReturn(Shutdown(tls));
  co_return (co_await ReadToEnd(tls, question)).status();
}

TEST_P(TlsVersionTest, TasksCanBeDestroyedAtEachAwait) {
  const TlsConnector connector =
      ClientBuilder().MaxVersion(GetParam()).Build().value();
  const TlsAcceptor acceptor = Server();
  bool is_complete = false;
  int polls = 0;
  for (; !is_complete; ++polls) {
    auto [a, b] = Duplex(300);
    std::optional client(TalkAsClient(connector, TestStream(std::move(a))));
    std::optional server(TalkAsServer(acceptor, TestStream(std::move(b))));
    bool is_client_done = false, is_server_done = false;
    for (int i = 0; i < polls; ++i) {
      if (!is_client_done) {
        const auto result = Poll(*client);
        is_client_done = result.IsReady();
        if (is_client_done) {
          EXPECT_THAT(*result, IsOk());
        }
      }
      if (!is_server_done) {
        const auto result = Poll(*server);
        is_server_done = result.IsReady();
        if (is_server_done) {
          EXPECT_THAT(*result, IsOk());
        }
      }
    }
    is_complete = is_client_done && is_server_done;
    // The end that is left finds that the other end is missing.
    if (polls % 2 == 0) {
      client.reset();
      if (!is_server_done && !is_client_done) {
        EXPECT_FALSE(Run(*server).ok());
      }
    } else {
      server.reset();
      if (!is_client_done && !is_server_done) {
        EXPECT_FALSE(Run(*client).ok());
      }
    }
  }
  EXPECT_GT(polls, 10);
}

TEST_P(TlsVersionTest, AnIdleConnectionWorksAfterItsBuffersAreFreed) {
  auto [client, server] = Connected();
  for (int i = 0; i < 3; ++i) {
    Exchange(client, server);
    char buffer[16];
    auto read = Read(client, absl::MakeSpan(buffer));
    EXPECT_TRUE(Poll(read).IsPending());
  }
}

}  // namespace
}  // namespace rouse
