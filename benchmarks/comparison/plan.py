# Copyright 2026 The Rouse Authors
# SPDX-License-Identifier: Apache-2.0
"""What is compared: the groups of workloads, and the programs that have each workload."""

import dataclasses

# The name of a program's library, and how the charts call it. Rouse is always first.
LABELS = {"rouse": "Rouse", "tokio": "Tokio", "asio": "Asio", "libuv": "libuv", "go": "Go", "bare": "bare loop",
          "nginx": "nginx", "abseil": "Abseil"}

# The libraries that the overview of the page counts figures of. A bare loop is no competitor.
COUNTED = ("tokio", "asio", "libuv", "go", "nginx")

# Rouse's programs, by kind.
ROUSE_PROGRAMS = {
    "bench": "//benchmarks:rouse_bench",
    "echo": "//benchmarks:rouse_echo",
    "stream": "//benchmarks:rouse_stream",
    "http": "//examples/http_hello:http_hello",
}

# The servers of the peers, by kind and library.
PEER_SERVERS = {
    "echo": {"tokio": "tokio_echo", "asio": "asio_echo", "libuv": "uv_echo", "go": "go_echo", "bare": "epoll_echo"},
    "stream": {"tokio": "tokio_stream", "asio": "asio_stream", "libuv": "uv_stream", "go": "go_stream",
               "bare": "epoll_stream"},
    "http": {"go": "go_http", "nginx": "nginx_http"},
}
PEER_BENCHES = {"tokio": "tokio_bench", "asio": "asio_bench", "libuv": "uv_bench", "go": "go_bench",
                "bare": "bare_bench"}

# The arguments of a server that is not run as `PROGRAM PORT ct` or `PROGRAM PORT mt 1`, by program.
ARGUMENTS = {"http_hello": ("--port=PORT",)}

# The programs that a kind of load needs and that peers/build.sh does not install, with the package of Debian. The
# package of nginx starts a server, which a user may not want.
NEEDED = {"http": {"nginx": "nginx-light", "wrk": "wrk"}}


@dataclasses.dataclass(frozen=True)
class Workload:
    """One workload, which is run as `PROGRAM NAME WORKERS`."""

    name: str
    peers: str  # the libraries that have the workload, besides Rouse
    about: str
    workers: int = 2
    cost: float = 0.9  # seconds of one run, to estimate the time of all runs

    kind = "bench"


@dataclasses.dataclass(frozen=True)
class Load:
    """One load of a server. The server is run as `PROGRAM PORT ct` or `PROGRAM PORT mt 1`: see also `ARGUMENTS`."""

    name: str
    peers: str
    about: str
    kind: str  # of server
    command: tuple  # the program that loads the server, with PORT, SECONDS and PID for their values
    runtime: tuple = ("ct",)
    cost: float = 2.5


@dataclasses.dataclass(frozen=True)
class Size:
    """The size of programs without symbols. The value of `programs` is a target of Bazel or a peer's program."""

    name: str
    about: str
    programs: dict

    kind = "size"
    cost = 0.0


@dataclasses.dataclass(frozen=True)
class Compilation:
    """The CPU time that the compiler takes for headers. `headers` maps a library to a tuple of its headers."""

    name: str
    about: str
    headers: dict

    kind = "compilation"
    cost = 5.0


@dataclasses.dataclass(frozen=True)
class Group:
    """Some workloads that share a chart and a table."""

    name: str
    title: str
    about: str
    workloads: tuple
    charted: tuple = ("",)  # the metrics in the chart; a figure named after its workload has the metric ""

    def find(self, name):
        """Returns the workload of that name, or None."""
        return next((workload for workload in self.workloads if workload.name == name), None)


def _loads(names, peers_of, make):
    """Returns the loads for both kinds of runtime. Only Tokio's and Go's servers have workers besides Rouse's."""
    loads = []
    for suffix, runtime in (("", ("ct",)), ("_worker", ("mt", "1"))):
        peers = peers_of if runtime == ("ct",) else "tokio go"
        loads += [make(name, suffix, peers, runtime) for name in names]
    return tuple(loads)


def _echo(count, suffix, peers, runtime):
    about = f"64 bytes on each of {count:,} connections" if count > 1 else "64 bytes on one connection"
    return Load(f"echo_{count}{suffix}", peers, about, "echo",
                ("echo_load", "PORT", str(count), "SECONDS", "PID"), runtime)


def _idle(count, suffix, peers, runtime):
    return Load(f"idle_{count}{suffix}", peers, f"{count:,} connections that wait, each with a buffer of 1 KiB",
                "echo", ("idle_load", "PORT", str(count), "PID"), runtime, cost=2.0)


def _stream(mode_and_count, suffix, peers, runtime):
    mode, count = mode_and_count
    about = {
        "source": "the server writes blocks of 64 KiB",
        "sink": "the server reads into 64 KiB",
        "accept": "connect, one byte back, close",
    }[mode] + f"; {count} at once"
    return Load(f"{mode}_{count}{suffix}", peers, about, "stream",
                ("stream_load", "PORT", mode, str(count), "SECONDS", "PID"), runtime)


def _http(count):
    return Load(f"http_{count}", "go nginx", f"GET / on each of {count:,} connections", "http",
                ("http_load", "PORT", str(count), "SECONDS", "PID"), cost=4.0)


SERVERS = "tokio asio libuv go bare"

GROUPS = (
    Group(
        "scheduler", "Scheduler with two workers",
        "Spawning, joining and yielding on the multi-thread runtime. The names without \"worker\" are those of "
        "Tokio's own benchmarks. The peers of `spawn_join_worker` include a loop on one thread. Go has no thread outside "
        "its scheduler: \"the thread in BlockOn()\" is the goroutine of `main`, here and in other groups, and a "
        "sync.WaitGroup joins tasks.",
        (
            Workload("spawn_many_local", "tokio asio go", "10,000 tasks from the thread in BlockOn()"),
            Workload("spawn_many_worker", "tokio asio go", "10,000 tasks from a task"),
            Workload("spawn_join_worker", "tokio go bare", "a task spawns and joins 10,000 tasks"),
            Workload("spawn_many_remote_idle", "tokio asio", "10,000 tasks from a thread outside"),
            Workload("spawn_many_remote_busy1", "tokio", "the same, while tasks stall and yield"),
            Workload("spawn_many_remote_busy2", "tokio", "the same, while tasks stall and respawn"),
            Workload("yield_many", "tokio asio go", "200 tasks yield 1,000 times each"),
            Workload("ping_pong", "tokio asio go", "1,000 pairs of tasks signal each other"),
            Workload("chained_spawn", "tokio asio go", "each of 1,000 tasks spawns the next"),
            Workload("round_trip_outside", "tokio", "a thread outside spawns a task and waits for its end"),
        ),
    ),
    Group(
        "scheduler_1", "Scheduler with one worker",
        "The same with one worker. These figures vary least.",
        (
            Workload("spawn_many_worker", "tokio asio go", "10,000 tasks from a task", workers=1),
            Workload("spawn_join_worker", "tokio go bare", "a task spawns and joins 10,000 tasks", workers=1),
            Workload("yield_many", "tokio asio go", "200 tasks yield 1,000 times each", workers=1),
            Workload("ping_pong", "tokio asio go", "1,000 pairs of tasks signal each other", workers=1),
            Workload("chained_spawn", "tokio asio go", "each of 1,000 tasks spawns the next", workers=1),
        ),
    ),
    Group(
        "stuck_spawner", "Rescue from a worker that computes",
        "A task spawns three tasks and then computes for 9 ms, while the other worker is free after 1 ms. The figure "
        "is the time until the first of the three tasks begins on the other worker.",
        (Workload("stuck_spawner", "tokio go", "delay of the first spawned task", cost=2.2),),
        charted=("p50", "p99"),
    ),
    Group(
        "current_thread", "Current-thread scheduler",
        "The same kinds of workloads on the current-thread runtime, on one thread. Go has a single scheduler, which has one "
        "thread here, and in all workloads whose name ends in `_ct`.",
        (
            Workload("ct_spawn_local", "tokio go bare", "spawns and joins 1,000 tasks"),
            Workload("ct_spawn_detached", "tokio asio go bare", "spawns 1,000 tasks that nobody joins"),
            Workload("ct_spawn_remote_idle", "tokio", "spawns 1,000 tasks before the runtime is entered"),
            Workload("ct_yield", "tokio asio go bare", "200 tasks yield 1,000 times each"),
            Workload("ct_yield_single", "tokio asio go", "a single task yields 10,000 times"),
            Workload("ct_ping_pong", "tokio go", "1,000 pairs of tasks signal each other"),
        ),
    ),
    Group(
        "fork_join", "Fork and join",
        "Trees of tasks that do next to nothing, so that the cost of a task remains. The figure is the time of one "
        "task. In the workloads with `_fork`, forks compute the same trees without a task for each node.",
        (
            Workload("skynet", "tokio asio go", "1,111,111 tasks, ten children each; two workers", cost=6.0),
            Workload("skynet_ct", "tokio go", "the same on the current thread", cost=6.0),
            Workload("fib30", "tokio go", "1,346,268 tasks, one of two calls is spawned; two workers", cost=4.0),
            Workload("fib30_ct", "tokio go", "the same on the current thread", cost=4.0),
            Workload("skynet_fork", "", "skynet with children of forks in place of tasks; two workers"),
            Workload("skynet_fork_ct", "", "the same on the current thread"),
            Workload("fib30_fork", "", "1,346,268 forks of both calls, without a task for each; two workers"),
            Workload("fib30_fork_ct", "", "the same on the current thread"),
        ),
    ),
    Group(
        "channels", "Channels",
        "Words sent between tasks. A name that ends in `_ct` is on the current-thread runtime; the others are on two "
        "workers.",
        (
            Workload("mpsc_bounded100_1p", "tokio asio go", "1 sender, 100 places"),
            Workload("mpsc_bounded100_1p_ct", "tokio asio go bare", "1 sender, 100 places"),
            Workload("mpsc_bounded1000_1p", "tokio asio go", "1 sender, 1,000 places"),
            Workload("mpsc_bounded1000_1p_ct", "tokio asio go", "1 sender, 1,000 places"),
            Workload("mpsc_bounded100_5p", "tokio go", "5 senders, 100 places, to the thread in BlockOn()"),
            Workload("mpsc_bounded1m_5p", "tokio", "5 senders, 1,000,000 places, to that thread"),
            Workload("mpsc_bounded1000_5p", "tokio asio go", "5 senders, 1,000 places"),
            Workload("mpsc_unbounded_1p", "tokio", "1 sender, no limit"),
            Workload("mpsc_unbounded_1p_ct", "tokio", "1 sender, no limit"),
            Workload("mpsc_unbounded_5p", "tokio", "5 senders, no limit"),
            Workload("mpmc_bounded1000_1x1", "tokio", "1 sender, 1 receiver, 1,000 places; beside async-channel on Tokio"),
            Workload("mpmc_bounded1000_4x4", "tokio", "4 senders, 4 receivers, 1,000 places; beside async-channel"),
            Workload("mpmc_unbounded_1x1", "tokio", "1 sender, 1 receiver, no limit; beside async-channel"),
            Workload("mpmc_unbounded_4x4", "tokio", "4 senders, 4 receivers, no limit; beside async-channel"),
            Workload("oneshot_ready", "tokio go", "create, send, receive; no task waits"),
            Workload("request_reply", "tokio go", "mpsc there, oneshot back; from the thread in BlockOn()"),
            Workload("request_reply_worker", "tokio go", "mpsc there, oneshot back; from a task"),
            Workload("request_reply_ct", "tokio go", "mpsc there, oneshot back"),
            Workload("broadcast_10", "tokio", "10 receivers; time for each value and receiver"),
            Workload("broadcast_10_ct", "tokio", "10 receivers; time for each value and receiver"),
            Workload("watch_100", "tokio", "a change that 100 receivers see"),
            Workload("watch_100_ct", "tokio", "a change that 100 receivers see"),
        ),
    ),
    Group(
        "sync", "Locks and notifications",
        "Contended workloads have eight tasks on two workers. In `mutex_handoff`, each holder yields with the lock, so "
        "that every unlock passes the lock to a task that waits. Go's mutex lets the task that runs lock again while others "
        "wait; its notifications and semaphores are channels.",
        (
            Workload("notify_permit", "tokio go", "notify, and find the permit"),
            Workload("notify_ping_pong", "tokio go", "round trip between two tasks; two workers"),
            Workload("notify_ping_pong_ct", "tokio go", "round trip between two tasks"),
            Workload("mutex_uncontended", "tokio go", "lock and unlock"),
            Workload("mutex_contended", "tokio go", "eight tasks lock and unlock"),
            Workload("mutex_handoff", "tokio", "eight tasks yield with the lock"),
            Workload("mutex_handoff_ct", "tokio", "eight tasks yield with the lock"),
            Workload("semaphore_uncontended", "tokio go", "acquire and release"),
            Workload("semaphore_contended", "tokio go", "eight tasks share two permits"),
        ),
    ),
    Group(
        "timers", "Arming and cancelling timers",
        "A timeout that does not expire is armed and cancelled. libuv and the bare loop have no tasks, and libuv arms "
        "a timer without reading the clock.",
        (
            Workload("timer_seq_cancel", "tokio go", "one after another, on a worker"),
            Workload("timer_seq_cancel_ct", "tokio asio libuv go bare", "one after another"),
            Workload("timer_seq_cancel_x2", "tokio go", "one after another, on two workers at once"),
            Workload("timer_bulk_cancel", "tokio go", "a million timers at once, on a worker", cost=3.0),
            Workload("timer_bulk_cancel_ct", "tokio asio libuv go bare", "a million timers at once", cost=3.0),
        ),
    ),
    Group(
        "lateness", "Lateness of timers",
        "The delay between the deadline and the moment when the task runs, for 100,000 deadlines within a second. "
        "Rouse's and Tokio's timers have a resolution of 1 ms. A task that is "
        "spawned after its deadline is late, too.",
        (
            Workload("timer_lateness", "tokio asio go", "two workers", cost=1.6),
            Workload("timer_lateness_ct", "tokio asio go bare", "one thread", cost=1.6),
        ),
        charted=("p50", "p99"),
    ),
    Group(
        "sleepers", "A million sleeping tasks",
        "Each of a million tasks sleeps for two seconds. The figures are the resident memory of a task, and the time "
        "of a task beyond the two seconds. libuv and the bare loop have timers without tasks of a runtime. Go has no "
        "figure for memory if the spawning takes over two seconds, because some tasks have then ended before others begin.",
        (
            Workload("timer_1m_tasks", "tokio asio go", "two workers", cost=4.0),
            Workload("timer_1m_tasks_ct", "tokio asio libuv go bare", "one thread", cost=4.0),
        ),
        charted=("rss_per_task", "overhead_over_2s"),
    ),
    Group(
        "echo", "Echo server",
        "The server has one CPU and the load has another CPU. A connection sends 64 bytes, waits for the answer, and "
        "sends again. Servers run on one thread; \"worker\" is the multi-thread runtime with one worker, which is the "
        "same for Go.",
        _loads((1, 64, 1_000), SERVERS, _echo),
        charted=("rate", "server_cpu"),
    ),
    Group(
        "idle", "Idle connections",
        "The server's resident memory for a connection that waits for bytes. The kernel's memory does not count, and "
        "the bare loop has no state for a connection.",
        _loads((10_000,), SERVERS, _idle),
        charted=("memory",),
    ),
    Group(
        "stream", "Streaming",
        "The server has one CPU and the load has another CPU. The load copies no bytes. If the server uses less than "
        "its whole CPU (`server_cores` below 1), the load is the limit, and only `server_cpu` can be compared.",
        _loads((("source", 1), ("source", 16), ("sink", 1), ("sink", 16)), SERVERS, _stream),
        charted=("rate", "server_cpu"),
    ),
    Group(
        "accept", "Accepting connections",
        "The handshake of a new connection is mostly the kernel's work, on both ends.",
        _loads((("accept", 1), ("accept", 64)), SERVERS, _stream),
        charted=("rate", "server_cpu"),
    ),
    Group(
        "http", "HTTP server",
        "Rouse's example http_hello, Go's net/http and nginx answer `GET /` with `hello`. The server has one CPU, and wrk, "
        "which loads the server, has another CPU. Connections stay open. Only Rouse's answer has no Date; nginx names "
        "itself, too. Rouse's example limits the time of each request with timers, as nginx does.",
        (_http(64), _http(1_000)),
        charted=("rate", "server_cpu", "p99"),
    ),
    Group(
        "memory", "Memory of tasks, coroutines and channels",
        "A program makes 200,000 objects. The figure is the resident memory of one object, with all its allocations. "
        "The handles do not count. Go has a collector, whose memory counts.",
        (
            Workload("memory_task_ct", "tokio go", "a task that waits for a notification"),
            Workload("memory_coroutine", "tokio", "a coroutine before its first poll; Tokio's is a boxed future"),
            Workload("memory_oneshot", "tokio go", "an empty oneshot channel"),
            Workload("memory_bounded100", "tokio go", "an empty channel with 100 places for 8 bytes each"),
            Workload("memory_unbounded", "tokio", "an empty channel without a limit"),
        ),
        charted=("memory",),
    ),
    Group(
        "compilation", "Time to compile headers",
        "The CPU time that clang 19 takes for a source that only includes the headers, without generating code. Most "
        "programs that use Rouse include Abseil's headers anyway. Asio's header contains the implementation; Rouse's "
        "implementation is compiled once.",
        (
            Compilation("all_headers", "the header that programs include; of Abseil: statusor, time, str_cat, mutex",
                        {"rouse": ("rouse/rouse.h",), "asio": ("asio.hpp",),
                         "abseil": ("absl/status/statusor.h", "absl/time/time.h", "absl/strings/str_cat.h",
                                    "absl/synchronization/mutex.h")}),
            Compilation("one_channel", "the header of one kind of channel", {"rouse": ("rouse/sync/mpsc.h",)}),
        ),
    ),
    Group(
        "sizes", "Sizes of programs",
        "Programs without symbols, linked as each build system links by default: Rouse and Tokio are in the program, "
        "Asio has only headers, and libuv, the C++ library and the C library are shared. Go's programs contain "
        "everything.",
        (
            Size("hello", "two tasks, a timer, a deadline",
                 {"rouse": "//examples/hello:hello", "tokio": "tokio_hello", "asio": "asio_hello",
                  "go": "go_hello"}),
            Size("echo", "an echo server",
                 {"rouse": "//benchmarks:rouse_echo", **PEER_SERVERS["echo"]}),
        ),
    ),
)

# The targets that Bazel builds.
TARGETS = (*ROUSE_PROGRAMS.values(), "//examples/hello:hello")


def group(name):
    """Returns the group of that name, or None."""
    return next((one for one in GROUPS if one.name == name), None)


def metric(row):
    """Returns the metric of a row: "p50" of "timer_lateness:p50", and "" of a row named after its workload."""
    return row.partition(":")[2]


def direction(unit):
    """Returns what is better, "higher" or "lower"; "" for a unit that says neither."""
    if unit == "cores":
        return ""  # says which end was the limit
    return "higher" if unit.endswith("/s") else "lower"
