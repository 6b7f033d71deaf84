// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// beast_http PORT: answers like //examples/http_server, with Boost.Beast on one
// thread, a coroutine for each connection, and Beast's time limit.
//
// Boost 1.74 needs this header, but does not include it.
// clang-format off
#include <utility>
// clang-format on

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdlib>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::use_awaitable;
using asio::ip::tcp;

asio::awaitable<void> Serve(beast::tcp_stream stream) {
  try {
    beast::flat_buffer buffer;
    for (;;) {
      stream.expires_after(std::chrono::seconds(60));
      http::request<http::string_body> request;
      co_await http::async_read(stream, buffer, request, use_awaitable);
      const bool found = request.target() == "/";
      http::response<http::string_body> response(
          found ? http::status::ok : http::status::not_found,
          request.version());
      response.set(http::field::content_type, "text/plain; charset=utf-8");
      response.keep_alive(request.keep_alive());
      response.body() = found ? "hello\n" : "no such page\n";
      response.prepare_payload();
      co_await http::async_write(stream, response, use_awaitable);
      if (!response.keep_alive()) break;
    }
    stream.socket().shutdown(tcp::socket::shutdown_send);
  } catch (const boost::system::system_error&) {
    // The client has closed the connection.
  }
}

asio::awaitable<void> Accept(tcp::acceptor& acceptor) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(use_awaitable);
    socket.set_option(tcp::no_delay(true));
    asio::co_spawn(acceptor.get_executor(),
                   Serve(beast::tcp_stream(std::move(socket))), asio::detached);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto port =
      static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 0);
  // The concurrency hint 1 lets Asio leave out locking.
  asio::io_context io(1);
  tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), port});
  asio::co_spawn(io, Accept(acceptor), asio::detached);
  io.run();
}
