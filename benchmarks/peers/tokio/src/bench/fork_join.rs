// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! Trees of spawned tasks, which measure the cost of a small task.

use std::future::Future;
use std::pin::Pin;

use super::harness::Bench;

/// A recursive `async fn` needs a box.
type Number = Pin<Box<dyn Future<Output = u64> + Send>>;

/// Sums [first, first + leaves) over a tree of tasks with ten children each.
fn skynet(first: u64, leaves: u64) -> Number {
    Box::pin(async move {
        if leaves == 1 {
            return first;
        }
        let share = leaves / 10;
        let children: Vec<_> =
            (0..10).map(|i| tokio::spawn(skynet(first + share * i, share))).collect();
        let mut sum = 0;
        for child in children {
            sum += child.await.unwrap();
        }
        sum
    })
}

/// Computes naively: spawns one branch, and awaits the other branch in place.
fn fibonacci(n: u64) -> Number {
    Box::pin(async move {
        if n < 2 {
            return n;
        }
        let forked = tokio::spawn(fibonacci(n - 1));
        let in_place = fibonacci(n - 2).await;
        forked.await.unwrap() + in_place
    })
}

async fn check(number: Number, expected: u64) {
    assert_eq!(number.await, expected);
}

pub fn run(bench: &Bench) -> bool {
    match bench.workload.as_str() {
        "skynet" | "skynet_ct" => {
            let rt = bench.runtime();
            bench.measure(1_111_111, || {
                bench.run_root(&rt, check(skynet(0, 1_000_000), 499_999_500_000));
            });
        }
        "fib30" | "fib30_ct" => {
            let rt = bench.runtime();
            bench.measure(1_346_268, || bench.run_root(&rt, check(fibonacci(30), 832_040)));
        }
        _ => return false,
    }
    true
}
