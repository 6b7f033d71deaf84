// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! The memory of tasks, futures and channels.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, Notify};
use tokio::task::yield_now;

use super::harness::{keep_alive, status_bytes, Bench};

/// A multiple of the number of tasks that are spawned at once.
const OBJECTS: usize = 200_000;

/// Makes many objects, and reports the resident memory of each. The elements of the vector do not
/// count, because their pages are resident before the first object is made.
fn measure_objects<T>(bench: &Bench, make: impl Fn() -> T) {
    let mut objects: Vec<Option<T>> = Vec::new();
    objects.resize_with(OBJECTS, || None);
    keep_alive(&objects);
    let before = status_bytes("VmRSS");
    for object in &mut objects {
        *object = Some(make());
    }
    report(bench, before);
    keep_alive(&objects);
}

fn report(bench: &Bench, before: f64) {
    bench.report("memory", (status_bytes("VmRSS") - before) / OBJECTS as f64, "bytes");
}

/// Makes many tasks, and reports the resident memory of each when all wait. Few tasks are in the
/// run queue at once, because its memory does not count.
async fn measure_tasks(bench: &Bench) {
    const AT_ONCE: usize = 1_000;
    static WAITING: AtomicUsize = AtomicUsize::new(0);
    let notify = Arc::new(Notify::new());
    let mut handles = Vec::new();
    handles.resize_with(OBJECTS, || None);
    keep_alive(&handles);
    let before = status_bytes("VmRSS");
    for (i, handle) in handles.iter_mut().enumerate() {
        let notify = notify.clone();
        *handle = Some(tokio::spawn(async move {
            WAITING.fetch_add(1, Ordering::Relaxed);
            notify.notified().await
        }));
        while (i + 1) % AT_ONCE == 0 && WAITING.load(Ordering::Relaxed) <= i {
            yield_now().await;
        }
    }
    report(bench, before);
    notify.notify_waiters();
    for handle in handles.into_iter().flatten() {
        handle.await.unwrap();
    }
}

async fn copy(number: i32) -> i32 {
    number
}

pub fn run(bench: &Bench) -> bool {
    match bench.workload.as_str() {
        "memory_task_ct" => bench.runtime().block_on(measure_tasks(bench)),
        "memory_coroutine" => measure_objects(bench, || Box::pin(copy(42))),
        "memory_oneshot" => measure_objects(bench, oneshot::channel::<u64>),
        "memory_bounded100" => measure_objects(bench, || mpsc::channel::<u64>(100)),
        "memory_unbounded" => measure_objects(bench, mpsc::unbounded_channel::<u64>),
        _ => return false,
    }
    true
}
