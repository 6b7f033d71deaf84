// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! Spawning, joining and yielding, with the names of Tokio's own benchmarks where these exist.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{sync_channel, SyncSender};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::{yield_now, JoinHandle};

use super::harness::{join_all, Bench};

const SPAWNS: usize = 10_000;
const YIELDING_TASKS: usize = 200;
const YIELDS: usize = 1_000;
const PAIRS: usize = 1_000;

/// Counts tasks, and notifies a thread when the last one has ended.
struct CountDown {
    remaining: AtomicUsize,
    done: SyncSender<()>,
}

impl CountDown {
    fn count(&self) {
        // Each task is counted once, so only the last task sees 1.
        if self.remaining.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.send(()).unwrap();
        }
    }
}

/// Calls `start` with a count-down of `count` tasks, and blocks until all have been counted.
fn count_down(count: usize, start: impl FnOnce(Arc<CountDown>)) {
    let (done, all_done) = sync_channel(1);
    start(Arc::new(CountDown { remaining: AtomicUsize::new(count), done }));
    all_done.recv().unwrap();
}

async fn spawn_count_downs(tasks: Arc<CountDown>) {
    for _ in 0..SPAWNS {
        let tasks = tasks.clone();
        tokio::spawn(async move { tasks.count() });
    }
}

async fn yield_times(count: usize) {
    for _ in 0..count {
        yield_now().await;
    }
}

async fn spawn_and_join(count: usize) {
    let mut handles = Vec::with_capacity(count);
    for _ in 0..count {
        handles.push(tokio::spawn(async {}));
    }
    join_all(handles).await;
}

/// Spawns tasks from a thread outside the scheduler, and joins the tasks.
fn spawn_remote(bench: &Bench, rt: &Runtime, count: usize) {
    let mut handles: Vec<JoinHandle<()>> = Vec::with_capacity(count);
    bench.measure(count, || {
        for _ in 0..count {
            handles.push(rt.spawn(async {}));
        }
        rt.block_on(join_all(handles.drain(..)));
    });
}

fn stall() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(10) {
        std::thread::yield_now();
    }
}

/// Like the idle workload, while two tasks for each worker stall for 10 us and yield in turn.
fn spawn_remote_busy_yielding(bench: &Bench, rt: &Runtime) {
    let busy = Arc::new(AtomicBool::new(true));
    for _ in 0..2 * bench.workers {
        let busy = busy.clone();
        rt.spawn(async move {
            while busy.load(Ordering::Relaxed) {
                yield_now().await;
                stall();
            }
        });
    }
    spawn_remote(bench, rt, SPAWNS);
    busy.store(false, Ordering::Relaxed);
}

fn stall_and_respawn(busy: Arc<AtomicBool>) {
    tokio::spawn(async move {
        if busy.load(Ordering::Relaxed) {
            stall();
            stall_and_respawn(busy);
        }
    });
}

/// Like the idle workload, while one task for each worker stalls for 10 us and spawns its
/// successor.
fn spawn_remote_busy_respawning(bench: &Bench, rt: &Runtime) {
    let busy = Arc::new(AtomicBool::new(true));
    for _ in 0..bench.workers {
        let busy = busy.clone();
        rt.spawn(async move { stall_and_respawn(busy) });
    }
    spawn_remote(bench, rt, 1_000);
    busy.store(false, Ordering::Relaxed);
}

/// Spawns a partner task, and exchanges two signals with the partner.
async fn ping() {
    let (ping, pinged) = oneshot::channel::<()>();
    let (pong, ponged) = oneshot::channel::<()>();
    tokio::spawn(async move {
        pinged.await.unwrap();
        pong.send(()).unwrap();
    });
    ping.send(()).unwrap();
    ponged.await.unwrap();
}

async fn spawn_pairs(pairs: Arc<CountDown>) {
    for _ in 0..PAIRS {
        let pairs = pairs.clone();
        tokio::spawn(async move {
            ping().await;
            pairs.count();
        });
    }
}

fn chain(end: Arc<CountDown>, left: usize) {
    if left == 0 {
        end.count();
    } else {
        tokio::spawn(async move { chain(end, left - 1) });
    }
}

fn compute_until(is_over: impl Fn() -> bool) {
    while !is_over() {
        std::hint::spin_loop();
    }
}

fn compute_for(time: Duration) {
    let start = Instant::now();
    compute_until(|| start.elapsed() >= time);
}

/// A round of `stuck_spawner`. Times are in nanoseconds since `start`; 0 if not yet known.
struct StuckRound {
    start: Instant,
    other_is_busy: AtomicBool,
    has_spawned: AtomicBool,
    other_is_free: AtomicU64,
    first_began: AtomicU64,
}

impl StuckRound {
    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn be_busy_for_a_millisecond(&self) {
        self.other_is_busy.store(true, Ordering::Release);
        compute_until(|| self.has_spawned.load(Ordering::Acquire));
        compute_for(Duration::from_millis(1));
        self.other_is_free.store(self.now(), Ordering::Relaxed);
    }

    fn note_begin(&self) {
        let now = self.now();
        // The first task alone finds 0. Relaxed: the value is read after all tasks were joined.
        let _ = self.first_began.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    }
}

async fn spawn_and_compute_on(round: Arc<StuckRound>) {
    compute_until(|| round.other_is_busy.load(Ordering::Acquire));
    let mut handles = Vec::new();
    for _ in 0..3 {
        let round = round.clone();
        handles.push(tokio::spawn(async move { round.note_begin() }));
    }
    round.has_spawned.store(true, Ordering::Release);
    compute_for(Duration::from_millis(9));
    join_all(handles).await;
}

/// A task spawns three tasks, and computes for another 9 ms. The other worker has been busy, and
/// becomes free after 1 ms. Measures the time from then until the first of the three tasks begins.
fn stuck_spawner(bench: &Bench, rt: &Runtime) {
    const ROUNDS: usize = 200;
    let mut delays = Vec::new();
    for _ in 0..ROUNDS {
        let round = Arc::new(StuckRound {
            start: Instant::now(),
            other_is_busy: AtomicBool::new(false),
            has_spawned: AtomicBool::new(false),
            other_is_free: AtomicU64::new(0),
            first_began: AtomicU64::new(0),
        });
        let busy = round.clone();
        let other = rt.spawn(async move { busy.be_busy_for_a_millisecond() });
        let spawner = rt.spawn(spawn_and_compute_on(round.clone()));
        rt.block_on(join_all([other, spawner]));
        let began = round.first_began.load(Ordering::Relaxed) as f64;
        delays.push((began - round.other_is_free.load(Ordering::Relaxed) as f64) / 1e3);
    }
    delays.sort_by(f64::total_cmp);
    bench.report("p50", delays[ROUNDS / 2], "us");
    bench.report("p99", delays[ROUNDS - ROUNDS / 100 - 1], "us");
}

pub fn run(bench: &Bench) -> bool {
    let rt = bench.runtime();
    match bench.workload.as_str() {
        "spawn_many_local" => bench.measure(SPAWNS, || {
            count_down(SPAWNS, |tasks| rt.block_on(spawn_count_downs(tasks)));
        }),
        "spawn_many_worker" => bench.measure(SPAWNS, || {
            count_down(SPAWNS, |tasks| rt.block_on(rt.spawn(spawn_count_downs(tasks))).unwrap());
        }),
        "spawn_join_worker" => {
            bench.measure(SPAWNS, || bench.run_root(&rt, spawn_and_join(SPAWNS)));
        }
        "spawn_many_remote_idle" => spawn_remote(bench, &rt, SPAWNS),
        "spawn_many_remote_busy1" => spawn_remote_busy_yielding(bench, &rt),
        "spawn_many_remote_busy2" => spawn_remote_busy_respawning(bench, &rt),
        "yield_many" => bench.measure(YIELDING_TASKS * YIELDS, || {
            count_down(YIELDING_TASKS, |tasks| {
                for _ in 0..YIELDING_TASKS {
                    let tasks = tasks.clone();
                    rt.spawn(async move {
                        yield_times(YIELDS).await;
                        tasks.count();
                    });
                }
            });
        }),
        "ping_pong" => bench.measure(PAIRS, || {
            count_down(PAIRS, |pairs| drop(rt.spawn(spawn_pairs(pairs))));
        }),
        "chained_spawn" => bench.measure(1_000, || {
            count_down(1, |end| drop(rt.spawn(async move { chain(end, 1_000) })));
        }),
        "round_trip_outside" => bench.measure(1_000, || {
            for _ in 0..1_000 {
                rt.block_on(rt.spawn(async {})).unwrap();
            }
        }),
        "stuck_spawner" => stuck_spawner(bench, &rt),
        "ct_spawn_local" => bench.measure(1_000, || rt.block_on(spawn_and_join(1_000))),
        "ct_spawn_detached" => bench.measure(1_000, || {
            rt.block_on(async {
                let (done, all_done) = oneshot::channel();
                let remaining = Arc::new(AtomicUsize::new(1_000));
                let done = Arc::new(std::sync::Mutex::new(Some(done)));
                for _ in 0..1_000 {
                    let (remaining, done) = (remaining.clone(), done.clone());
                    tokio::spawn(async move {
                        if remaining.fetch_sub(1, Ordering::Relaxed) == 1 {
                            done.lock().unwrap().take().unwrap().send(()).unwrap();
                        }
                    });
                }
                all_done.await.unwrap();
            });
        }),
        "ct_spawn_remote_idle" => spawn_remote(bench, &rt, 1_000),
        "ct_yield" => bench.measure(YIELDING_TASKS * YIELDS, || {
            rt.block_on(async {
                let tasks: Vec<_> =
                    (0..YIELDING_TASKS).map(|_| tokio::spawn(yield_times(YIELDS))).collect();
                join_all(tasks).await;
            });
        }),
        "ct_yield_single" => {
            bench.measure(10_000, || rt.block_on(rt.spawn(yield_times(10_000))).unwrap());
        }
        "ct_ping_pong" => bench.measure(PAIRS, || {
            rt.block_on(async {
                let pairs: Vec<_> = (0..PAIRS).map(|_| tokio::spawn(ping())).collect();
                join_all(pairs).await;
            });
        }),
        _ => return false,
    }
    true
}
