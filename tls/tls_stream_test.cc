// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/tls/tls_stream.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
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

INSTANTIATE_TEST_SUITE_P(Versions, TlsVersionTest,
                         ::testing::Values(TlsVersion::k1_2, TlsVersion::k1_3),
                         &NameOfVersion);

TEST_P(TlsVersionTest, MovesBytesOfEverySize) {
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

TEST_P(TlsVersionTest, MovesBytesInPiecesOfEverySize) {
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

TEST_P(TlsVersionTest, AReadTakesAllRecordsThatHaveArrived) {
  auto [client, server] = Connected(1 << 17);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(Run(WriteAll(client, "abc")), IsOk());
  EXPECT_THAT(ReadSome(server), IsOkAndHolds("abcabcabc"));
  // A small buffer takes the bytes of a record in parts.
  ASSERT_THAT(Run(WriteAll(client, "abcdef")), IsOk());
  EXPECT_THAT(ReadSome(server, 4), IsOkAndHolds("abcd"));
  EXPECT_THAT(ReadSome(server, 4), IsOkAndHolds("ef"));
}

TEST_P(TlsVersionTest, EmptyBuffersAreReadyAtOnce) {
  auto [client, server] = Connected();
  char none[1];
  EXPECT_THAT(Run(Read(client, absl::MakeSpan(none, 0))), IsOkAndHolds(0));
  EXPECT_THAT(Run(Write(client, "")), IsOkAndHolds(0));
  const std::string_view parts[] = {"", ""};
  EXPECT_THAT(Run(WriteVectored(client, parts)), IsOkAndHolds(0));
}

TEST_P(TlsVersionTest, AVectoredWritePutsShortPartsIntoOneRecord) {
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

TEST_P(TlsVersionTest, APollTakesAUnitOfTheBudget) {
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

TEST_P(TlsVersionTest, TlsOverTls) {
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

// -----------------------------------------------------------------------------
// The end of the stream.
// -----------------------------------------------------------------------------

TEST_P(TlsVersionTest, CloseNotifyEndsOneDirection) {
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

TEST_P(TlsVersionTest, ATruncatedStreamIsAnError) {
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

TEST_P(TlsVersionTest, AStreamTruncatedWithinARecordIsAnError) {
  auto [client, server] = Connected();
  server.stream().faults()->allowance = 100;
  ASSERT_THAT(Run(WriteAll(server, SomeBytes(1000))), IsOk());
  client.stream().faults()->most = 50;
  {
    Stream dropped = std::move(server);
  }
  EXPECT_THAT(ReadSome(client), StatusIs(absl::StatusCode::kDataLoss));
}

// -----------------------------------------------------------------------------
// Faults.
// -----------------------------------------------------------------------------

TEST_P(TlsVersionTest, BytesThatWereChangedAreAnError) {
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

TEST_P(TlsVersionTest, ReturnsErrorsOfTheStreamBelow) {
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

// Against the rules of `AsyncWrite`.
TEST_P(TlsVersionTest, AStreamThatIsReadyButTakesNothingIsAnError) {
  for (const bool flushes : {false, true}) {
    auto [client, server] = Connected();
    if (flushes) {
      client.stream().faults()->allowance = 10;
      ASSERT_THAT(Run(WriteAll(client, "hello")), IsOk());
      client.stream().Allow(1000);
    }
    client.stream().faults()->most = 0;
    EXPECT_THAT(
        flushes ? Run(Flush(client)) : Run(WriteAll(client, "hello")),
        StatusIs(absl::StatusCode::kInternal, HasSubstr("accepted 0 bytes")));
  }
}

TEST_P(TlsVersionTest, IgnoresErrorsThatTheStreamLeavesInTheLibrary) {
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

#ifdef ABSL_HAVE_EXCEPTIONS
TEST_P(TlsVersionTest, AnExceptionOfTheStreamPassesThroughTheLibrary) {
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

TEST_P(TlsVersionTest, NothingIsWrittenAfterAnExceptionOfAWrite) {
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

TEST_P(TlsVersionTest, AReadReturnsItsBytesIfSendingThrows) {
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

}  // namespace
}  // namespace rouse
