//! `tokio_sync WORKLOAD [WORKERS]`: measures channels with many receivers. Prints a line
//! `name value unit`.
//! BENCH_SECS is the measured time (default 1). Exits with 2 for an unknown workload.
//!
//! Workloads named `..._ct` run on the current-thread scheduler.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{broadcast, watch, Notify, Semaphore};

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
    let told: Arc<Vec<AtomicUsize>> =
        Arc::new((0..BROADCAST_VALUES / BURST).map(|_| AtomicUsize::new(0)).collect());
    let mut receivers = Vec::new();
    for _ in 0..BROADCAST_RECEIVERS {
        let (mut rx, window, told) = (tx.subscribe(), window.clone(), told.clone());
        receivers.push(tokio::spawn(async move {
            for i in 0..BROADCAST_VALUES {
                assert_eq!(rx.recv().await.unwrap(), i);
                if i % BURST == BURST - 1
                    && told[i / BURST].fetch_add(1, Ordering::Relaxed) == BROADCAST_RECEIVERS - 1
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
    for receiver in receivers {
        receiver.await.unwrap();
    }
}

const WATCH_RECEIVERS: usize = 100;
const WATCH_VALUES: usize = 2_000;

/// A hundred tasks wait for each change. Measures the time of a change that all tasks have seen.
async fn watch_100() {
    let (tx, rx) = watch::channel(0);
    let told = Arc::new(AtomicUsize::new(0));
    let all_told = Arc::new(Notify::new());
    let mut receivers = Vec::new();
    for _ in 0..WATCH_RECEIVERS {
        let (mut rx, told, all_told) = (rx.clone(), told.clone(), all_told.clone());
        receivers.push(tokio::spawn(async move {
            for i in 1..=WATCH_VALUES {
                rx.changed().await.unwrap();
                assert_eq!(*rx.borrow(), i);
                if (told.fetch_add(1, Ordering::AcqRel) + 1) % WATCH_RECEIVERS == 0 {
                    all_told.notify_one();
                }
            }
        }));
    }
    let sender = tokio::spawn(async move {
        for i in 1..=WATCH_VALUES {
            tx.send(i).unwrap();
            all_told.notified().await;
        }
    });
    sender.await.unwrap();
    for receiver in receivers {
        receiver.await.unwrap();
    }
}

/// Warms up, repeats the workload, and prints the median time divided by `operations`.
fn measure<F>(name: &str, rt: &Runtime, operations: usize, workload: fn() -> F)
where
    F: Future<Output = ()>,
{
    let seconds: f64 = std::env::var("BENCH_SECS").map_or(1.0, |s| s.parse().unwrap());
    let warm_up = Instant::now();
    while warm_up.elapsed().as_secs_f64() < 0.3 * seconds {
        rt.block_on(workload());
    }
    let mut nanos = Vec::new();
    let start = Instant::now();
    while nanos.len() < 3 || start.elapsed().as_secs_f64() < seconds {
        let begin = Instant::now();
        rt.block_on(workload());
        nanos.push(begin.elapsed().as_nanos() as f64);
    }
    nanos.sort_by(|a, b| a.partial_cmp(b).unwrap());
    println!("{} {:.1} ns/op", name, nanos[nanos.len() / 2] / operations as f64);
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().map_or("", String::as_str);
    let workers = args.get(1).map_or(2, |n| n.parse().unwrap());
    let rt = if name.ends_with("_ct") {
        Builder::new_current_thread().build().unwrap()
    } else {
        Builder::new_multi_thread().worker_threads(workers).build().unwrap()
    };
    match name {
        "broadcast_10" | "broadcast_10_ct" => {
            measure(name, &rt, BROADCAST_RECEIVERS * BROADCAST_VALUES, broadcast_10)
        }
        "watch_100" | "watch_100_ct" => measure(name, &rt, WATCH_VALUES, watch_100),
        _ => {
            eprintln!("usage: tokio_sync broadcast_10[_ct] | watch_100[_ct] [WORKERS]");
            std::process::exit(2);
        }
    }
}
