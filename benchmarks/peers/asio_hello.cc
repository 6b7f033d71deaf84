// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// asio_hello: does what //examples/hello does: two tasks, a timer, a deadline.
// Only the size of the program is measured.
#include <asio.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <chrono>
#include <cstdio>
#include <string>

namespace {

using asio::awaitable;
using asio::use_awaitable;
using std::chrono::milliseconds;
using namespace asio::experimental::awaitable_operators;

awaitable<std::string> Fetch(std::string what, milliseconds takes) {
  asio::steady_timer timer(co_await asio::this_coro::executor, takes);
  co_await timer.async_wait(use_awaitable);
  co_return "the " + what;
}

awaitable<void> Deadline(milliseconds after) {
  asio::steady_timer timer(co_await asio::this_coro::executor, after);
  co_await timer.async_wait(use_awaitable);
}

awaitable<void> Main() {
  auto [news, weather] = co_await (Fetch("news", milliseconds(20)) &&
                                   Fetch("weather", milliseconds(10)));
  printf("%s, then %s\n", weather.c_str(), news.c_str());
  auto first = co_await (Fetch("rest", std::chrono::hours(1)) ||
                         Deadline(milliseconds(10)));
  printf("and the rest: %s\n",
         first.index() == 0 ? "in time" : "deadline has elapsed");
}

}  // namespace

int main() {
  asio::thread_pool threads;
  asio::co_spawn(threads, Main(), asio::detached);
  threads.join();
}
