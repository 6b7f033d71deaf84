// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests both directions of a connection against programs from other projects.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/future/try_join.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/copy.h"
#include "rouse/io/flush.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/write_all.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp/tcp_listener.h"
#include "rouse/net/tcp/tcp_stream.h"
#include "rouse/net/udp_socket.h"
#include "rouse/net/unix/unix_addr.h"
#include "rouse/net/unix/unix_datagram.h"
#include "rouse/net/unix/unix_listener.h"
#include "rouse/net/unix/unix_stream.h"
#include "rouse/testing/internal/peer_process.h"
#include "rouse/testing/internal/some_bytes.h"

namespace rouse {
namespace {

using PeersTest = PeerTest;

// Answers one HTTP request with the body of the request.
template <class Listener>
Co<absl::Status> ServeHttp(const Listener& listener) {
  const auto accepted = co_await OrReturn(listener.Accept());
  BufReader reader(accepted.stream);
  size_t size = 0;
  for (;;) {
    std::string line;
    co_await OrReturn(ReadLine(reader, line, 8192));
    if (line.empty()) break;
    constexpr std::string_view kLength = "content-length: ";
    if (absl::StartsWithIgnoreCase(line, kLength) &&
        !absl::SimpleAtoi(line.substr(kLength.size()), &size)) {
      co_return absl::InvalidArgumentError(line);
    }
  }
  std::string body(size, '\0');
  co_await OrReturn(ReadExact(reader, absl::MakeSpan(body)));
  const std::string head =
      absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", size,
                   "\r\nConnection: close\r\n\r\n");
  co_await OrReturn(WriteAll(reader, head));
  co_await OrReturn(WriteAll(reader, body));
  co_return co_await Shutdown(reader);
}

// Sends back the bytes that arrive on one connection.
template <class Listener>
Co<absl::Status> Echo(const Listener& listener) {
  const auto accepted = co_await OrReturn(listener.Accept());
  co_await OrReturn(Copy(accepted.stream, accepted.stream));
  co_return co_await Shutdown(accepted.stream);
}

// Sends `sent` and ends the writing half. `Ask()` also returns the bytes that
// come back.
template <class Stream>
Co<absl::Status> SendAllOf(const Stream& stream, std::string_view sent) {
  co_await OrReturn(WriteAll(stream, sent));
  co_return co_await Shutdown(stream);
}
template <class Stream>
Co<absl::StatusOr<std::string>> Ask(const Stream& stream,
                                    std::string_view sent) {
  std::string received;
  co_await OrReturn(
      TryJoin(SendAllOf(stream, sent), ReadToEnd(stream, received)));
  co_return received;
}

class WithServer : public PeersTest {
 protected:
  // Runs `server` and a peer with `args`; returns the peer's output.
  std::string Serve(Co<absl::Status> server,
                    const std::vector<std::string>& args,
                    std::string_view input) {
    PeerProcess peer(args);
    auto both = Run(TryJoin(std::move(server), peer.Communicate(input)));
    EXPECT_TRUE(both.ok()) << both.status();
    EXPECT_TRUE(peer.HasSucceeded());
    return both.ok() ? std::get<1>(*std::move(both)) : "";
  }

  TcpListener tcp_ = TcpListener::Bind(SocketAddr::Localhost(0)).value();
  std::string tcp_addr_ = tcp_.local_addr()->ToString();
  std::string path_ = NewPath();
  UnixListener unix_ =
      UnixListener::Bind(UnixAddr::FromPath(path_).value()).value();
  std::string bytes_ = SomeBytes(1 << 20);
};

TEST_F(WithServer, CurlGetsItsPostBack) {
  ROUSE_SKIP_WITHOUT("curl");
  EXPECT_TRUE(Serve(ServeHttp(tcp_),
                    {"curl", "--silent", "--show-error", "--noproxy", "*", "-H",
                     "Expect:", "--data-binary", "@-",
                     absl::StrCat("http://", tcp_addr_, "/")},
                    bytes_) == bytes_);
}

TEST_F(WithServer, CurlGetsItsPostBackOverAUnixSocket) {
  ROUSE_SKIP_WITHOUT("curl");
  EXPECT_TRUE(Serve(ServeHttp(unix_),
                    {"curl", "--silent", "--show-error", "-H",
                     "Expect:", "--unix-socket", path_, "--data-binary", "@-",
                     "http://localhost/"},
                    bytes_) == bytes_);
}

TEST_F(WithServer, SocatGetsItsBytesBack) {
  ROUSE_SKIP_WITHOUT("socat");
  EXPECT_TRUE(Serve(Echo(tcp_),
                    {"socat", "-t", "60", "STDIO", "TCP4:" + tcp_addr_},
                    bytes_) == bytes_);
}

TEST_F(WithServer, SocatGetsItsBytesBackOverAUnixSocket) {
  ROUSE_SKIP_WITHOUT("socat");
  EXPECT_TRUE(Serve(Echo(unix_),
                    {"socat", "-t", "60", "STDIO", "UNIX-CONNECT:" + path_},
                    bytes_) == bytes_);
}

TEST_F(WithServer, NcatGetsItsBytesBack) {
  ROUSE_SKIP_WITHOUT("ncat");
  const std::string port = absl::StrCat(tcp_.local_addr()->port());
  EXPECT_TRUE(Serve(Echo(tcp_), {"ncat", "127.0.0.1", port}, bytes_) == bytes_);
}

TEST_F(PeersTest, GetsItsBytesBackFromSocat) {
  ROUSE_SKIP_WITHOUT("socat");
  PeerProcess peer({"socat", "-d", "-d", "-t", "60",
                    "TCP4-LISTEN:0,bind=127.0.0.1", "EXEC:cat"});
  const std::string line =
      Run(PeerProcess::FindLine(*peer.err, "listening on")).value();
  const SocketAddr addr =
      SocketAddr::Parse(line.substr(line.rfind(' ') + 1)).value();
  const std::string sent = SomeBytes(1 << 20);
  const TcpStream stream = Run(TcpStream::Connect(addr)).value();
  EXPECT_TRUE(Run(Ask(stream, sent)).value() == sent);
}

TEST_F(PeersTest, GetsItsBytesBackFromSocatOverAUnixSocket) {
  ROUSE_SKIP_WITHOUT("socat");
  const std::string path = NewPath();
  PeerProcess peer({"socat", "-d", "-d", "-t", "60",
                    absl::StrCat("UNIX-LISTEN:", path, ",unlink-close=0"),
                    "EXEC:cat"});
  ASSERT_TRUE(Run(PeerProcess::FindLine(*peer.err, "listening on")).ok());
  const std::string sent = SomeBytes(1 << 20);
  const UnixStream stream =
      Run(UnixStream::Connect(UnixAddr::FromPath(path).value())).value();
  EXPECT_TRUE(Run(Ask(stream, sent)).value() == sent);
}

TEST_F(PeersTest, TalksToNcatOverAUnixSocket) {
  ROUSE_SKIP_WITHOUT("ncat");
  const std::string path = NewPath();
  PeerProcess peer({"ncat", "-v", "--listen", "--unixsock", path});
  ASSERT_TRUE(Run(PeerProcess::FindLine(*peer.err, "Listening on")).ok());
  const UnixStream stream =
      Run(UnixStream::Connect(UnixAddr::FromPath(path).value())).value();
  ASSERT_TRUE(Run(WriteAll(stream, "ping\n")).ok());
  EXPECT_EQ(Run(PeerProcess::FindLine(*peer.out, "")).value(), "ping");
  ASSERT_TRUE(Run(WriteAll(*peer.in, "pong\n")).ok());
  char buffer[5];
  ASSERT_TRUE(Run(ReadExact(stream, absl::MakeSpan(buffer))).ok());
  EXPECT_EQ(std::string_view(buffer, 5), "pong\n");
}

TEST_F(PeersTest, SocatTalksOverUdp) {
  ROUSE_SKIP_WITHOUT("socat");
  const UdpSocket socket = UdpSocket::Bind(SocketAddr::Localhost(0)).value();
  PeerProcess peer({"socat", "STDIO",
                    absl::StrCat("UDP4:", socket.local_addr()->ToString())});
  ASSERT_TRUE(Run(WriteAll(*peer.in, "ping\n")).ok());
  const UdpSocket::Received received = Run(socket.RecvFrom(Buffer())).value();
  EXPECT_EQ(std::string_view(buffer_, received.size), "ping\n");
  ASSERT_TRUE(Run(socket.SendTo("pong\n", received.peer)).ok());
  EXPECT_EQ(Run(PeerProcess::FindLine(*peer.out, "")).value(), "pong");
}

TEST_F(PeersTest, SocatSendsDatagramsToAUnixSocket) {
  ROUSE_SKIP_WITHOUT("socat");
  const std::string path = NewPath();
  const UnixDatagram socket =
      UnixDatagram::Bind(UnixAddr::FromPath(path).value()).value();
  PeerProcess peer({"socat", "-u", "STDIN", "UNIX-SENDTO:" + path});
  ASSERT_TRUE(Run(WriteAll(*peer.in, "ping")).ok());
  EXPECT_EQ(Run(socket.Recv(Buffer())).value(), 4u);
  peer.in.reset();
  EXPECT_TRUE(peer.HasSucceeded());
}

}  // namespace
}  // namespace rouse
