// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! `tokio_hello`: does what //examples/hello does: two tasks, a timer, a deadline. Only the size of
//! the program is measured.

use std::future::pending;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};

async fn fetch(what: &'static str, takes: Duration) -> String {
    sleep(takes).await;
    format!("the {}", what)
}

async fn run() {
    let slow = tokio::spawn(fetch("news", Duration::from_millis(20)));
    let fast = tokio::spawn(fetch("weather", Duration::from_millis(10)));
    let weather = fast.await.unwrap();
    let news = slow.await.unwrap();
    println!("{}, then {}", weather, news);
    let never = timeout(Duration::from_millis(10), pending::<()>()).await;
    println!("and the rest: {}", never.unwrap_err());
}

fn main() {
    let rt = Builder::new_multi_thread().enable_all().build().unwrap();
    rt.block_on(run());
}
