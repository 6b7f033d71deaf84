// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! `tokio_stream PORT [ct | mt WORKERS]`: serves like ../../../rouse_stream.cc, with a task for each
//! connection.

mod server;

use std::io::Result;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const BLOCK: usize = 64 * 1024;
static ZEROS: [u8; BLOCK] = [0; BLOCK];

async fn source(stream: &mut TcpStream) -> Result<()> {
    loop {
        stream.write_all(&ZEROS).await?;
    }
}

async fn sink(stream: &mut TcpStream) -> Result<()> {
    let mut buffer = vec![0u8; BLOCK];
    while stream.read(&mut buffer).await? != 0 {}
    Ok(())
}

async fn serve_one(mut stream: TcpStream) -> Result<()> {
    match stream.read_u8().await? {
        b's' => source(&mut stream).await,
        b'r' => sink(&mut stream).await,
        b'e' => stream.write_all(b"e").await,
        _ => Ok(()),
    }
}

fn main() {
    server::run(serve_one);
}
