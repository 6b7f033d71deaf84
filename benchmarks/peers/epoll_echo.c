// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// epoll_echo PORT: serves like ../rouse_echo.cc, with the least possible
// effort: one thread, one buffer for all connections, and no state of a
// connection. Closes a connection that does not take its answer at once.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void accept_all(int epoll, int listener) {
  const int on = 1;
  int fd;
  while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  }
}

static void echo(int fd) {
  static char buffer[1024];
  const ssize_t size = recv(fd, buffer, sizeof buffer, 0);
  if (size < 0 && errno == EAGAIN) return;
  if (size <= 0 || send(fd, buffer, size, MSG_NOSIGNAL) != size) close(fd);
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
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);

  struct epoll_event ready[256];
  for (;;) {
    const int count = epoll_wait(epoll, ready, 256, -1);
    for (int i = 0; i < count; ++i) {
      if (ready[i].data.fd == listener) {
        accept_all(epoll, listener);
      } else {
        echo(ready[i].data.fd);
      }
    }
  }
}
