//! `tokio_stream PORT [ct | mt WORKERS]`: serves like rouse_stream.cc, one task per connection.

use std::io::Result;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Builder;

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

async fn serve(port: u16) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(([127, 0, 0, 1], port).into()).unwrap();
    let listener = socket.listen(4096).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        tokio::spawn(serve_one(stream));
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let port: u16 = args[0].parse().unwrap();
    if args.get(1).map(String::as_str) == Some("mt") {
        let workers = args.get(2).map_or(1, |n| n.parse().unwrap());
        let rt = Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap();
        rt.block_on(rt.spawn(serve(port))).unwrap();
    } else {
        let rt = Builder::new_current_thread().enable_all().build().unwrap();
        rt.block_on(serve(port));
    }
}
