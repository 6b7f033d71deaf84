// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts that the programs share which load a server: the warm-up of half a
// second, the server's CPU time, latencies, connections, and the lines of
// output, `name value unit`. Each program includes this header once, and sets
// `port`, `seconds` and `server`. Needs _GNU_SOURCE.

#ifndef ROUSE_BENCHMARKS_PEERS_LOAD_H_
#define ROUSE_BENCHMARKS_PEERS_LOAD_H_

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WARM_UP_MS = 500, CONNECT_ATTEMPTS = 200, MAX_SAMPLES = 1 << 22 };

static int port;        // of the server, on 127.0.0.1
static double seconds;  // how long to measure
static int server;      // the server's process

static inline void fail(const char* what) {
  fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
          strerror(errno));
  exit(1);
}

static inline uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}

// A measurement: the time, and the totals so far.
struct reading {
  uint64_t at;
  uint64_t work;  // bytes, connections or requests
  double user;    // seconds of the server
  double system;
};

static inline struct reading read_now(uint64_t work) {
  struct reading reading = {.at = now_ns(), .work = work};
  char path[64];
  char text[4096];
  snprintf(path, sizeof path, "/proc/%d/stat", server);
  FILE* file = fopen(path, "r");
  if (file == NULL) fail("the server has exited");
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  unsigned long user = 0, system = 0;
  sscanf(strrchr(text, ')') + 2,
         "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  const double ticks = sysconf(_SC_CLK_TCK);
  reading.user = user / ticks;
  reading.system = system / ticks;
  return reading;
}

// The reading at the begin of the measurement, and the times of begin and end.
static struct reading begun;
static uint64_t first_ns, last_ns;

static inline void start_clock(void) {
  first_ns = now_ns() + WARM_UP_MS * 1000000ull;
  last_ns = first_ns + (uint64_t)(seconds * 1e9);
}

static inline int is_over(uint64_t work) {
  const uint64_t now = now_ns();
  if (begun.at == 0 && now >= first_ns) begun = read_now(work);
  return now >= last_ns;
}

// Prints the rate and the CPU times. A `unit` is `per` units of work.
static inline void report(uint64_t work, double per, const char* unit) {
  const struct reading ended = read_now(work);
  const double elapsed = (ended.at - begun.at) / 1e9;
  const double done = (ended.work - begun.work) / per;
  if (begun.at == 0 || done == 0) {
    fprintf(stderr, "%s: the server served nothing\n",
            program_invocation_short_name);
    exit(1);
  }
  const double user = ended.user - begun.user;
  const double cpu = user + ended.system - begun.system;
  printf("rate %.1f %s/s\n", done / elapsed, unit);
  printf("server_cpu %.0f ns/%s\n", cpu * 1e9 / done, unit);
  printf("server_user %.0f ns/%s\n", user * 1e9 / done, unit);
  printf("server_cores %.2f cores\n", cpu / elapsed);
}

static uint64_t samples[MAX_SAMPLES];
static size_t sampled;

// Notes the time that has passed since `since`, except during the warm-up.
static inline void sample(uint64_t since) {
  if (begun.at != 0 && sampled < MAX_SAMPLES) {
    samples[sampled++] = now_ns() - since;
  }
}

static inline int compare_samples(const void* a, const void* b) {
  const uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return (left > right) - (left < right);
}

static inline void report_latency(void) {
  if (sampled == 0) fail("nothing was measured");
  qsort(samples, sampled, sizeof *samples, compare_samples);
  printf("p50 %.1f us\n", samples[sampled / 2] / 1e3);
  printf("p99 %.1f us\n", samples[sampled * 99 / 100] / 1e3);
}

// Returns a new connection. Tries for a few seconds, because the server may not
// listen yet.
static inline int connect_to_server(void) {
  static int connected;
  const struct sockaddr_in address = {
      .sin_family = AF_INET,
      .sin_port = htons(port),
      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  for (int i = 0; i < CONNECT_ATTEMPTS; ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const int on = 1;
    if (fd < 0) fail("socket");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // Closes with a reset, which frees the port at once.
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    if (connect(fd, (const struct sockaddr*)&address, sizeof address) == 0) {
      connected = 1;
      return fd;
    }
    if (connected || errno != ECONNREFUSED) break;
    close(fd);
    usleep(20000);
  }
  fail("connect");
  return -1;
}

#endif  // ROUSE_BENCHMARKS_PEERS_LOAD_H_
