// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/server/session/service.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "rouse/examples/mini_redis/store/append_log.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/wheel/handle.h"

namespace mini_redis {
namespace {

// Number of commands by which a monitor may lag.
constexpr size_t kMonitorLines = 1024;

}  // namespace

Service::Service(const rouse::wheel::Handle& timer,
                 ServiceOptions service_options,
                 std::unique_ptr<AppendLog> append_log)
    : options(std::move(service_options)),
      log(std::move(append_log)),
      store(timer, log.get()),
      started(timer.clock().Now()),
      monitors(kMonitorLines) {}

}  // namespace mini_redis
