// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

//! The parts that the measured servers share: the command line `PROGRAM PORT [ct | mt WORKERS]`,
//! and the loop that accepts connections.

use std::future::Future;
use std::io::Result;

use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Builder;

async fn accept<F>(port: u16, connection: fn(TcpStream) -> F) -> Result<()>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(([127, 0, 0, 1], port).into())?;
    let listener = socket.listen(4096)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(connection(stream));
    }
}

/// Serves on 127.0.0.1 until the process is killed, with a task of `connection` for each
/// connection.
pub fn run<F>(connection: fn(TcpStream) -> F)
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let args: Vec<String> = std::env::args().collect();
    let port = args.get(1).and_then(|text| text.parse().ok());
    let workers = args.get(3).map_or(Some(1), |text| text.parse().ok());
    let served = match (port, args.get(2).map_or("ct", String::as_str), workers) {
        (Some(port), "ct", Some(_)) => {
            let rt = Builder::new_current_thread().enable_all().build().unwrap();
            rt.block_on(accept(port, connection))
        }
        (Some(port), "mt", Some(workers)) => {
            let rt =
                Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap();
            rt.block_on(rt.spawn(accept(port, connection))).unwrap()
        }
        _ => {
            eprintln!("usage: {} PORT [ct | mt WORKERS]", args[0]);
            std::process::exit(2);
        }
    };
    eprintln!("{}: {:?}", args[0], served);
    std::process::exit(1);
}
