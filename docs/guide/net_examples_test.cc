// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of net.md, word for word (net_quotes_test sees to that), and
// tests that run them.

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/block_on.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/future/stream.h"
#include "rouse/future/try_join.h"
#include "rouse/future/yield.h"
#include "rouse/io/adapt/records.h"
#include "rouse/io/adapt/take_reader.h"
#include "rouse/io/async_read.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/buf_writer.h"
#include "rouse/io/codec.h"
#include "rouse/io/copy_bidirectional.h"
#include "rouse/io/duplex.h"
#include "rouse/io/flush.h"
#include "rouse/io/framed.h"
#include "rouse/io/length_codec.h"
#include "rouse/io/line_codec.h"
#include "rouse/io/number/read_number.h"
#include "rouse/io/number/write_number.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/net/by_name.h"
#include "rouse/net/lookup_host.h"
#include "rouse/net/peer_credentials.h"
#include "rouse/net/pipe.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/split.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_listener_group.h"
#include "rouse/net/tcp_options.h"
#include "rouse/net/tcp_socket.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/net/udp_framed.h"
#include "rouse/net/udp_socket.h"
#include "rouse/net/unix_addr.h"
#include "rouse/net/unix_listener.h"
#include "rouse/net/unix_seqpacket.h"
#include "rouse/net/unix_socket.h"
#include "rouse/net/unix_stream.h"
#include "rouse/net/vsock/vsock_addr.h"
#include "rouse/net/vsock/vsock_stream.h"
#include "rouse/reactor/handle.h"
#include "rouse/reactor/interest.h"
#include "rouse/reactor/owned_fd.h"
#include "rouse/reactor/reactor.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/sync/cancellation_token.h"
#include "rouse/timer/timeout.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace {

rouse::Co<absl::StatusOr<std::string>> Ask(rouse::SocketAddr addr,
                                           std::string_view question) {
  rouse::TcpStream stream =
      co_await rouse::OrReturn(rouse::TcpStream::Connect(addr));
  co_await rouse::OrReturn(stream.WriteAll(question));
  co_await rouse::OrReturn(stream.ShutdownWrite());
  std::string answer;
  co_await rouse::OrReturn(rouse::ReadToEnd(stream, answer, 1 << 20));
  co_return answer;
}

rouse::Co<absl::Status> Echo(rouse::TcpStream stream) {
  char buffer[4096];
  for (;;) {
    size_t size = co_await rouse::OrReturn(stream.Read(absl::MakeSpan(buffer)));
    if (size == 0) co_return absl::OkStatus();
    std::string_view data(buffer, size);
    co_await rouse::OrReturn(stream.WriteAll(data));
  }
}

rouse::Co<absl::Status> ServeOne(const rouse::TcpListener& listener) {
  rouse::TcpListener::Accepted accepted =
      co_await rouse::OrReturn(listener.Accept());
  co_return co_await Echo(std::move(accepted.stream));
}

rouse::Co<absl::StatusOr<std::vector<std::string>>> ReadHeaders(
    rouse::AsyncBufRead auto& reader) {
  std::vector<std::string> headers;
  for (;;) {
    std::string line;
    bool found = co_await rouse::OrReturn(rouse::ReadLine(reader, line, 8192));
    if (!found) co_return absl::OutOfRangeError("no empty line");
    if (line.empty()) co_return headers;
    headers.push_back(std::move(line));
  }
}

rouse::Co<absl::StatusOr<size_t>> CountFields(rouse::AsyncBufRead auto& reader,
                                              uint64_t content_length) {
  rouse::TakeReader body(reader, content_length);
  auto fields = rouse::SplitOn(body, ',', /*limit=*/1024);
  size_t count = 0;
  while (auto field = co_await rouse::Next(fields)) {
    co_await rouse::OrReturn(field->status());
    ++count;
  }
  co_return count;
}

rouse::Co<absl::StatusOr<std::string>> ReadRecord(
    rouse::AsyncRead auto& reader) {
  uint32_t size = co_await rouse::OrReturn(rouse::ReadU32(reader));
  if (size > 65536) co_return absl::ResourceExhaustedError("a large record");
  std::string record(size, '\0');
  co_await rouse::OrReturn(rouse::ReadExact(reader, absl::MakeSpan(record)));
  co_return record;
}

rouse::Co<absl::Status> WriteTable(const rouse::TcpStream& stream,
                                   absl::Span<const std::string> rows) {
  rouse::BufWriter writer(stream);
  for (const std::string& row : rows) {
    co_await rouse::OrReturn(rouse::WriteAll(writer, row));
    co_await rouse::OrReturn(rouse::WriteAll(writer, "\n"));
  }
  co_return co_await rouse::Flush(writer);
}

rouse::Co<absl::Status> Forward(rouse::TcpStream client,
                                rouse::SocketAddr server_addr) {
  rouse::TcpStream server =
      co_await rouse::OrReturn(rouse::TcpStream::Connect(server_addr));
  rouse::BytesCopied copied =
      co_await rouse::OrReturn(rouse::CopyBidirectional(client, server));
  absl::PrintF("%d bytes there, %d back\n", copied.a_to_b, copied.b_to_a);
  co_return absl::OkStatus();
}

rouse::Co<absl::Status> Shout(rouse::TcpStream stream) {
  rouse::Framed connection(std::move(stream), rouse::LineCodec(1024));
  while (auto line = co_await rouse::Next(connection)) {
    if (absl::IsResourceExhausted(line->status())) {
      co_await rouse::OrReturn(connection.Send("that was too long"));
      continue;
    }
    co_await rouse::OrReturn(line->status());
    std::string answer = absl::AsciiStrToUpper(**line);
    co_await rouse::OrReturn(connection.Send(std::move(answer)));
  }
  co_return absl::OkStatus();
}

rouse::Co<absl::Status> Receive(rouse::OwnedReadHalf<rouse::TcpStream> half,
                                std::string& messages) {
  rouse::Framed frames(std::move(half), rouse::LengthCodec());
  while (auto message = co_await rouse::Next(frames)) {
    co_await rouse::OrReturn(message->status());
    messages += **message;
  }
  co_return absl::OkStatus();
}

rouse::Co<absl::Status> SendHello(
    rouse::OwnedWriteHalf<rouse::TcpStream> half) {
  rouse::Framed frames(std::move(half), rouse::LengthCodec());
  co_return co_await frames.Send("hello");
}

rouse::Co<absl::Status> Chat(rouse::TcpStream stream, std::string& messages) {
  auto [reader, writer] = rouse::IntoSplit(std::move(stream));
  co_await rouse::OrReturn(rouse::TryJoin(Receive(std::move(reader), messages),
                                          SendHello(std::move(writer))));
  co_return absl::OkStatus();
}

class Netstrings {  // such as "5:hello,"
 public:
  using Frame = std::string;

  absl::StatusOr<std::optional<Frame>> Decode(std::string_view& bytes) {
    constexpr size_t kMaxHead = 6;  // up to 99999 bytes
    size_t colon = bytes.substr(0, kMaxHead).find(':');
    if (colon == std::string_view::npos && bytes.size() < kMaxHead) {
      return std::nullopt;  // incomplete: called again with more bytes
    }
    size_t size = 0;
    if (!absl::SimpleAtoi(bytes.substr(0, colon), &size)) {
      bytes = {};  // an error must take bytes, too
      return absl::InvalidArgumentError("not a netstring");
    }
    if (bytes.size() < colon + size + 2) return std::nullopt;
    Frame frame(bytes.substr(colon + 1, size));
    bytes.remove_prefix(colon + size + 2);
    return frame;
  }

  absl::StatusOr<std::optional<Frame>> DecodeEnd(std::string_view& bytes) {
    auto frame = Decode(bytes);
    if (!frame.ok() || frame->has_value() || bytes.empty()) return frame;
    bytes = {};
    return absl::OutOfRangeError("the stream ended within a netstring");
  }

  absl::Status Encode(std::string_view frame, std::string& out) {
    if (frame.size() > 99999) {
      return absl::InvalidArgumentError("too long for a netstring");
    }
    absl::StrAppend(&out, frame.size(), ":", frame, ",");
    return absl::OkStatus();
  }
};
static_assert(rouse::Codec<Netstrings>);

rouse::Co<absl::StatusOr<std::string>> Upgrade(rouse::TcpStream stream) {
  rouse::Framed lines(std::move(stream), rouse::LineCodec());
  auto hello = co_await rouse::Next(lines);
  if (!hello.has_value()) co_return absl::OutOfRangeError("no hello");
  co_await rouse::OrReturn(hello->status());

  rouse::FramedParts parts = std::move(lines).IntoParts();
  rouse::FramedParts upgraded(std::move(parts.stream), Netstrings(),
                              std::move(parts.read), std::move(parts.unsent));
  rouse::Framed frames(std::move(upgraded));
  auto first = co_await rouse::Next(frames);
  if (!first.has_value()) co_return absl::OutOfRangeError("no frame");
  co_return *first;
}

rouse::Co<absl::StatusOr<rouse::TcpStream>> ConnectInTime(std::string server) {
  co_return co_await rouse::Timeout(absl::Minutes(1),
                                    rouse::ConnectTcp(std::move(server)));
}

rouse::Co<absl::StatusOr<std::vector<rouse::SocketAddr>>> IPv4Of(
    std::string host) {
  std::vector<rouse::SocketAddr> addrs =
      co_await rouse::OrReturn(rouse::LookupHost(host, 443));
  std::erase_if(addrs, [](const auto& addr) { return !addr.IsIPv4(); });
  co_return addrs;
}

rouse::Co<absl::StatusOr<rouse::TcpListener>> ListenOnAll(
    rouse::SocketAddr addr) {
  rouse::TcpSocket socket =
      co_await rouse::OrReturn(rouse::TcpSocket::Open(addr));
  co_await rouse::OrReturn(socket.SetReuseAddr(true));
  co_await rouse::OrReturn(socket.SetReusePort(true));
  co_await rouse::OrReturn(socket.Bind(addr));
  co_return std::move(socket).Listen(/*backlog=*/128);
}

rouse::Co<absl::StatusOr<rouse::TcpStream>> ConnectToAny(
    absl::Span<const rouse::SocketAddr> addrs) {
  rouse::TcpStream stream =
      co_await rouse::OrReturn(rouse::TcpStream::Connect(addrs));
  rouse::KeepAlive keep_alive;
  keep_alive.idle = absl::Minutes(1);
  co_await rouse::OrReturn(stream.SetKeepAlive(keep_alive));
  co_await rouse::OrReturn(stream.SetNoDelay(true));
  co_return stream;
}

rouse::Co<> AcceptOn(rouse::TcpListenerGroup& group, size_t index,
                     rouse::CancellationToken stop) {
  absl::StatusOr<rouse::TcpListener> listener = group.Take(index);
  while (listener.ok()) {
    auto accepted = co_await stop.RunUntilCancelled(listener->Accept());
    if (!accepted.has_value() || !accepted->ok()) break;
    rouse::Spawn(Echo(std::move((*accepted)->stream))).Detach();
  }
}

void ServeOnThreads(rouse::TcpListenerGroup& group,
                    rouse::CancellationToken stop) {
  std::vector<std::thread> threads;
  for (size_t index = 0; index < group.size(); ++index) {
    threads.emplace_back([&group, index, stop] {
      rouse::Runtime runtime = rouse::Builder::CurrentThread().Build().value();
      runtime.BlockOn(AcceptOn(group, index, stop));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

rouse::Co<> Leave(rouse::TcpListener listener) {
  co_await rouse::Yield();  // the reactor reports what has arrived
  while (auto accepted = listener.TryAccept()) {
    if (!accepted->ok()) break;
    rouse::Spawn(Echo(std::move((*accepted)->stream))).Detach();
  }
}  // closes the listener

rouse::Co<absl::Status> AnswerOne(const rouse::UdpSocket& socket) {
  char buffer[1500];
  rouse::UdpSocket::Received received =
      co_await rouse::OrReturn(socket.RecvFrom(absl::MakeSpan(buffer)));
  std::string_view data(buffer, received.size);
  co_await rouse::OrReturn(socket.SendTo(data, received.peer));
  co_return absl::OkStatus();
}

rouse::Co<absl::StatusOr<size_t>> Drain(const rouse::UdpSocket& socket) {
  std::vector<std::string> buffers(32, std::string(1500, '\0'));
  std::vector<rouse::UdpSocket::Incoming> batch;
  for (std::string& buffer : buffers) {
    batch.emplace_back(absl::MakeSpan(buffer));
  }
  co_return co_await socket.RecvBatch(absl::MakeSpan(batch));
}

rouse::Co<absl::Status> ShoutBack(const rouse::UdpSocket& socket) {
  rouse::UdpFramed frames(socket, rouse::LineCodec());
  auto item = co_await rouse::Next(frames);
  co_await rouse::OrReturn(item->status());
  auto& [line, peer] = **item;
  co_return co_await frames.Send(absl::AsciiStrToUpper(line), peer);
}

rouse::Co<absl::StatusOr<std::string>> ReadWhenReady(
    const rouse::TcpStream& stream) {
  for (;;) {
    co_await rouse::OrReturn(stream.Readable());
    std::string bytes(4096, '\0');
    std::optional<absl::StatusOr<size_t>> size =
        stream.TryRead(absl::MakeSpan(bytes));
    if (!size.has_value()) continue;
    bytes.resize(co_await rouse::OrReturn(*std::move(size)));
    co_return bytes;
  }
}

rouse::Co<absl::StatusOr<size_t>> ReceiveMessage(const rouse::UdpSocket& socket,
                                                 msghdr& message) {
  const auto receive = [&] { return recvmsg(socket.fd(), &message, 0); };
  co_return co_await socket.AsyncIo(rouse::reactor::Interest::kReadable,
                                    "recvmsg", receive);
}

rouse::Co<absl::Status> ServeMyself(const rouse::UnixListener& listener) {
  rouse::UnixListener::Accepted accepted =
      co_await rouse::OrReturn(listener.Accept());
  rouse::PeerCredentials peer =
      co_await rouse::OrReturn(accepted.stream.GetPeerCredentials());
  if (peer.uid != getuid()) co_return absl::PermissionDeniedError("go away");
  co_return co_await accepted.stream.WriteAll("welcome\n");
}

rouse::Co<absl::StatusOr<rouse::UnixListener>> ListenBriefly(
    rouse::UnixAddr addr) {
  rouse::UnixSocket socket =
      co_await rouse::OrReturn(rouse::UnixSocket::Open());
  co_await rouse::OrReturn(socket.Bind(addr));
  co_return std::move(socket).Listen(/*backlog=*/16);
}

rouse::Co<absl::Status> Confirm(const rouse::UnixSeqpacket& connection) {
  char buffer[4096];
  for (;;) {
    rouse::UnixSeqpacket::Received received =
        co_await rouse::OrReturn(connection.Recv(absl::MakeSpan(buffer)));
    if (received.truncated) co_return absl::OutOfRangeError("too long");
    if (received.size == 0) co_return absl::OkStatus();
    std::string reply = absl::StrCat("received ", received.size);
    co_await rouse::OrReturn(connection.Send(reply));
  }
}

rouse::Co<absl::Status> TellTheHost(std::string_view state) {
  rouse::VsockAddr addr(rouse::VsockAddr::kHost, 1024);
  rouse::VsockStream stream =
      co_await rouse::OrReturn(rouse::VsockStream::Connect(addr));
  co_return co_await stream.WriteAll(state);
}

rouse::Co<absl::StatusOr<std::string>> ThroughAPipe(std::string_view text) {
  auto [reader, writer] = co_await rouse::OrReturn(rouse::MakePipe());
  {
    rouse::PipeWriter closing = std::move(writer);
    co_await rouse::OrReturn(rouse::WriteAll(closing, text));
  }
  std::string all;
  co_await rouse::OrReturn(rouse::ReadToEnd(reader, all));
  co_return all;
}

absl::StatusOr<rouse::TcpListener> Inherit(int descriptor) {
  return rouse::TcpListener::FromFd(rouse::OwnedFd(descriptor));
}

class Rot13 {
 public:
  explicit Rot13(rouse::TcpStream inner) : inner_(std::move(inner)) {}

  rouse::PollResult<absl::StatusOr<size_t>> PollRead(rouse::Context& cx,
                                                     absl::Span<char> buffer) {
    auto size = inner_.PollRead(cx, buffer);
    if (size.IsPending() || !size->ok()) return size;
    for (char& c : buffer.first(**size)) {
      const char first = absl::ascii_islower(c) ? 'a' : 'A';
      if (absl::ascii_isalpha(c)) {
        c = static_cast<char>((c - first + 13) % 26 + first);
      }
    }
    return size;
  }

 private:
  rouse::TcpStream inner_;
};
static_assert(rouse::AsyncRead<Rot13>);

TEST(Headers, EndWithAnEmptyLine) {
  auto [client, server] = rouse::Duplex(1024);
  rouse::BufReader reader(std::move(server));
  ASSERT_TRUE(
      rouse::BlockOn(rouse::WriteAll(client, "Host: a\r\nAge: 1\r\n\r\n"))
          .ok());
  EXPECT_EQ(rouse::BlockOn(ReadHeaders(reader)).value().size(), 2u);
}

// What the examples need, and what they do.

class NetExamplesTest : public ::testing::Test {
 protected:
  template <class F>
  auto Run(F&& future) {
    const rouse::Waker waker;
    for (;;) {
      rouse::Context cx(waker);
      auto result = future.Poll(cx);
      if (result.IsReady()) return *std::move(result);
      reactor_.ParkFor(absl::Milliseconds(10));
    }
  }

  std::pair<rouse::TcpStream, rouse::TcpStream> Connect() {
    rouse::TcpStream client = Run(rouse::TcpStream::Connect(addr_)).value();
    auto accepted = Run(listener_.Accept()).value();
    return {std::move(client), std::move(accepted.stream)};
  }

  rouse::reactor::Reactor reactor_ = rouse::reactor::Reactor::Create().value();
  rouse::reactor::ScopedDefault current_{reactor_.handle()};
  rouse::TcpListener listener_ =
      rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0)).value();
  rouse::SocketAddr addr_ = listener_.local_addr().value();
};

TEST_F(NetExamplesTest, AskAndEcho) {
  const auto both =
      Run(rouse::TryJoin(Ask(addr_, "hello"), ServeOne(listener_)));
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(std::get<0>(*both), "hello");
}

TEST_F(NetExamplesTest, WriteTable) {
  auto [client, server] = Connect();
  ASSERT_TRUE(Run(WriteTable(client, {"a", "b"})).ok());
  char buffer[4];
  ASSERT_TRUE(Run(rouse::ReadExact(server, absl::MakeSpan(buffer))).ok());
  EXPECT_EQ(std::string_view(buffer, 4), "a\nb\n");
}

TEST_F(NetExamplesTest, Forward) {
  const rouse::TcpListener proxy =
      rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0)).value();
  rouse::TcpStream client =
      Run(rouse::TcpStream::Connect(proxy.local_addr().value())).value();
  auto accepted = Run(proxy.Accept()).value();
  ASSERT_TRUE(Run(client.WriteAll("hello")).ok());
  ASSERT_TRUE(client.ShutdownWrite().ok());
  const auto both = Run(rouse::TryJoin(
      Forward(std::move(accepted.stream), addr_), ServeOne(listener_)));
  ASSERT_TRUE(both.ok()) << both.status();
  std::string answer;
  EXPECT_TRUE(Run(rouse::ReadToEnd(client, answer)).ok());
  EXPECT_EQ(answer, "hello");
}

TEST_F(NetExamplesTest, Shout) {
  auto [client, server] = Connect();
  const std::string text =
      absl::StrCat("hello\n", std::string(2000, 'x'), "\nbye\n");
  ASSERT_TRUE(Run(client.WriteAll(text)).ok());
  ASSERT_TRUE(client.ShutdownWrite().ok());
  ASSERT_TRUE(Run(Shout(std::move(server))).ok());
  std::string answer;
  EXPECT_TRUE(Run(rouse::ReadToEnd(client, answer)).ok());
  EXPECT_EQ(answer, "HELLO\nthat was too long\nBYE\n");
}

TEST_F(NetExamplesTest, Chat) {
  auto [client, server] = Connect();
  std::string to_client, to_server;
  const auto both = Run(rouse::TryJoin(Chat(std::move(client), to_client),
                                       Chat(std::move(server), to_server)));
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(to_client, "hello");
  EXPECT_EQ(to_server, "hello");
}

TEST_F(NetExamplesTest, Sockets) {
  const auto listener = Run(ListenOnAll(rouse::SocketAddr::Localhost(0)));
  ASSERT_TRUE(listener.ok()) << listener.status();
  const rouse::SocketAddr addrs[] = {listener->local_addr().value(), addr_};
  const auto stream = Run(ConnectToAny(addrs));
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_TRUE(stream->NoDelay().value());
}

TEST_F(NetExamplesTest, ListenerGroup) {
  rouse::TcpListenerGroup group =
      rouse::TcpListenerGroup::Bind(rouse::SocketAddr::Localhost(0), 2).value();
  rouse::CancellationToken stop;
  std::thread server([&group, stop] { ServeOnThreads(group, stop); });
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(Run(Ask(group.local_addr(), "hello")).value(), "hello");
  }
  stop.Cancel();
  server.join();
}

// The connection waits in the queue when the listener leaves.
rouse::Co<absl::StatusOr<std::string>> AskAListenerThatLeaves() {
  rouse::TcpListener listener = co_await rouse::OrReturn(
      rouse::TcpListener::Bind(rouse::SocketAddr::Localhost(0)));
  rouse::TcpStream client = co_await rouse::OrReturn(
      rouse::TcpStream::Connect(listener.local_addr().value()));
  co_await Leave(std::move(listener));
  co_await rouse::OrReturn(client.WriteAll("hello"));
  co_await rouse::OrReturn(client.ShutdownWrite());
  std::string answer;
  co_await rouse::OrReturn(rouse::ReadToEnd(client, answer));
  co_return answer;
}

TEST_F(NetExamplesTest, ListenerLeavesAGroup) {
  rouse::Runtime runtime = rouse::Builder::CurrentThread().Build().value();
  const auto answer = runtime.BlockOn(AskAListenerThatLeaves());
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(*answer, "hello");
}

TEST_F(NetExamplesTest, Names) {
  rouse::Runtime runtime = rouse::Builder::CurrentThread().Build().value();
  const auto stream =
      runtime.BlockOn(ConnectInTime(absl::StrCat("localhost:", addr_.port())));
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_EQ(stream->peer_addr().value(), addr_);
  const auto addrs = runtime.BlockOn(IPv4Of("127.0.0.1"));
  ASSERT_TRUE(addrs.ok()) << addrs.status();
  EXPECT_EQ(addrs->size(), 1u);
}

TEST_F(NetExamplesTest, Datagrams) {
  const auto a = rouse::UdpSocket::Bind(rouse::SocketAddr::Localhost(0));
  const auto b = rouse::UdpSocket::Bind(rouse::SocketAddr::Localhost(0));
  ASSERT_TRUE(Run(a->SendTo("x", b->local_addr().value())).ok());
  ASSERT_TRUE(Run(AnswerOne(*b)).ok());
  EXPECT_EQ(Run(Drain(*a)).value(), 1u);
  ASSERT_TRUE(Run(a->SendTo("hello", b->local_addr().value())).ok());
  ASSERT_TRUE(Run(ShoutBack(*b)).ok());
  char buffer[8];
  EXPECT_EQ(Run(a->Recv(absl::MakeSpan(buffer))).value(), 6u);
  EXPECT_EQ(std::string_view(buffer, 6), "HELLO\n");
}

TEST_F(NetExamplesTest, Readiness) {
  auto [client, server] = Connect();
  ASSERT_TRUE(Run(client.WriteAll("hello")).ok());
  EXPECT_EQ(Run(ReadWhenReady(server)).value(), "hello");

  const auto a = rouse::UdpSocket::Bind(rouse::SocketAddr::Localhost(0));
  const auto b = rouse::UdpSocket::Bind(rouse::SocketAddr::Localhost(0));
  ASSERT_TRUE(Run(a->SendTo("ping", b->local_addr().value())).ok());
  char buffer[8];
  iovec vector = {buffer, sizeof buffer};
  msghdr message = {};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  EXPECT_EQ(Run(ReceiveMessage(*b, message)).value(), 4u);
  EXPECT_EQ(std::string_view(buffer, 4), "ping");
}

TEST_F(NetExamplesTest, Codecs) {
  auto [client, server] = Connect();
  ASSERT_TRUE(Run(client.WriteAll("hello\n5:world,")).ok());
  EXPECT_EQ(Run(Upgrade(std::move(server))).value(), "world");
  std::string out;
  ASSERT_TRUE(Netstrings().Encode("abc", out).ok());
  EXPECT_EQ(out, "3:abc,");
  std::string_view cut = "3:ab";
  EXPECT_TRUE(absl::IsOutOfRange(Netstrings().DecodeEnd(cut).status()));
  std::string_view wrong = "hello, world";
  EXPECT_TRUE(absl::IsInvalidArgument(Netstrings().Decode(wrong).status()));
}

TEST_F(NetExamplesTest, Records) {
  auto [client, server] = Connect();
  ASSERT_TRUE(Run(client.WriteAll("a,b,cdrest")).ok());
  rouse::BufReader reader(std::move(server));
  EXPECT_EQ(Run(CountFields(reader, 6)).value(), 3u);
  char rest[4];
  ASSERT_TRUE(Run(rouse::ReadExact(reader, absl::MakeSpan(rest))).ok());
  EXPECT_EQ(std::string_view(rest, 4), "rest");
}

TEST_F(NetExamplesTest, Numbers) {
  auto [client, server] = Connect();
  ASSERT_TRUE(Run(rouse::WriteU32(client, 5)).ok());
  ASSERT_TRUE(Run(client.WriteAll("hello")).ok());
  rouse::BufReader reader(std::move(server));
  EXPECT_EQ(Run(ReadRecord(reader)).value(), "hello");
  ASSERT_TRUE(Run(rouse::WriteU32(client, 1 << 20)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Run(ReadRecord(reader)).status()));
}

TEST_F(NetExamplesTest, UnixSockets) {
  const auto listener = Run(ListenBriefly(
      rouse::UnixAddr::FromAbstractName(absl::StrCat("rouse_doc_", getpid()))
          .value()));
  ASSERT_TRUE(listener.ok()) << listener.status();
  const rouse::UnixStream stream =
      Run(rouse::UnixStream::Connect(listener->local_addr().value())).value();
  ASSERT_TRUE(Run(ServeMyself(*listener)).ok());
  std::string text;
  EXPECT_TRUE(Run(rouse::ReadToEnd(stream, text)).ok());
  EXPECT_EQ(text, "welcome\n");
}

TEST_F(NetExamplesTest, Messages) {
  auto [client, server] = rouse::UnixSeqpacket::Pair().value();
  for (const std::string_view message : {"one", "three"}) {
    ASSERT_TRUE(Run(client.Send(message)).ok());
  }
  ASSERT_TRUE(client.ShutdownWrite().ok());
  ASSERT_TRUE(Run(Confirm(server)).ok());
  char buffer[16];
  EXPECT_EQ(Run(client.Recv(absl::MakeSpan(buffer))).value().size, 10u);
  EXPECT_EQ(std::string_view(buffer, 10), "received 3");
}

// Whether somebody listens depends on the machine.
TEST_F(NetExamplesTest, VirtualMachines) {
  const absl::Status status = Run(TellTheHost("up"));
  EXPECT_TRUE(status.ok() || absl::StrContains(status.message(), "sock"))
      << status;
}

TEST_F(NetExamplesTest, Pipes) {
  EXPECT_EQ(Run(ThroughAPipe("hello")).value(), "hello");
}

TEST_F(NetExamplesTest, AdoptedDescriptors) {
  rouse::OwnedFd fd = std::move(listener_).IntoFd();
  const auto adopted = Inherit(fd.Release());
  ASSERT_TRUE(adopted.ok()) << adopted.status();
  EXPECT_EQ(adopted->local_addr().value(), addr_);
}

TEST_F(NetExamplesTest, CustomStreams) {
  auto [client, server] = Connect();
  ASSERT_TRUE(Run(client.WriteAll("Uryyb!\n")).ok());
  ASSERT_TRUE(client.ShutdownWrite().ok());
  rouse::BufReader reader(Rot13(std::move(server)));
  std::string line;
  EXPECT_TRUE(Run(rouse::ReadLine(reader, line)).value());
  EXPECT_EQ(line, "Hello!");
}

}  // namespace
