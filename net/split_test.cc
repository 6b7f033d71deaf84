// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/net/split.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/copy.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/testing/internal/tcp_fixture.h"

namespace rouse {
namespace {

static_assert(AsyncRead<const ReadHalf<TcpStream>>);
static_assert(!AsyncWrite<ReadHalf<TcpStream>>);
static_assert(AsyncWrite<const WriteHalf<TcpStream>>);
static_assert(!AsyncRead<WriteHalf<TcpStream>>);
static_assert(AsyncRead<const OwnedReadHalf<TcpStream>>);
static_assert(AsyncWrite<const OwnedWriteHalf<TcpStream>>);

class SplitTest : public TcpTest {
 protected:
  // Returns the bytes of one read; the end of the stream is "".
  template <class R>
  std::string ReadSome(const R& reader) {
    char buffer[64];
    const size_t size = Run(Read(reader, absl::MakeSpan(buffer))).value();
    return std::string(buffer, size);
  }
};

TEST_F(SplitTest, BorrowedHalvesReadAndWriteTheStream) {
  auto [client, server] = Connect();
  auto [reader, writer] = Split(client);
  const std::string_view parts[] = {"p", "ing"};
  EXPECT_EQ(Run(WriteVectored(writer, parts)).value(), 4u);
  EXPECT_TRUE(Run(Flush(writer)).ok());
  EXPECT_EQ(ReadSome(server), "ping");
  ASSERT_TRUE(Run(server.WriteAll("pong")).ok());
  EXPECT_EQ(ReadSome(reader), "pong");
  ASSERT_TRUE(Run(server.WriteAll("abc")).ok());
  char bytes[8];
  const absl::Span<char> buffers[] = {absl::MakeSpan(bytes, 1),
                                      absl::MakeSpan(bytes + 4, 4)};
  EXPECT_EQ(Run(ReadVectored(reader, buffers)).value(), 3u);
  EXPECT_EQ(std::string_view(bytes + 4, 2), "bc");
  EXPECT_EQ(&reader.stream(), &client);
  EXPECT_EQ(&writer.stream(), &client);
}

TEST_F(SplitTest, AnEndOfADuplexHasHalves) {
  auto [client, server] = Duplex(64);
  {
    auto [reader, writer] = IntoSplit(std::move(client));
    ASSERT_TRUE(Run(WriteAll(writer, "ping")).ok());
    EXPECT_EQ(ReadSome(server), "ping");
    ASSERT_TRUE(Run(WriteAll(server, "pong")).ok());
    EXPECT_EQ(ReadSome(reader), "pong");
  }
  EXPECT_EQ(ReadSome(server), "");
}

TEST_F(SplitTest, DestroyingBorrowedHalvesEndsNothing) {
  auto [client, server] = Connect();
  {
    auto [reader, writer] = Split(client);
    ASSERT_TRUE(Run(WriteAll(writer, "a")).ok());
  }
  ASSERT_TRUE(Run(client.WriteAll("b")).ok());
  ASSERT_TRUE(client.ShutdownWrite().ok());
  EXPECT_EQ(ReadAll(server), "ab");
}

TEST_F(SplitTest, ADestroyedWriteHalfShutsDownTheStream) {
  auto [client, server] = Connect();
  auto [reader, writer] = IntoSplit(std::move(client));
  {
    const auto dropped = std::move(writer);
    ASSERT_TRUE(Run(WriteAll(dropped, "last")).ok());
  }
  EXPECT_EQ(ReadAll(server), "last");
  ASSERT_TRUE(Run(server.WriteAll("answer")).ok());
  EXPECT_EQ(ReadSome(reader), "answer");
}

TEST_F(SplitTest, AnAssignedWriteHalfShutsDownItsOldStream) {
  auto [client, server] = Connect();
  auto [other_client, other_server] = Connect();
  auto [reader, writer] = IntoSplit(std::move(client));
  auto [other_reader, other_writer] = IntoSplit(std::move(other_client));
  writer = std::move(other_writer);
  EXPECT_EQ(ReadSome(server), "");
  ASSERT_TRUE(Run(WriteAll(writer, "x")).ok());
  EXPECT_EQ(ReadSome(other_server), "x");
}

TEST_F(SplitTest, AForgottenWriteHalfDoesNotShutDownTheStream) {
  auto [client, server] = Connect();
  auto halves = std::make_optional(IntoSplit(std::move(client)));
  std::move(halves->second).Forget();
  char buffer[1];
  auto read = server.Read(absl::MakeSpan(buffer));
  Turn();
  ASSERT_TRUE(task_.Poll(read).IsPending());
  halves.reset();
  EXPECT_EQ(Run(read).value(), 0u);
}

TEST_F(SplitTest, ADestroyedReadHalfLeavesTheWriteHalf) {
  auto [client, server] = Connect();
  auto halves = IntoSplit(std::move(client));
  {
    const auto dropped = std::move(halves.first);
  }
  ASSERT_TRUE(Run(WriteAll(halves.second, "x")).ok());
  EXPECT_EQ(ReadSome(server), "x");
  ASSERT_TRUE(Run(Shutdown(halves.second)).ok());
  EXPECT_EQ(ReadSome(server), "");
}

TEST_F(SplitTest, HalvesOfOneStreamAreReunited) {
  auto [client, server] = Connect();
  const int fd = client.fd();
  auto [reader, writer] = IntoSplit(std::move(client));
  absl::StatusOr<TcpStream> stream =
      Reunite(std::move(reader), std::move(writer));
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_EQ(stream->fd(), fd);
  ASSERT_TRUE(Run(stream->WriteAll("x")).ok());
  EXPECT_EQ(ReadSome(server), "x");
}

TEST_F(SplitTest, HalvesOfTwoStreamsCannotBeReunited) {
  auto [a, b] = Connect();
  auto [a_reader, a_writer] = IntoSplit(std::move(a));
  auto [b_reader, b_writer] = IntoSplit(std::move(b));
  EXPECT_EQ(Reunite(std::move(a_reader), std::move(b_writer)).status().code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(Run(WriteAll(b_writer, "x")).ok());
  // NOLINTNEXTLINE(bugprone-use-after-move): it was not
  EXPECT_EQ(ReadSome(a_reader), "x");
}

TEST_F(SplitTest, HalvesReadAndWriteConcurrently) {
  auto [client, server] = Connect();
  auto [reader, writer] = IntoSplit(std::move(client));
  auto [server_reader, server_writer] = IntoSplit(std::move(server));
  std::string sent(1 << 20, 'x');
  std::string received;
  auto write = WriteAll(writer, sent);
  auto echo = Copy(server_reader, server_writer);
  auto read = ReadToEnd(reader, received);
  bool written = false;
  bool echoed = false;
  for (;;) {
    const int before = wakes();
    if (!written) {
      const auto result = task_.Poll(write);
      written = result.IsReady();
      if (written) {
        ASSERT_TRUE(result->ok()) << *result;
        ASSERT_TRUE(writer.stream().ShutdownWrite().ok());
      }
    }
    if (!echoed) {
      const auto result = other_.Poll(echo);
      echoed = result.IsReady();
      if (echoed) {
        ASSERT_EQ(result->value(), sent.size());
        ASSERT_TRUE(server_writer.stream().ShutdownWrite().ok());
      }
    }
    const auto result = runner_.Poll(read);
    if (result.IsReady()) {
      ASSERT_TRUE(result->ok());
      break;
    }
    ParkUnlessWokenSince(before);
  }
  EXPECT_EQ(received, sent);
}

}  // namespace
}  // namespace rouse
