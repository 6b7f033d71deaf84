// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/tls/tls_stream.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/future/or_return.h"
#include "rouse/io/adapt/locked_split.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
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
#include "rouse/tls/engine/library.h"
#include "rouse/tls/tls_acceptor.h"
#include "rouse/tls/tls_connector.h"
#include "rouse/tls/tls_fixture.h"
#include "rouse/tls/tls_version.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"

namespace rouse {
namespace {

using absl_testing::IsOk;
using absl_testing::IsOkAndHolds;
using absl_testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

static_assert(AsyncRead<TlsStream<DuplexStream>>);
static_assert(AsyncWrite<TlsStream<DuplexStream>>);
static_assert(AsyncRead<TlsStream<TlsStream<DuplexStream>>>);

class TlsStreamTest : public TlsTest,
                      public ::testing::WithParamInterface<TlsVersion> {
 protected:
  // A connection of the version that is tested.
  std::pair<Stream, Stream> Connected(size_t capacity = 1 << 16) {
    return TlsTest::Connected(
        ClientBuilder().MaxVersion(GetParam()).Build().value(), Server(),
        capacity);
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, TlsStreamTest,
                         ::testing::Values(TlsVersion::k1_2, TlsVersion::k1_3),
                         [](const auto& info) {
                           return info.param == TlsVersion::k1_2 ? "Tls12"
                                                                 : "Tls13";
                         });

TEST_P(TlsStreamTest, MovesBytesOfEverySize) {
  auto [client, server] = Connected(1 << 20);
  for (const size_t size : {1, 2, 16383, 16384, 16385, 65536, 65537, 300000}) {
    SCOPED_TRACE(size);
    const std::string sent = SomeBytes(size);
    std::string received(size, '\0');
    auto both = Join(WriteAll(client, sent),
                     ReadExact(server, absl::MakeSpan(received)));
    auto [wrote, read] = Run(both);
    ASSERT_THAT(wrote, IsOk());
    ASSERT_THAT(read, IsOk());
    EXPECT_TRUE(received == sent);
  }
}

TEST_P(TlsStreamTest, MovesBytesInPiecesOfEverySize) {
  for (const size_t most : {1, 7, 5000}) {
    for (const bool in_turns : {false, true}) {
      auto [client, server] = Connected(997);
      for (Stream* end : {&client, &server}) {
        end->stream().faults()->most = most;
        end->stream().faults()->in_turns = in_turns;
      }
      const std::string sent = SomeBytes(20000);
      std::string received;
      auto send = [](Stream& stream, std::string_view bytes) -> Co<> {
        EXPECT_THAT(co_await WriteAll(stream, bytes), IsOk());
        EXPECT_THAT(co_await Shutdown(stream), IsOk());
      };
      auto both = Join(send(client, sent), ReadToEnd(server, received));
      auto result = Run(both);
      ASSERT_THAT(std::get<1>(result), IsOk());
      EXPECT_TRUE(received == sent);
    }
  }
}

TEST_P(TlsStreamTest, AReadTakesAllRecordsThatHaveArrived) {
  auto [client, server] = Connected(1 << 17);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(Run(WriteAll(client, "abc")), IsOk());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("abcabcabc"));
  // A small buffer takes the bytes of a record in parts.
  ASSERT_THAT(Run(WriteAll(client, "abcdef")), IsOk());
  EXPECT_THAT(ReadSome(server, 4), IsOkAndHolds("abcd"));
  EXPECT_THAT(ReadSome(server, 4), IsOkAndHolds("ef"));
}

TEST_P(TlsStreamTest, EmptyBuffersAreReadyAtOnce) {
  auto [client, server] = Connected();
  char none[1];
  EXPECT_THAT(Run(Read(client, absl::MakeSpan(none, 0))), IsOkAndHolds(0));
  EXPECT_THAT(Run(Write(client, "")), IsOkAndHolds(0));
  const std::string_view parts[] = {"", ""};
  EXPECT_THAT(Run(WriteVectored(client, parts)), IsOkAndHolds(0));
}

TEST_P(TlsStreamTest, AVectoredWritePutsShortPartsIntoOneRecord) {
  auto [client, server] = Connected();
  const int writes = client.stream().faults()->writes;
  const std::string_view parts[] = {"", "ab", "", "cde", "f"};
  EXPECT_THAT(Run(WriteVectored(client, parts)), IsOkAndHolds(6));
  EXPECT_EQ(client.stream().faults()->writes, writes + 1);
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("abcdef"));

  // A long part after a short one fills the record.
  const std::string long_part = SomeBytes(20000);
  const std::string_view more[] = {"head", long_part};
  size_t taken = Run(WriteVectored(client, more)).value();
  EXPECT_EQ(taken, 20004u);
  std::string received(taken, '\0');
  ASSERT_THAT(Run(ReadExact(server, absl::MakeSpan(received))), IsOk());
  EXPECT_TRUE(received == absl::StrCat("head", long_part));
}

TEST_P(TlsStreamTest, APollTakesAUnitOfTheBudget) {
  auto [client, server] = Connected();
  Context cx(task_.waker());
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    EXPECT_TRUE(client.PollWrite(cx, "x").IsReady());
  }
  const int wakes = task_.wakes();
  EXPECT_TRUE(client.PollWrite(cx, "x").IsPending());
  char buffer[4];
  EXPECT_TRUE(server.PollRead(cx, absl::MakeSpan(buffer)).IsPending());
  EXPECT_EQ(task_.wakes(), wakes + 2);

  // A write takes a unit for each 4 KiB besides.
  Context fresh(task_.waker());
  const std::string block(32768, 'x');
  EXPECT_THAT(*client.PollWrite(fresh, block), IsOkAndHolds(32768));
  for (uint32_t i = 0; i < kBudgetPerPoll - 9; ++i) {
    EXPECT_TRUE(client.PollWrite(fresh, "x").IsReady()) << i;
  }
  EXPECT_FALSE(fresh.HasBudget());

  // A pending read gives its unit back.
  Context third(task_.waker());
  EXPECT_TRUE(client.PollRead(third, absl::MakeSpan(buffer)).IsPending());
  for (uint32_t i = 0; i < kBudgetPerPoll; ++i) {
    EXPECT_TRUE(third.HasBudget());
    EXPECT_TRUE(server.PollRead(third, absl::MakeSpan(buffer)).IsReady());
  }
  EXPECT_FALSE(third.HasBudget());
}

// -----------------------------------------------------------------------------
// The end of the stream.
// -----------------------------------------------------------------------------

TEST_P(TlsStreamTest, CloseNotifyEndsOneDirection) {
  auto [client, server] = Connected();
  ASSERT_THAT(Run(WriteAll(client, "last")), IsOk());
  ASSERT_THAT(Run(Shutdown(client)), IsOk());
  ASSERT_THAT(Run(Shutdown(client)), IsOk());  // is ready at once
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("last"));
  EXPECT_THAT(ReadSome(server), IsOkAndHolds(""));
  EXPECT_THAT(ReadSome(server), IsOkAndHolds(""));
  // The other direction still works, also for more than the peer holds.
  const std::string answer = SomeBytes(200000);
  std::string received(answer.size(), '\0');
  auto both = Join(WriteAll(server, answer),
                   ReadExact(client, absl::MakeSpan(received)));
  auto [wrote, read] = Run(both);
  ASSERT_THAT(wrote, IsOk());
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE(received == answer);
  EXPECT_THAT(Run(Write(client, "more")),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("\"example.com\""),
                             HasSubstr("after Shutdown()"))));
  ASSERT_THAT(Run(Shutdown(server)), IsOk());
  EXPECT_THAT(ReadSome(client), IsOkAndHolds(""));
}

TEST_P(TlsStreamTest, ATruncatedStreamIsAnError) {
  auto [client, server] = Connected();
  ASSERT_THAT(Run(WriteAll(server, "part")), IsOk());
  {
    // Closes the stream below, without close_notify.
    Stream dropped = std::move(server);
  }
  EXPECT_THAT(ReadSome(client), IsOkAndHolds("part"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(ReadSome(client),
                StatusIs(absl::StatusCode::kDataLoss,
                         AllOf(HasSubstr("\"example.com\""),
                               HasSubstr("without close_notify"))));
  }
}

TEST_P(TlsStreamTest, AStreamTruncatedWithinARecordIsAnError) {
  auto [client, server] = Connected();
  server.stream().faults()->allowance = 100;
  ASSERT_THAT(Run(WriteAll(server, SomeBytes(1000))), IsOk());
  client.stream().faults()->most = 50;
  {
    Stream dropped = std::move(server);
  }
  EXPECT_THAT(ReadSome(client), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_P(TlsStreamTest, BytesThatWereChangedAreAnError) {
  auto [client, server] = Connected();
  std::string record;
  server.stream().faults()->record = &record;
  ASSERT_THAT(Run(WriteAll(server, "hello")), IsOk());
  EXPECT_THAT(ReadSome(client), IsOkAndHolds("hello"));
  // The same record again.
  ASSERT_THAT(Run(WriteAll(server.stream().inner(), record)), IsOk());
  const absl::Status status = ReadSome(client).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss,
                               HasSubstr("\"example.com\"")));
  // The peer learns of it, and nothing else can be written.
  EXPECT_THAT(Run(Write(client, "x")), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Run(Shutdown(client)), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(ReadSome(server), StatusIs(absl::StatusCode::kAborted,
                                         HasSubstr("the client ended")));
}

TEST_P(TlsStreamTest, ReturnsErrorsOfTheStreamBelow) {
  auto [client, server] = Connected();
  client.stream().faults()->write_error = absl::UnavailableError("reset");
  EXPECT_THAT(Run(Write(client, "x")),
              StatusIs(absl::StatusCode::kUnavailable, "reset"));
  EXPECT_THAT(Run(Write(client, "x")),
              StatusIs(absl::StatusCode::kUnavailable, "reset"));
  EXPECT_THAT(Run(Flush(client)), StatusIs(absl::StatusCode::kUnavailable));
  // What the peer has sent can still be read.
  ASSERT_THAT(Run(WriteAll(server, "answer")), IsOk());
  EXPECT_THAT(ReadSome(client), IsOkAndHolds("answer"));
  EXPECT_THAT(Run(Shutdown(client)), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(client.stream().faults()->shutdowns, 1);
  client.stream().faults()->read_error = absl::InternalError("broken");
  EXPECT_THAT(ReadSome(client),
              StatusIs(absl::StatusCode::kInternal, "broken"));
}

// -----------------------------------------------------------------------------
// Waiting and cancelling.
// -----------------------------------------------------------------------------

TEST_P(TlsStreamTest, ADestroyedWriteHasWrittenNothing) {
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

TEST_P(TlsStreamTest, ADestroyedReadHasReadNothing) {
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

TEST_P(TlsStreamTest, FlushSendsWhatTheStreamHasNotTaken) {
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

TEST_P(TlsStreamTest, AReadThatWaitsSendsWhatTheStreamHasNotTaken) {
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

TEST_P(TlsStreamTest, AReaderDoesNotTakeTheWakeOfAWriter) {
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

TEST_P(TlsStreamTest, AReadSendsTheRestAfterAWriteOfTheTaskWasDestroyed) {
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

TEST_P(TlsStreamTest, AWriterThatLeavesBytesHasTheWaitingReaderSendThem) {
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

TEST_P(TlsStreamTest, AReaderThatAddsBytesWakesTheWaitingWriter) {
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

TEST_P(TlsStreamTest, HalvesMoveBytesBothWays) {
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

TEST_P(TlsStreamTest, IgnoresErrorsThatTheStreamLeavesInTheLibrary) {
  auto [client, server] = Connected();
  for (Stream* end : {&client, &server}) {
    end->stream().faults()->before = [] {
      // Finds no certificate.
      const internal::BioPtr empty = internal::ReadBio("");
      EXPECT_EQ(PEM_read_bio_X509(empty.get(), nullptr, nullptr, nullptr),
                nullptr);
      EXPECT_NE(ERR_peek_error(), 0u);
    };
  }
  for (int i = 0; i < 3; ++i) {
    char buffer[16];
    auto read = Read(client, absl::MakeSpan(buffer));
    EXPECT_TRUE(Poll(read).IsPending());
    Exchange(client, server);
  }
  EXPECT_THAT(Run(Shutdown(server)), IsOk());
  EXPECT_THAT(ReadSome(client), IsOkAndHolds(""));
}

TEST_P(TlsStreamTest, TlsOverTls) {
  auto [outer_client, outer_server] = Connected();
  auto connect = Client().Connect("example.com", std::move(outer_client));
  auto accept = Server().Accept(std::move(outer_server));
  auto both = Join(std::move(connect), std::move(accept));
  auto [client, server] = Run(both);
  ASSERT_THAT(client, IsOk());
  ASSERT_THAT(server, IsOk());
  Exchange(*client, *server);
  EXPECT_THAT(Run(Shutdown(*client)), IsOk());
  EXPECT_THAT(ReadSome(*server), IsOkAndHolds(""));
}

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_P(TlsStreamTest, AnExceptionOfTheStreamPassesThroughTheLibrary) {
  auto [client, server] = Connected();
  char buffer[16];
  {
    // The duplex clones the waker, which throws.
    CountingWaker throwing;
    throwing.OnClone([] { throw 7; });
    auto read = Read(client, absl::MakeSpan(buffer));
    EXPECT_THROW((void)throwing.Poll(read), int);
  }
  ASSERT_THAT(Run(WriteAll(server, "unharmed")), IsOk());
  EXPECT_THAT(ReadSome(client), IsOkAndHolds("unharmed"));
}

TEST_P(TlsStreamTest, NothingIsWrittenAfterAnExceptionOfAWrite) {
  auto [client, server] = Connected();
  {
    // The duplex has no room, and clones the waker, which throws.
    const std::string all(1 << 16, 'x');
    ASSERT_THAT(Run(Write(server.stream().inner(), all)), IsOk());
    CountingWaker throwing;
    throwing.OnClone([] { throw 7; });
    auto write = Write(server, "aaaa");
    EXPECT_THROW((void)throwing.Poll(write), int);
  }
  // The library still has the record of "aaaa".
  EXPECT_THAT(Run(Write(server, "bbbb")), StatusIs(absl::StatusCode::kAborted));
}

TEST_P(TlsStreamTest, AReadReturnsItsBytesIfSendingThrows) {
  auto [client, server] = Connected();
  client.stream().faults()->allowance = 10;
  ASSERT_THAT(Run(WriteAll(client, "question")), IsOk());
  ASSERT_THAT(Run(WriteAll(server, "answer")), IsOk());
  char buffer[16];
  {
    // The stream clones the waker of the write, which throws.
    CountingWaker throwing;
    throwing.OnClone([] { throw 7; });
    auto read = Read(client, absl::MakeSpan(buffer));
    EXPECT_THAT(*throwing.Poll(read), IsOkAndHolds(6));
  }
  EXPECT_EQ(std::string_view(buffer, 6), "answer");
  EXPECT_THAT(Run(Write(client, "more")),
              StatusIs(absl::StatusCode::kAborted, HasSubstr("threw")));
}
#endif

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

TEST_P(TlsStreamTest, TasksCanBeDestroyedAtEachAwait) {
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

// -----------------------------------------------------------------------------
// Keys.
// -----------------------------------------------------------------------------

TEST_P(TlsStreamTest, UpdatesKeys) {
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

TEST_P(TlsStreamTest, AnIdleConnectionWorksAfterItsBuffersAreFreed) {
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
