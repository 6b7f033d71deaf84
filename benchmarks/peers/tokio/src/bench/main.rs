// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! `tokio_bench WORKLOAD [WORKERS]`: runs one workload of ../../../../rouse_bench.cc on Tokio, and
//! prints a line `name value unit` for each figure. BENCH_SECS is the measured time in seconds, by
//! default 1. Exits with status 2 if the workload does not exist.

mod channels;
mod fork_join;
mod harness;
mod memory;
mod scheduler;
mod sync;
mod timers;

fn main() {
    let bench = harness::Bench::from_command_line().unwrap_or_else(|| {
        eprintln!("usage: tokio_bench WORKLOAD [WORKERS]");
        std::process::exit(2);
    });
    let groups = [scheduler::run, fork_join::run, channels::run, sync::run, timers::run, memory::run];
    if !groups.iter().any(|run| run(&bench)) {
        eprintln!("tokio_bench: no workload '{}'", bench.workload);
        std::process::exit(2);
    }
}
