// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Includes headers of Rouse, and the monorepo's own headers with the same
// relative names. The monorepo's Abseil is also Rouse's.

#include <type_traits>

#include "absl/time/time.h"
#include "base/panic.h"
#include "net/tcp_stream.h"
#include "rouse/base/panic.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/sync/mutex.h"
#include "rouse/testing/poll_once.h"
#include "rouse/timer/sleep.h"
#include "rouse/waker/waker.h"
#include "sync/mutex.h"
#include "testing/poll_once.h"
#include "timer/sleep.h"
#include "waker/waker.h"

namespace monorepo {

static_assert(Panic().level + TcpStream().port + Mutex().owner + Sleep().hours +
                  Waker().rings ==
              17);

rouse::Sleep Night(absl::Duration length) { return rouse::Sleep(length); }

static_assert(
    std::is_constructible_v<rouse::Mutex<rouse::TcpStream>, rouse::TcpStream>);

}  // namespace monorepo
