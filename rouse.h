// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: rouse.h
// -----------------------------------------------------------------------------
//
// All that a program on Rouse usually needs, with the target `@rouse//:rouse`.
// A library does better to name its components, each of which is a target of
// its own: it then depends on nothing else.

#ifndef ROUSE_ROUSE_H_
#define ROUSE_ROUSE_H_

// IWYU pragma: begin_exports
#include "rouse/future/co.h"
#include "rouse/future/collect.h"
#include "rouse/future/filter.h"
#include "rouse/future/future.h"
#include "rouse/future/gen.h"
#include "rouse/future/join.h"
#include "rouse/future/map.h"
#include "rouse/future/or_return.h"
#include "rouse/future/poll_fn.h"
#include "rouse/future/race.h"
#include "rouse/future/ready.h"
#include "rouse/future/select.h"
#include "rouse/future/stream.h"
#include "rouse/future/take.h"
#include "rouse/future/task_local.h"
#include "rouse/future/try_join.h"
#include "rouse/future/unconstrained.h"
#include "rouse/future/yield.h"
#include "rouse/io/async_read.h"
#include "rouse/io/async_write.h"
#include "rouse/io/buf_reader.h"
#include "rouse/io/buf_writer.h"
#include "rouse/io/copy.h"
#include "rouse/io/copy_bidirectional.h"
#include "rouse/io/flush.h"
#include "rouse/io/framed.h"
#include "rouse/io/length_codec.h"
#include "rouse/io/line_codec.h"
#include "rouse/io/read.h"
#include "rouse/io/read_exact.h"
#include "rouse/io/read_line.h"
#include "rouse/io/read_to_end.h"
#include "rouse/io/read_until.h"
#include "rouse/io/write.h"
#include "rouse/io/write_all.h"
#include "rouse/net/by_name.h"
#include "rouse/net/lookup_host.h"
#include "rouse/net/pipe.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/split.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_options.h"
#include "rouse/net/tcp_socket.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/net/udp_socket.h"
#include "rouse/net/unix_addr.h"
#include "rouse/net/unix_datagram.h"
#include "rouse/net/unix_listener.h"
#include "rouse/net/unix_stream.h"
#include "rouse/process/child.h"
#include "rouse/process/child_pipe.h"
#include "rouse/process/command.h"
#include "rouse/process/exit_status.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/metrics.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/block_in_place.h"
#include "rouse/scheduler/current.h"
#include "rouse/scheduler/join_set.h"
#include "rouse/scheduler/local_set.h"
#include "rouse/scheduler/spawn_blocking.h"
#include "rouse/scheduler/task/abort_handle.h"
#include "rouse/scheduler/task/join_handle.h"
#include "rouse/scheduler/task/spawn_options.h"
#include "rouse/scheduler/task_dump.h"
#include "rouse/scheduler/task_tracker.h"
#include "rouse/signal/ctrl_c.h"
#include "rouse/signal/signal.h"
#include "rouse/timer/clock.h"
#include "rouse/timer/instant.h"
#include "rouse/timer/sleep.h"
#include "rouse/timer/stream_timeout.h"
#include "rouse/timer/timeout.h"
#include "rouse/waker/task_id.h"
// IWYU pragma: end_exports

#endif  // ROUSE_ROUSE_H_
