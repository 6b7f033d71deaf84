// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// echo_load PORT CONNECTIONS SECONDS SERVER_PID: loads a server that serves
// like ../rouse_echo.cc, after a warm-up of half a second. Each connection
// sends 64 bytes, waits for the answer, and sends again. Prints lines
// `name value unit`. Latency is the time of a request, until all 64 bytes are
// back. CPU time is that of the server.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/epoll.h>

#include "load.h"

enum { MESSAGE = 64 };

struct connection {
  int fd;
  size_t missing;  // bytes of the answer
  uint64_t since;
};

static void request(struct connection* connection) {
  static const char message[MESSAGE];
  connection->missing = MESSAGE;
  connection->since = now_ns();
  if (send(connection->fd, message, MESSAGE, MSG_NOSIGNAL) != MESSAGE) {
    fail("send");
  }
}

// Returns whether the answer is complete.
static int receive(struct connection* connection) {
  char answer[MESSAGE];
  const ssize_t size = recv(connection->fd, answer, connection->missing, 0);
  if (size < 0 && errno == EAGAIN) return 0;
  if (size <= 0) fail("recv");
  connection->missing -= size;
  return connection->missing == 0;
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fputs("usage: echo_load PORT CONNECTIONS SECONDS SERVER_PID\n", stderr);
    return 2;
  }
  port = atoi(argv[1]);
  const int count = atoi(argv[2]);
  seconds = atof(argv[3]);
  server = atoi(argv[4]);

  struct connection* connections = calloc(count, sizeof *connections);
  const int epoll = epoll_create1(0);
  for (int i = 0; i < count; ++i) {
    connections[i].fd = connect_to_server();
    fcntl(connections[i].fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
    epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &event);
  }
  for (int i = 0; i < count; ++i) request(&connections[i]);
  uint64_t done = 0;
  start_clock();
  while (!is_over(done)) {
    struct epoll_event ready[256];
    const int events = epoll_wait(epoll, ready, 256, 1000);
    for (int i = 0; i < events; ++i) {
      struct connection* connection = ready[i].data.ptr;
      if (!receive(connection)) continue;
      sample(connection->since);
      ++done;
      request(connection);
    }
  }
  report(done, 1, "req");
  report_latency();
}
