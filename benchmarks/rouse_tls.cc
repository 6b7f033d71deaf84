// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// rouse_tls WORKLOAD: both ends of TLS connections over TCP, on one thread. The
// environment variables TLS_CHAIN and TLS_KEY name the files of a self-signed
// certificate for "localhost". peers/asio_tls.cc has the same workloads, and
// tls_compare.sh runs both.

#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/log/check.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "benchmarks/harness.h"
#include "rouse/future/co.h"
#include "rouse/future/join.h"
#include "rouse/io/flush.h"
#include "rouse/io/read.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/write_all.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/runtime/runtime.h"
#include "rouse/tls/tls_acceptor.h"
#include "rouse/tls/tls_connector.h"
#include "rouse/tls/tls_stream.h"

namespace rouse::bench {
namespace {

using Tls = TlsStream<TcpStream>;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  CHECK(value != nullptr) << name << " must name a file";
  return value;
}

// Both ends of connections.
class Ends {
 public:
  explicit Ends(bool resumes)
      : listener_(TcpListener::Bind(SocketAddr::Localhost(0)).value()),
        connector_(TlsConnector::Builder()
                       .SystemRoots(false)
                       .AddRootsFile(Variable("TLS_CHAIN"))
                       .Resumption(resumes)
                       .Build()
                       .value()),
        acceptor_(
            TlsAcceptor::Builder()
                .CertificateFile(Variable("TLS_CHAIN"), Variable("TLS_KEY"))
                .Build()
                .value()) {}

  Co<std::pair<TcpStream, TcpStream>> ConnectTcp() {
    absl::StatusOr<TcpStream> client =
        co_await TcpStream::Connect(listener_.local_addr().value());
    auto server = co_await listener_.Accept();
    CHECK_OK(client->SetNoDelay(true));
    CHECK_OK(server->stream.SetNoDelay(true));
    co_return std::pair(*std::move(client), std::move(server->stream));
  }

  Co<std::pair<Tls, Tls>> ConnectTls() {
    auto [a, b] = co_await ConnectTcp();
    auto both = Join(connector_.Connect("localhost", std::move(a)),
                     acceptor_.Accept(std::move(b)));
    auto [client, server] = co_await std::move(both);
    CHECK_OK(client);
    CHECK_OK(server);
    co_return std::pair(*std::move(client), *std::move(server));
  }

 private:
  TcpListener listener_;
  TlsConnector connector_;
  TlsAcceptor acceptor_;
};

template <class S>
Co<> Send(S& stream, std::string_view block, int blocks) {
  for (int i = 0; i < blocks; ++i) CHECK_OK(co_await WriteAll(stream, block));
  CHECK_OK(co_await Flush(stream));
}

template <class S>
Co<> Receive(S& stream, absl::Span<char> buffer, size_t bytes) {
  while (bytes > 0) {
    absl::StatusOr<size_t> size = co_await Read(stream, buffer);
    CHECK_OK(size);
    CHECK_NE(*size, 0u);
    bytes -= *size;
  }
}

template <class S>
Co<> EchoAll(S& stream, int rounds) {
  char buffer[64];
  for (int i = 0; i < rounds; ++i) {
    CHECK_OK(co_await ReadExact(stream, absl::MakeSpan(buffer)));
    CHECK_OK(co_await WriteAll(stream, std::string_view(buffer, 64)));
  }
}

template <class S>
Co<> AskAll(S& stream, int rounds) {
  char buffer[64] = {};
  for (int i = 0; i < rounds; ++i) {
    CHECK_OK(co_await WriteAll(stream, std::string_view(buffer, 64)));
    CHECK_OK(co_await ReadExact(stream, absl::MakeSpan(buffer)));
  }
}

template <class S>
void MeasureEcho(const Bench& bench, Runtime& runtime, std::pair<S, S> ends) {
  constexpr int kRounds = 200;
  bench.Measure(kRounds, [&] {
    runtime.BlockOn(
        Join(AskAll(ends.first, kRounds), EchoAll(ends.second, kRounds)));
  });
}

int Run(const Bench& bench) {
  Runtime runtime = Bench::MakeCurrentThreadRuntime();
  std::optional<Ends> ends;
  const bool resumes = bench.Is("tls_resumed");
  runtime.BlockOn([&]() -> Co<> {
    ends.emplace(resumes);
    co_return;
  });
  if (bench.Is("tls_stream_16k") || bench.Is("tls_stream_64k")) {
    const size_t size = (bench.Is("tls_stream_16k") ? 16 : 64) * 1024;
    constexpr int kBlocks = 256;
    auto [client, server] = runtime.BlockOn(ends->ConnectTls());
    const std::string block(size, 'x');
    std::string buffer(size, '\0');
    bench.Measure(kBlocks, [&] {
      runtime.BlockOn(
          Join(Send(client, block, kBlocks),
               Receive(server, absl::MakeSpan(buffer), kBlocks * size)));
    });
  } else if (bench.Is("tls_echo")) {
    MeasureEcho(bench, runtime, runtime.BlockOn(ends->ConnectTls()));
  } else if (bench.Is("tcp_echo")) {
    MeasureEcho(bench, runtime, runtime.BlockOn(ends->ConnectTcp()));
  } else if (bench.Is("tls_full") || bench.Is("tls_resumed")) {
    size_t resumed = 0, total = 0;
    bench.Measure(1, [&] {
      runtime.BlockOn([&]() -> Co<> {
        auto [client, server] = co_await ends->ConnectTls();
        // The client receives the ticket before the byte.
        char byte[1];
        CHECK_OK(co_await WriteAll(server, "x"));
        CHECK_OK(co_await Read(client, absl::MakeSpan(byte)));
        resumed += client.resumed() ? 1 : 0;
        ++total;
      });
    });
    CHECK_EQ(resumed, resumes ? total - 1 : 0);
  } else if (bench.Is("tls_idle")) {
    constexpr int kConnections = 1000;
    std::vector<std::pair<Tls, Tls>> idle;
    idle.reserve(kConnections + 1);
    double before = 0;
    runtime.BlockOn([&]() -> Co<> {
      for (int i = 0; i <= kConnections; ++i) {
        idle.push_back(co_await ends->ConnectTls());
        char byte[1];
        CHECK_OK(co_await WriteAll(idle.back().second, "x"));
        CHECK_OK(co_await Read(idle.back().first, absl::MakeSpan(byte)));
        if (i == 0) before = StatusBytes("VmRSS");
      }
    });
    bench.Report("rss_of_an_end",
                 (StatusBytes("VmRSS") - before) / (2 * kConnections), "bytes");
  } else {
    std::cerr << "rouse_tls: no workload '" << bench.workload() << "'\n";
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace rouse::bench

int main(int argc, char** argv) {
  const auto bench = rouse::bench::Bench::FromCommandLine(argc, argv);
  return bench.has_value() ? rouse::bench::Run(*bench) : 2;
}
