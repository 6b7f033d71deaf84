// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// asio_stream PORT: serves like ../rouse_stream.cc, with a coroutine for each
// connection, on one thread.
#include <asio.hpp>
#include <cstdlib>
#include <vector>

namespace {

using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;

constexpr size_t kBlock = 64 * 1024;
const char kZeros[kBlock] = {};

awaitable<void> Source(tcp::socket& socket) {
  for (;;) {
    co_await asio::async_write(socket, asio::buffer(kZeros), use_awaitable);
  }
}

awaitable<void> Sink(tcp::socket& socket) {
  std::vector<char> buffer(kBlock);
  for (;;) {
    co_await socket.async_read_some(asio::buffer(buffer), use_awaitable);
  }
}

awaitable<void> Serve(tcp::socket socket) {
  try {
    char mode;
    co_await asio::async_read(socket, asio::buffer(&mode, 1), use_awaitable);
    switch (mode) {
      case 's':
        co_await Source(socket);
        break;
      case 'r':
        co_await Sink(socket);
        break;
      case 'e':
        co_await asio::async_write(socket, asio::buffer(&mode, 1),
                                   use_awaitable);
        break;
    }
  } catch (const std::system_error&) {
    // The client has closed the connection.
  }
}

awaitable<void> Accept(tcp::acceptor& acceptor) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(use_awaitable);
    socket.set_option(tcp::no_delay(true));
    asio::co_spawn(acceptor.get_executor(), Serve(std::move(socket)),
                   asio::detached);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto port =
      static_cast<asio::ip::port_type>(argc > 1 ? atoi(argv[1]) : 0);
  // The concurrency hint 1 lets Asio leave out locking.
  asio::io_context io(1);
  tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), port});
  asio::co_spawn(io, Accept(acceptor), asio::detached);
  io.run();
}
