// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// stream_load PORT MODE CONNECTIONS SECONDS SERVER_PID: loads a server that
// serves like ../rouse_stream.cc, after a warm-up of half a second. MODE is
//
//   source   CONNECTIONS receive the server's bytes; the load copies no bytes
//   sink     CONNECTIONS send from memory; the load copies no bytes either
//   accept   CONNECTIONS are kept in flight: connect, send a byte, wait until
//            the byte is back and the server has closed, reset. The load waits
//            for connections in the order in which they began.
//
// Prints lines `name value unit`. Latency is the time from the call of connect
// to the server's close. CPU time is that of the server.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#include "load.h"

enum { CHUNK = 1 << 20 };

static int count;

static int connect_and_send(char mode) {
  const int fd = connect_to_server();
  if (send(fd, &mode, 1, MSG_NOSIGNAL) != 1) fail("send");
  return fd;
}

static uint64_t receive(int fd) {
  // With MSG_TRUNC, TCP drops the bytes instead of copying them.
  const ssize_t size = recv(fd, NULL, CHUNK, MSG_TRUNC | MSG_DONTWAIT);
  if (size < 0 && errno == EAGAIN) return 0;
  if (size <= 0) fail("recv");
  return size;
}

static uint64_t transmit(int fd, int memory) {
  off_t offset = 0;
  const ssize_t size = sendfile(fd, memory, &offset, CHUNK);
  if (size < 0 && errno == EAGAIN) return 0;
  if (size <= 0) fail("sendfile");
  return size;
}

static void stream(int source) {
  const int memory = memfd_create("stream_load", 0);
  static char block[CHUNK];
  if (write(memory, block, CHUNK) != CHUNK) fail("memfd_create");
  const int epoll = epoll_create1(0);
  for (int i = 0; i < count; ++i) {
    const int fd = connect_and_send(source ? 's' : 'r');
    fcntl(fd, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = source ? EPOLLIN : EPOLLOUT,
                                .data.fd = fd};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  }
  uint64_t bytes = 0;
  start_clock();
  while (!is_over(bytes)) {
    struct epoll_event ready[256];
    const int events = epoll_wait(epoll, ready, 256, 1000);
    for (int i = 0; i < events; ++i) {
      const int fd = ready[i].data.fd;
      bytes += source ? receive(fd) : transmit(fd, memory);
    }
  }
  report(bytes, 1 << 20, "MiB");
}

static void accept_rate(void) {
  uint64_t done = 0;
  struct {
    int fd;
    uint64_t since;
  }* flights = calloc(count, sizeof *flights);
  start_clock();
  for (int i = 0; !is_over(done); i = (i + 1) % count) {
    if (flights[i].since != 0) {
      char answer[2];
      // Returns when the server has closed, after the byte.
      if (recv(flights[i].fd, answer, 2, MSG_WAITALL) != 1) fail("recv");
      sample(flights[i].since);
      close(flights[i].fd);
      ++done;
    }
    flights[i].since = now_ns();
    flights[i].fd = connect_and_send('e');
  }
  report(done, 1, "accept");
  report_latency();
}

int main(int argc, char** argv) {
  const char* mode = argc == 6 ? argv[2] : "";
  const int source = strcmp(mode, "source") == 0;
  const int accepts = strcmp(mode, "accept") == 0;
  if (!source && !accepts && strcmp(mode, "sink") != 0) {
    fprintf(stderr,
            "usage: stream_load PORT source|sink|accept CONNECTIONS SECONDS "
            "SERVER_PID\n");
    return 2;
  }
  port = atoi(argv[1]);
  count = atoi(argv[3]);
  seconds = atof(argv[4]);
  server = atoi(argv[5]);
  signal(SIGPIPE, SIG_IGN);  // sendfile has no MSG_NOSIGNAL
  if (accepts) {
    accept_rate();
  } else {
    stream(source);
  }
}
