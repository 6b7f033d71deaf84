// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! Channels between tasks: mpsc, async-channel as an mpmc, oneshot, mpsc together with oneshot,
//! broadcast, and watch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use tokio::sync::{broadcast, mpsc, oneshot, watch, Notify, Semaphore};

use super::harness::{current_thread, join_all, keep_alive, Bench};

const MESSAGES: usize = 200_000;

async fn send_bounded(tx: mpsc::Sender<usize>, count: usize) {
    for i in 0..count {
        tx.send(i).await.unwrap();
    }
}

async fn send_unbounded(tx: mpsc::UnboundedSender<usize>, count: usize) {
    for i in 0..count {
        tx.send(i).unwrap();
    }
}

/// One task sends 200,000 words to another task.
async fn bounded_pair(capacity: usize) {
    let (tx, mut rx) = mpsc::channel(capacity);
    let producer = tokio::spawn(send_bounded(tx, MESSAGES));
    let consumer = tokio::spawn(async move {
        let mut sum = 0;
        while let Some(value) = rx.recv().await {
            sum += value;
        }
        keep_alive(sum);
    });
    join_all([producer, consumer]).await;
}

async fn unbounded_pair() {
    let (tx, mut rx) = mpsc::unbounded_channel();
    let producer = tokio::spawn(send_unbounded(tx, MESSAGES));
    let consumer = tokio::spawn(async move {
        let mut sum = 0;
        while let Some(value) = rx.recv().await {
            sum += value;
        }
        keep_alive(sum);
    });
    join_all([producer, consumer]).await;
}

/// Five producers send to the task that runs this future.
async fn bounded_five(capacity: usize, each: usize) {
    let (tx, mut rx) = mpsc::channel(capacity);
    for _ in 0..5 {
        tokio::spawn(send_bounded(tx.clone(), each));
    }
    for _ in 0..5 * each {
        keep_alive(rx.recv().await);
    }
}

async fn unbounded_five(each: usize) {
    let (tx, mut rx) = mpsc::unbounded_channel();
    for _ in 0..5 {
        tokio::spawn(send_unbounded(tx.clone(), each));
    }
    for _ in 0..5 * each {
        keep_alive(rx.recv().await);
    }
}

/// Tasks send 200,000 words to as many receiving tasks, each word to one task. The channel is
/// async-channel's, because Tokio has none with several receivers.
async fn shared_by(
    (tx, rx): (async_channel::Sender<usize>, async_channel::Receiver<usize>),
    ends: usize,
) {
    let mut receivers = Vec::new();
    for _ in 0..ends {
        let (tx, rx) = (tx.clone(), rx.clone());
        tokio::spawn(async move {
            for i in 0..MESSAGES / ends {
                tx.send(i).await.unwrap();
            }
        });
        receivers.push(tokio::spawn(async move {
            let mut sum = 0;
            while let Ok(value) = rx.recv().await {
                sum += value;
            }
            keep_alive(sum);
        }));
    }
    drop((tx, rx));
    join_all(receivers).await;
}

/// Creates a oneshot, sends, and then receives, without a task switch.
fn oneshot_ready(bench: &Bench) {
    const COUNT: usize = 100_000;
    let rt = current_thread();
    bench.measure(COUNT, || {
        rt.block_on(async {
            for i in 0..COUNT {
                let (tx, rx) = oneshot::channel();
                tx.send(keep_alive(i)).unwrap();
                keep_alive(rx.await.unwrap());
            }
        });
    });
}

async fn ask(requests: mpsc::Sender<oneshot::Sender<bool>>, count: usize) {
    for _ in 0..count {
        let (reply, answer) = oneshot::channel();
        requests.send(reply).await.unwrap();
        answer.await.unwrap();
    }
}

/// A client sends requests over an mpsc of capacity 10, and receives answers over oneshots. The
/// client is the thread in `block_on`, or a task.
fn request_reply(bench: &Bench) {
    const REQUESTS: usize = 1_000;
    let rt = bench.runtime();
    let (tx, mut rx) = mpsc::channel::<oneshot::Sender<bool>>(10);
    rt.spawn(async move {
        while let Some(reply) = rx.recv().await {
            reply.send(true).unwrap();
        }
    });
    let on_worker = bench.workload == "request_reply_worker";
    bench.measure(REQUESTS, || {
        if on_worker {
            bench.run_root(&rt, ask(tx.clone(), REQUESTS));
        } else {
            rt.block_on(ask(tx.clone(), REQUESTS));
        }
    });
}

const BROADCAST_RECEIVERS: usize = 10;
const BROADCAST_VALUES: usize = 20_000;
const BROADCAST_CAPACITY: usize = 1024;
// The sender begins a burst only after all tasks have received the third burst before it, so that
// no receiver lags.
const BURST: usize = 250;
const BURSTS_AHEAD: usize = 3;

/// Sends each word to ten tasks. Measures the time for each value and receiver.
async fn broadcast_10() {
    let (tx, _) = broadcast::channel::<usize>(BROADCAST_CAPACITY);
    let window = Arc::new(Semaphore::new(BURSTS_AHEAD));
    let notified: Arc<Vec<AtomicUsize>> =
        Arc::new((0..BROADCAST_VALUES / BURST).map(|_| AtomicUsize::new(0)).collect());
    let mut receivers = Vec::new();
    for _ in 0..BROADCAST_RECEIVERS {
        let (mut rx, window, notified) = (tx.subscribe(), window.clone(), notified.clone());
        receivers.push(tokio::spawn(async move {
            for i in 0..BROADCAST_VALUES {
                assert_eq!(rx.recv().await.unwrap(), i);
                if i % BURST == BURST - 1
                    && notified[i / BURST].fetch_add(1, Ordering::Relaxed)
                        == BROADCAST_RECEIVERS - 1
                {
                    window.add_permits(1);
                }
            }
        }));
    }
    let sender = tokio::spawn(async move {
        for i in 0..BROADCAST_VALUES {
            if i % BURST == 0 {
                window.acquire().await.unwrap().forget();
            }
            tx.send(i).unwrap();
        }
    });
    sender.await.unwrap();
    join_all(receivers).await;
}

const WATCH_RECEIVERS: usize = 100;
const WATCH_VALUES: usize = 2_000;

/// A hundred tasks wait for each change. Measures the time of a change that all tasks have seen.
async fn watch_100() {
    let (tx, rx) = watch::channel(0);
    let notified = Arc::new(AtomicUsize::new(0));
    let all_notified = Arc::new(Notify::new());
    let mut receivers = Vec::new();
    for _ in 0..WATCH_RECEIVERS {
        let (mut rx, notified, all_notified) = (rx.clone(), notified.clone(), all_notified.clone());
        receivers.push(tokio::spawn(async move {
            for i in 1..=WATCH_VALUES {
                rx.changed().await.unwrap();
                assert_eq!(*rx.borrow(), i);
                if (notified.fetch_add(1, Ordering::AcqRel) + 1) % WATCH_RECEIVERS == 0 {
                    all_notified.notify_one();
                }
            }
        }));
    }
    let sender = tokio::spawn(async move {
        for i in 1..=WATCH_VALUES {
            tx.send(i).unwrap();
            all_notified.notified().await;
        }
    });
    sender.await.unwrap();
    join_all(receivers).await;
}

pub fn run(bench: &Bench) -> bool {
    let rt = bench.runtime();
    match bench.workload.as_str() {
        "mpsc_bounded100_1p" | "mpsc_bounded100_1p_ct" => {
            bench.measure(MESSAGES, || rt.block_on(bounded_pair(100)));
        }
        "mpsc_bounded1000_1p" | "mpsc_bounded1000_1p_ct" => {
            bench.measure(MESSAGES, || rt.block_on(bounded_pair(1_000)));
        }
        "mpsc_unbounded_1p" | "mpsc_unbounded_1p_ct" => {
            bench.measure(MESSAGES, || rt.block_on(unbounded_pair()));
        }
        // The thread in `block_on` receives.
        "mpsc_bounded1m_5p" => {
            bench.measure(5_000, || rt.block_on(bounded_five(1_000_000, 1_000)));
        }
        "mpsc_bounded100_5p" => bench.measure(5_000, || rt.block_on(bounded_five(100, 1_000))),
        // A task on a worker receives.
        "mpsc_bounded1000_5p" => {
            bench.measure(200_000, || bench.run_root(&rt, bounded_five(1_000, 40_000)));
        }
        "mpsc_unbounded_5p" => {
            bench.measure(200_000, || bench.run_root(&rt, unbounded_five(40_000)));
        }
        "mpmc_bounded1000_1x1" => {
            bench.measure(MESSAGES, || rt.block_on(shared_by(async_channel::bounded(1_000), 1)));
        }
        "mpmc_bounded1000_4x4" => {
            bench.measure(MESSAGES, || rt.block_on(shared_by(async_channel::bounded(1_000), 4)));
        }
        "mpmc_unbounded_1x1" => {
            bench.measure(MESSAGES, || rt.block_on(shared_by(async_channel::unbounded(), 1)));
        }
        "mpmc_unbounded_4x4" => {
            bench.measure(MESSAGES, || rt.block_on(shared_by(async_channel::unbounded(), 4)));
        }
        "oneshot_ready" => oneshot_ready(bench),
        "request_reply" | "request_reply_ct" | "request_reply_worker" => request_reply(bench),
        "broadcast_10" | "broadcast_10_ct" => {
            let operations = BROADCAST_RECEIVERS * BROADCAST_VALUES;
            bench.measure(operations, || rt.block_on(broadcast_10()));
        }
        "watch_100" | "watch_100_ct" => {
            bench.measure(WATCH_VALUES, || rt.block_on(watch_100()));
        }
        _ => return false,
    }
    true
}
