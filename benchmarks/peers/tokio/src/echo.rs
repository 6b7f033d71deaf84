// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! `tokio_echo PORT [ct | mt WORKERS]`: serves like ../../../rouse_echo.cc, with a task and a
//! buffer of 1 KiB for each connection.

mod server;

use std::io::Result;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn echo(mut stream: TcpStream) -> Result<()> {
    let mut buffer = [0u8; 1024];
    loop {
        let size = stream.read(&mut buffer).await?;
        if size == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..size]).await?;
    }
}

fn main() {
    server::run(echo);
}
