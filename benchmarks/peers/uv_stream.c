// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// uv_stream PORT: serves like ../rouse_stream.cc, on a loop of libuv.
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <uv.h>

enum { BLOCK = 64 * 1024 };

struct connection {
  uv_tcp_t tcp;
  uv_write_t write;
  char mode;     // 0 until the first byte
  char* buffer;  // of a connection that reads
};

static char zeros[BLOCK];

static void on_closed(uv_handle_t* handle) {
  free(((struct connection*)handle)->buffer);
  free(handle);
}

static void close_connection(uv_stream_t* stream) {
  if (!uv_is_closing((uv_handle_t*)stream)) {
    uv_close((uv_handle_t*)stream, on_closed);
  }
}

static void write_block(uv_stream_t* stream);

static void on_written(uv_write_t* write, int status) {
  if (status != 0) {
    close_connection(write->handle);
  } else {
    write_block(write->handle);
  }
}

static void write_block(uv_stream_t* stream) {
  struct connection* connection = (struct connection*)stream;
  uv_buf_t block = uv_buf_init(zeros, BLOCK);
  if (uv_write(&connection->write, stream, &block, 1, on_written) != 0) {
    close_connection(stream);
  }
}

static void provide_buffer(uv_handle_t* handle, size_t suggested,
                           uv_buf_t* buf) {
  struct connection* connection = (struct connection*)handle;
  (void)suggested;
  *buf = connection->mode == 0 ? uv_buf_init(&connection->mode, 1)
                               : uv_buf_init(connection->buffer, BLOCK);
}

static void on_read(uv_stream_t* stream, ssize_t length, const uv_buf_t* buf) {
  struct connection* connection = (struct connection*)stream;
  if (length == 0) return;
  if (length < 0) {
    close_connection(stream);
    return;
  }
  if (buf->base != &connection->mode) return;
  uv_buf_t answer = uv_buf_init(&connection->mode, 1);
  switch (connection->mode) {
    case 's':
      uv_read_stop(stream);
      write_block(stream);
      break;
    case 'r':
      connection->buffer = malloc(BLOCK);
      break;
    case 'e':
      uv_try_write(stream, &answer, 1);
      close_connection(stream);
      break;
    default:
      close_connection(stream);
  }
}

static void on_connection(uv_stream_t* listener, int status) {
  if (status != 0) return;
  struct connection* connection = calloc(1, sizeof *connection);
  uv_stream_t* stream = (uv_stream_t*)connection;
  uv_tcp_init(listener->loop, &connection->tcp);
  if (uv_accept(listener, stream) != 0) {
    close_connection(stream);
    return;
  }
  uv_tcp_nodelay(&connection->tcp, 1);
  uv_read_start(stream, provide_buffer, on_read);
}

int main(int argc, char** argv) {
  uv_loop_t* loop = uv_default_loop();
  uv_tcp_t listener;
  struct sockaddr_in address;
  signal(SIGPIPE, SIG_IGN);
  uv_tcp_init(loop, &listener);
  uv_ip4_addr("127.0.0.1", argc > 1 ? atoi(argv[1]) : 0, &address);
  if (uv_tcp_bind(&listener, (const struct sockaddr*)&address, 0) != 0 ||
      uv_listen((uv_stream_t*)&listener, SOMAXCONN, on_connection) != 0) {
    return 1;
  }
  return uv_run(loop, UV_RUN_DEFAULT);
}
