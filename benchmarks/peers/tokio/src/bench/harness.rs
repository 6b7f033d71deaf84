// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! The parts that the workloads share: the command line, the timing loop, and the lines of output.

use std::future::Future;
use std::time::Instant;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// One run of one workload.
pub struct Bench {
    pub workload: String,
    pub workers: usize,
    seconds: f64,
}

impl Bench {
    /// Returns `None` if the command line or BENCH_SECS is malformed.
    pub fn from_command_line() -> Option<Bench> {
        let args: Vec<String> = std::env::args().skip(1).collect();
        if args.is_empty() || args.len() > 2 {
            return None;
        }
        let workers = args.get(1).map_or(Some(2), |text| text.parse().ok())?;
        let seconds = std::env::var("BENCH_SECS").map_or(Some(1.0), |text| text.parse().ok())?;
        Some(Bench { workload: args[0].clone(), workers, seconds })
    }

    /// Workloads named `ct_...` or `..._ct` run on the current-thread scheduler.
    pub fn is_current_thread(&self) -> bool {
        self.workload.starts_with("ct_") || self.workload.ends_with("_ct")
    }

    /// Returns a runtime of the kind that the workload's name asks for.
    pub fn runtime(&self) -> Runtime {
        if self.is_current_thread() {
            current_thread()
        } else {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(self.workers).enable_all().build().unwrap()
        }
    }

    /// Runs `root` on a thread that runs tasks: on a worker, or inside `block_on` of a
    /// current-thread runtime.
    pub fn run_root<F>(&self, rt: &Runtime, root: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        if self.is_current_thread() {
            rt.block_on(root);
        } else {
            rt.block_on(rt.spawn(root)).unwrap();
        }
    }

    /// Warms up, repeats `iteration` for the time of the run and at least three times, and prints
    /// the median time of an operation.
    pub fn measure(&self, operations: usize, mut iteration: impl FnMut()) {
        let warm_up = Instant::now();
        while warm_up.elapsed().as_secs_f64() < 0.3 * self.seconds {
            iteration();
        }
        let mut seconds = Vec::new();
        let start = Instant::now();
        while seconds.len() < 3 || start.elapsed().as_secs_f64() < self.seconds {
            let begin = Instant::now();
            iteration();
            seconds.push(begin.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let median = seconds[seconds.len() / 2];
        println!("{} {:.1} ns/op", self.workload, median * 1e9 / operations as f64);
    }

    /// Prints one line of a workload that has several figures.
    pub fn report(&self, metric: &str, value: f64, unit: &str) {
        println!("{}:{} {:.3} {}", self.workload, metric, value, unit);
    }
}

pub fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

pub async fn join_all(handles: impl IntoIterator<Item = JoinHandle<()>>) {
    for handle in handles {
        handle.await.unwrap();
    }
}

/// Keeps the compiler from removing the computation of `value`. (The standard library's function
/// needs a newer compiler than Debian 12's.)
pub fn keep_alive<T>(value: T) -> T {
    // SAFETY: the assembly is empty.
    unsafe { std::arch::asm!("/* {0} */", in(reg) &value, options(nostack, preserves_flags)) };
    value
}

/// Returns a field of /proc/self/status, such as `VmRSS`, in bytes.
pub fn status_bytes(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    let kibibytes: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kibibytes * 1024.0
}

/// Returns the user and system time of the process, which /proc/self/stat has in ticks of 10 ms.
pub fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the program, in brackets, can contain spaces.
    let fields = stat.rsplit(')').next().unwrap().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).map(|text| text.parse::<f64>().unwrap()).sum();
    ticks / 100.0
}

/// The pseudo-random sequence of all programs.
pub struct XorShift(u64);

impl XorShift {
    pub fn new() -> XorShift {
        XorShift(88172645463325252)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
