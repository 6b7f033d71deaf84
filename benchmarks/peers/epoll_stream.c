// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// epoll_stream PORT: serves like ../rouse_stream.cc, with the least possible
// effort: one thread, one buffer for all connections, and no state of a
// connection except its mode.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

// A connection writes this many times before other connections have a turn. It
// reads once, because more reads would double the CPU time of a MiB with 16
// connections.
enum { BLOCK = 64 * 1024, WRITES_A_TURN = 16 };

struct connection {
  int fd;
  char mode;  // 0 until the first byte
};

static const char zeros[BLOCK];
static char buffer[BLOCK];

static void close_connection(struct connection* connection) {
  close(connection->fd);
  free(connection);
}

static void accept_all(int epoll, int listener) {
  const int on = 1;
  int fd;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    struct connection* connection = malloc(sizeof *connection);
    *connection = (struct connection){.fd = fd};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  }
}

// Reads the first byte. Closes the connection if the mode has no further work.
static void begin(int epoll, struct connection* connection) {
  const ssize_t size = recv(connection->fd, &connection->mode, 1, 0);
  if (size < 0 && errno == EAGAIN) return;
  if (size == 1 && connection->mode == 'r') return;
  if (size == 1 && connection->mode == 's') {
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = connection};
    epoll_ctl(epoll, EPOLL_CTL_MOD, connection->fd, &event);
    return;
  }
  if (size == 1 && connection->mode == 'e') {
    send(connection->fd, &connection->mode, 1, MSG_NOSIGNAL);
  }
  close_connection(connection);
}

// Returns whether `size`, the result of a call, means that the connection has
// ended.
static int has_ended(ssize_t size) {
  return size == 0 || (size < 0 && errno != EAGAIN);
}

static void sink(struct connection* connection) {
  if (has_ended(recv(connection->fd, buffer, BLOCK, 0))) {
    close_connection(connection);
  }
}

static void source(struct connection* connection) {
  ssize_t size = BLOCK;
  for (int i = 0; i < WRITES_A_TURN && size == BLOCK; ++i) {
    size = send(connection->fd, zeros, BLOCK, MSG_NOSIGNAL);
  }
  if (has_ended(size)) close_connection(connection);
}

int main(int argc, char** argv) {
  const int port = argc > 1 ? atoi(argv[1]) : 0;
  const int on = 1;
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (struct sockaddr*)&address, sizeof address) != 0 ||
      listen(listener, SOMAXCONN) != 0) {
    perror("bind or listen");
    return 1;
  }
  const int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);

  struct epoll_event ready[256];
  for (;;) {
    const int count = epoll_wait(epoll, ready, 256, -1);
    for (int i = 0; i < count; ++i) {
      struct connection* connection = ready[i].data.ptr;
      if (connection == NULL) {
        accept_all(epoll, listener);
      } else if (connection->mode == 0) {
        begin(epoll, connection);
      } else if (connection->mode == 's') {
        source(connection);
      } else {
        sink(connection);
      }
    }
  }
}
