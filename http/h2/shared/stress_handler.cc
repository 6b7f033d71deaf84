// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/http/h2/shared/stress_handler.h"

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rouse/future/co.h"
#include "rouse/future/gen.h"
#include "rouse/future/or_return.h"
#include "rouse/future/yield.h"
#include "rouse/http/body.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/timer/sleep.h"

namespace rouse::http::h2 {
namespace {

std::atomic<int> alive;

struct Alive {
  // Relaxed: the test reads the number after the connections have ended.
  Alive() { alive.fetch_add(1, std::memory_order_relaxed); }
  Alive(const Alive&) = delete;
  Alive& operator=(const Alive&) = delete;
  ~Alive() { alive.fetch_sub(1, std::memory_order_relaxed); }
};

}  // namespace

int StressHandlersAlive() { return alive.load(std::memory_order_relaxed); }

Gen<std::string> StressPieces(size_t size) {
  while (size > 0) {
    const size_t part = size < 5000 ? size : 5000;
    size -= part;
    if (part % 2 == 1) co_await Yield();
    co_yield std::string(part, 'y');
  }
}

Co<absl::StatusOr<Response>> StressHandler(Request request) {
  const Alive counted;
  const char kind = request.target[1];
  const size_t number = std::stoul(request.target.substr(3));
  Response response;
  switch (kind) {
    case 'e':
      response.body = std::move(request.body);
      co_return response;
    case 'o': {
      const auto read = [](Body body) -> Co<absl::StatusOr<std::string>> {
        co_return co_await body.ReadAll(1 << 20);
      };
      JoinHandle<absl::StatusOr<std::string>> reader =
          Spawn(read(std::move(request.body)));
      const std::string text = co_await OrReturn(std::move(reader));
      co_return Response::Text(text);
    }
    case 's':
      response.body = Body::FromStream(StressPieces(number));
      co_return response;
    case 'w':
      co_await Sleep(absl::Microseconds(number % 2000));
      break;
    default:
      for (size_t i = 0; i < number % 4; ++i) co_await Yield();
      break;
  }
  co_return Response::Text(std::string(number, 'y'));
}

}  // namespace rouse::http::h2
