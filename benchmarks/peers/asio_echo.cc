// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// asio_echo PORT: serves like ../rouse_echo.cc, with a coroutine and a buffer
// of 1 KiB for each connection, on one thread.
#include <asio.hpp>
#include <cstdlib>

namespace {

using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;

awaitable<void> Echo(tcp::socket socket) {
  char buffer[1024];
  try {
    for (;;) {
      const size_t size =
          co_await socket.async_read_some(asio::buffer(buffer), use_awaitable);
      co_await asio::async_write(socket, asio::buffer(buffer, size),
                                 use_awaitable);
    }
  } catch (const std::system_error&) {
    // The client has closed the connection.
  }
}

awaitable<void> Accept(tcp::acceptor& acceptor) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(use_awaitable);
    socket.set_option(tcp::no_delay(true));
    asio::co_spawn(acceptor.get_executor(), Echo(std::move(socket)),
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
