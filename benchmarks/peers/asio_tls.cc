// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// asio_tls WORKLOAD: the workloads of ../rouse_tls.cc, with Asio's
// `ssl::stream` and coroutines, on one thread.
#include <asio.hpp>
#include <asio/ssl.hpp>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness.h"

namespace {

using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;
using Tls = asio::ssl::stream<tcp::socket>;

// The session that the next connection resumes.
SSL_SESSION* session = nullptr;

int KeepSession(SSL*, SSL_SESSION* made) {
  SSL_SESSION_free(session);
  session = made;
  return 1;
}

class Ends {
 public:
  explicit Ends(asio::io_context& io)
      : io_(io), acceptor_(io, {asio::ip::address_v4::loopback(), 0}) {
    // As in Rouse.
    client_.load_verify_file(getenv("TLS_CHAIN"));
    client_.set_verify_mode(asio::ssl::verify_peer);
    server_.use_certificate_chain_file(getenv("TLS_CHAIN"));
    server_.use_private_key_file(getenv("TLS_KEY"), asio::ssl::context::pem);
    SSL_CTX_set_session_cache_mode(
        client_.native_handle(),
        SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(client_.native_handle(), &KeepSession);
    SSL_CTX_set_session_cache_mode(server_.native_handle(), SSL_SESS_CACHE_OFF);
  }

  awaitable<std::pair<tcp::socket, tcp::socket>> ConnectTcp() {
    tcp::socket client(io_);
    co_await client.async_connect(acceptor_.local_endpoint(), use_awaitable);
    tcp::socket server = co_await acceptor_.async_accept(use_awaitable);
    client.set_option(tcp::no_delay(true));
    server.set_option(tcp::no_delay(true));
    co_return std::pair(std::move(client), std::move(server));
  }

  awaitable<std::pair<std::unique_ptr<Tls>, std::unique_ptr<Tls>>> ConnectTls(
      bool resumes = false) {
    auto [a, b] = co_await ConnectTcp();
    auto client = std::make_unique<Tls>(std::move(a), client_);
    auto server = std::make_unique<Tls>(std::move(b), server_);
    client->set_verify_callback(asio::ssl::host_name_verification("localhost"));
    SSL_set_tlsext_host_name(client->native_handle(), "localhost");
    if (resumes && session != nullptr) {
      SSL_set_session(client->native_handle(), session);
    }
    bool accepted = false;
    server->async_handshake(asio::ssl::stream_base::server,
                            [&](std::error_code error) {
                              if (error) abort();
                              accepted = true;
                            });
    co_await client->async_handshake(asio::ssl::stream_base::client,
                                     use_awaitable);
    while (!accepted) co_await asio::post(io_, use_awaitable);
    co_return std::pair(std::move(client), std::move(server));
  }

 private:
  asio::io_context& io_;
  tcp::acceptor acceptor_;
  asio::ssl::context client_{asio::ssl::context::tls_client};
  asio::ssl::context server_{asio::ssl::context::tls_server};
};

// Runs a coroutine to its end.
template <class T>
T Run(asio::io_context& io, awaitable<T> work) {
  io.restart();
  std::optional<T> result;
  asio::co_spawn(io, std::move(work), [&](std::exception_ptr e, T value) {
    if (e) std::rethrow_exception(e);
    result.emplace(std::move(value));
  });
  io.run();
  return std::move(*result);
}

void RunBoth(asio::io_context& io, awaitable<void> a, awaitable<void> b) {
  io.restart();
  const auto rethrow = [](std::exception_ptr e) {
    if (e) std::rethrow_exception(e);
  };
  asio::co_spawn(io, std::move(a), rethrow);
  asio::co_spawn(io, std::move(b), rethrow);
  io.run();
}

template <class S>
awaitable<void> Send(S& stream, const std::string& block, int blocks) {
  for (int i = 0; i < blocks; ++i) {
    co_await asio::async_write(stream, asio::buffer(block), use_awaitable);
  }
}

template <class S>
awaitable<void> Receive(S& stream, std::string& buffer, size_t bytes) {
  while (bytes > 0) {
    bytes -=
        co_await stream.async_read_some(asio::buffer(buffer), use_awaitable);
  }
}

template <class S>
awaitable<void> EchoAll(S& stream, int rounds) {
  char buffer[64];
  for (int i = 0; i < rounds; ++i) {
    co_await asio::async_read(stream, asio::buffer(buffer), use_awaitable);
    co_await asio::async_write(stream, asio::buffer(buffer), use_awaitable);
  }
}

template <class S>
awaitable<void> AskAll(S& stream, int rounds) {
  char buffer[64] = {};
  for (int i = 0; i < rounds; ++i) {
    co_await asio::async_write(stream, asio::buffer(buffer), use_awaitable);
    co_await asio::async_read(stream, asio::buffer(buffer), use_awaitable);
  }
}

template <class S>
void MeasureEcho(const peers::Bench& bench, asio::io_context& io, S& client,
                 S& server) {
  constexpr int kRounds = 200;
  bench.Measure(kRounds, [&] {
    RunBoth(io, AskAll(client, kRounds), EchoAll(server, kRounds));
  });
}

awaitable<bool> Handshake(Ends& ends, bool resumes) {
  auto [client, server] = co_await ends.ConnectTls(resumes);
  char byte[1] = {'x'};
  co_await asio::async_write(*server, asio::buffer(byte), use_awaitable);
  co_await asio::async_read(*client, asio::buffer(byte), use_awaitable);
  // Otherwise, OpenSSL does not resume the session.
  SSL_set_shutdown(client->native_handle(),
                   SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  co_return SSL_session_reused(client->native_handle()) == 1;
}

}  // namespace

int main(int argc, char** argv) {
  const peers::Bench bench(argc, argv);
  // The concurrency hint 1 lets Asio leave out locking.
  asio::io_context io(1);
  Ends ends(io);
  if (bench.Is("tls_stream_16k") || bench.Is("tls_stream_64k")) {
    const size_t size = (bench.Is("tls_stream_16k") ? 16 : 64) * 1024;
    constexpr int kBlocks = 256;
    auto [client, server] = Run(io, ends.ConnectTls());
    const std::string block(size, 'x');
    std::string buffer(size, '\0');
    bench.Measure(kBlocks, [&, &client = client, &server = server] {
      RunBoth(io, Send(*client, block, kBlocks),
              Receive(*server, buffer, kBlocks * size));
    });
  } else if (bench.Is("tls_echo")) {
    auto [client, server] = Run(io, ends.ConnectTls());
    MeasureEcho(bench, io, *client, *server);
  } else if (bench.Is("tcp_echo")) {
    io.restart();
    std::optional<std::pair<tcp::socket, tcp::socket>> both;
    asio::co_spawn(
        io, [&]() -> awaitable<void> { both = co_await ends.ConnectTcp(); },
        asio::detached);
    io.run();
    MeasureEcho(bench, io, both->first, both->second);
  } else if (bench.Is("tls_full") || bench.Is("tls_resumed")) {
    const bool resumes = bench.Is("tls_resumed");
    size_t resumed = 0, total = 0;
    bench.Measure(1, [&] {
      resumed += Run(io, Handshake(ends, resumes)) ? 1 : 0;
      ++total;
    });
    if (resumed != (resumes ? total - 1 : 0)) abort();
  } else if (bench.Is("tls_idle")) {
    constexpr int kConnections = 1000;
    std::vector<std::pair<std::unique_ptr<Tls>, std::unique_ptr<Tls>>> idle;
    idle.reserve(kConnections + 1);
    double before = 0;
    for (int i = 0; i <= kConnections; ++i) {
      idle.push_back(Run(io, ends.ConnectTls()));
      char byte[1] = {'x'};
      asio::write(*idle.back().second, asio::buffer(byte));
      asio::read(*idle.back().first, asio::buffer(byte));
      if (i == 0) before = peers::StatusBytes("VmRSS:");
    }
    bench.Report("rss_of_an_end",
                 (peers::StatusBytes("VmRSS:") - before) / (2 * kConnections),
                 "bytes");
  } else {
    return bench.UnknownWorkload("asio_tls");
  }
}
