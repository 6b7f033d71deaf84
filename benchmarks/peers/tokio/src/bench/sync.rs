// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! Notify, Mutex and Semaphore.

use std::future::Future;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::{Mutex, Notify, Semaphore};
use tokio::task::yield_now;

use super::harness::{current_thread, join_all, Bench};

const REPEATS: usize = 100_000;
const CONTENDERS: usize = 8;
const CONTENDED_REPEATS: usize = 20_000;
const HAND_OFFS: usize = 2_000;
const ROUND_TRIPS: usize = 20_000;

async fn notify_oneself(notify: &Notify) {
    for _ in 0..REPEATS {
        notify.notify_one();
        notify.notified().await;
    }
}

/// Two tasks wake each other in turn. An operation is a round trip.
async fn notify_pair() {
    let ping = Arc::new(Notify::new());
    let pong = Arc::new(Notify::new());
    let (pinged, answer) = (ping.clone(), pong.clone());
    let answerer = tokio::spawn(async move {
        for _ in 0..ROUND_TRIPS {
            pinged.notified().await;
            answer.notify_one();
        }
    });
    let caller = tokio::spawn(async move {
        for _ in 0..ROUND_TRIPS {
            ping.notify_one();
            pong.notified().await;
        }
    });
    join_all([answerer, caller]).await;
}

async fn lock_and_count(counter: Arc<Mutex<u64>>, count: usize) {
    for _ in 0..count {
        *counter.lock().await += 1;
    }
}

/// Holds the lock across a yield, so that every unlock passes the lock to a waiter.
async fn lock_and_yield(counter: Arc<Mutex<u64>>) {
    for _ in 0..HAND_OFFS {
        let mut guard = counter.lock().await;
        *guard += 1;
        yield_now().await;
    }
}

async fn acquire_and_release(semaphore: Arc<Semaphore>, count: usize) {
    for _ in 0..count {
        drop(semaphore.acquire().await.unwrap());
    }
}

/// Runs eight tasks of one kind, and joins the tasks.
fn join_eight<F>(rt: &Runtime, make_task: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let tasks: Vec<_> = (0..CONTENDERS).map(|_| rt.spawn(make_task())).collect();
    rt.block_on(join_all(tasks));
}

pub fn run(bench: &Bench) -> bool {
    let rt = bench.runtime();
    let counter = Arc::new(Mutex::new(0));
    let contended = CONTENDERS * CONTENDED_REPEATS;
    match bench.workload.as_str() {
        "notify_permit" => {
            let (rt, notify) = (current_thread(), Notify::new());
            bench.measure(REPEATS, || rt.block_on(notify_oneself(&notify)));
        }
        "notify_ping_pong" | "notify_ping_pong_ct" => {
            bench.measure(ROUND_TRIPS, || rt.block_on(notify_pair()));
        }
        "mutex_uncontended" => {
            let rt = current_thread();
            bench.measure(REPEATS, || rt.block_on(lock_and_count(counter.clone(), REPEATS)));
        }
        "mutex_contended" => bench.measure(contended, || {
            join_eight(&rt, || lock_and_count(counter.clone(), CONTENDED_REPEATS));
        }),
        "mutex_handoff" | "mutex_handoff_ct" => bench.measure(CONTENDERS * HAND_OFFS, || {
            join_eight(&rt, || lock_and_yield(counter.clone()));
        }),
        "semaphore_uncontended" => {
            let (rt, semaphore) = (current_thread(), Arc::new(Semaphore::new(10)));
            bench.measure(REPEATS, || {
                rt.block_on(acquire_and_release(semaphore.clone(), REPEATS));
            });
        }
        "semaphore_contended" => {
            let semaphore = Arc::new(Semaphore::new(2));
            bench.measure(contended, || {
                join_eight(&rt, || acquire_and_release(semaphore.clone(), CONTENDED_REPEATS));
            });
        }
        _ => return false,
    }
    true
}
