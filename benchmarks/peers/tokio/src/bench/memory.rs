// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! The memory of tasks, futures and channels that wait.

use std::hint::black_box;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, Notify};
use tokio::task::yield_now;

use super::harness::{status_bytes, Bench};

const OBJECTS: usize = 200_000;

/// Makes many objects, and reports the resident memory of each. The elements of the vector do not
/// count, because they are resident before.
fn measure_objects<T>(bench: &Bench, make: impl Fn() -> T) {
    let mut objects: Vec<Option<T>> = Vec::new();
    objects.resize_with(OBJECTS, || None);
    let before = status_bytes("VmRSS");
    for object in &mut objects {
        *object = Some(make());
    }
    report(bench, before);
    black_box(&objects);
}

fn report(bench: &Bench, before: f64) {
    bench.report("memory", (status_bytes("VmRSS") - before) / OBJECTS as f64, "bytes");
}

/// Makes many tasks, and reports the resident memory of each when all wait.
async fn measure_tasks(bench: &Bench) {
    let notify = Arc::new(Notify::new());
    let mut handles = Vec::new();
    handles.resize_with(OBJECTS, || None);
    let before = status_bytes("VmRSS");
    for handle in &mut handles {
        let notify = notify.clone();
        *handle = Some(tokio::spawn(async move { notify.notified().await }));
    }
    // A current-thread runtime polls other tasks only while this one waits, and at most 61 in a row.
    for _ in 0..OBJECTS / 30 {
        yield_now().await;
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
