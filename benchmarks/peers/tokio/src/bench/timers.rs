// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! Timers: a million sleeping tasks, arming and cancelling, lateness.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{sleep, sleep_until, Instant, Sleep};

use super::harness::{cpu_seconds, join_all, keep_alive, status_bytes, Bench, XorShift};

const MILLION: usize = 1_000_000;

/// Polls a sleep once, which arms the timer. Is ready, whatever the poll returns.
struct Arm<'a>(Pin<&'a mut Sleep>);

impl Future for Arm<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        keep_alive(self.0.as_mut().poll(cx).is_ready());
        Poll::Ready(())
    }
}

/// Creates, polls and drops one timer after another, like timeouts that do not expire.
async fn arm_and_drop(count: usize) {
    let mut random = XorShift::new();
    for _ in 0..count {
        let timer = sleep(Duration::from_millis(1 + random.next() % 1_000));
        tokio::pin!(timer);
        Arm(timer).await;
    }
}

/// Creates a million timers of 1 to 61 s, and then drops all timers.
async fn arm_many_and_drop() {
    let mut random = XorShift::new();
    let mut timers = Vec::new();
    for _ in 0..MILLION {
        let mut timer = Box::pin(sleep(Duration::from_millis(1_000 + random.next() % 60_000)));
        Arm(timer.as_mut()).await;
        timers.push(timer);
    }
}

async fn sleep_two_seconds() {
    sleep(Duration::from_secs(2)).await;
}

fn million_sleepers(bench: &Bench) {
    let rt = bench.runtime();
    let resident_before = status_bytes("VmRSS");
    let start = Instant::now();
    let root = async move {
        let mut handles = Vec::with_capacity(MILLION);
        for _ in 0..MILLION {
            handles.push(tokio::spawn(sleep_two_seconds()));
        }
        let spawned = start.elapsed();
        join_all(handles).await;
        (spawned.as_secs_f64(), start.elapsed().as_secs_f64())
    };
    let (spawned, finished) = rt.block_on(rt.spawn(root)).unwrap();
    let per_task = |seconds: f64| seconds * 1e9 / MILLION as f64;
    bench.report("wall", finished, "s");
    bench.report("overhead_over_2s", per_task(finished - 2.0), "ns/task");
    bench.report("spawn_phase", per_task(spawned), "ns/task");
    let grown = status_bytes("VmHWM") - resident_before;
    bench.report("rss_per_task", grown / MILLION as f64, "bytes");
    bench.report("cpu", per_task(cpu_seconds()), "ns/task");
}

/// Runs 100,000 tasks, with deadlines spread over one second. Reports how late they are woken.
fn lateness(bench: &Bench) {
    const TASKS: usize = 100_000;
    let rt = bench.runtime();
    let root = async {
        let mut random = XorShift::new();
        let base = Instant::now() + Duration::from_millis(200);
        let mut handles = Vec::with_capacity(TASKS);
        for _ in 0..TASKS {
            let deadline = base + Duration::from_micros(random.next() % 1_000_000);
            handles.push(tokio::spawn(async move {
                sleep_until(deadline).await;
                deadline.elapsed().as_secs_f64() * 1e6
            }));
        }
        let mut late = Vec::with_capacity(TASKS);
        for handle in handles {
            late.push(handle.await.unwrap());
        }
        late
    };
    let mut late = rt.block_on(rt.spawn(root)).unwrap();
    late.sort_by(f64::total_cmp);
    bench.report("p50", late[TASKS / 2], "us");
    bench.report("p99", late[TASKS * 99 / 100], "us");
    bench.report("p999", late[TASKS * 999 / 1_000], "us");
    bench.report("max", late[TASKS - 1], "us");
}

pub fn run(bench: &Bench) -> bool {
    match bench.workload.as_str() {
        "timer_1m_tasks" | "timer_1m_tasks_ct" => million_sleepers(bench),
        "timer_seq_cancel" | "timer_seq_cancel_ct" => {
            let rt = bench.runtime();
            bench.measure(MILLION, || bench.run_root(&rt, arm_and_drop(MILLION)));
        }
        // Two tasks at once, which shows the cost of state that the workers share.
        "timer_seq_cancel_x2" => {
            let rt = bench.runtime();
            bench.measure(MILLION, || {
                let one = rt.spawn(arm_and_drop(MILLION / 2));
                let other = rt.spawn(arm_and_drop(MILLION / 2));
                rt.block_on(join_all([one, other]));
            });
        }
        "timer_bulk_cancel" | "timer_bulk_cancel_ct" => {
            let rt = bench.runtime();
            bench.measure(MILLION, || bench.run_root(&rt, arm_many_and_drop()));
        }
        "timer_lateness" | "timer_lateness_ct" => lateness(bench),
        _ => return false,
    }
    true
}
