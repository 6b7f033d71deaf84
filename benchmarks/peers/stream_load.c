// stream_load PORT MODE CONNECTIONS SECONDS SERVER_PID: loads a server that
// serves like ../rouse_stream.cc, after a warm-up of half a second. MODE is
//
//   source   CONNECTIONS receive the server's bytes; the load copies no bytes
//   sink     CONNECTIONS send from memory; the load copies no bytes either
//   accept   CONNECTIONS are kept in flight: connect, send a byte, wait until
//            the byte is back and the server has closed, reset. The load waits
//            for connections in the order in which they began.
//
// Prints one line of figures, each of the form `name value unit`. Latency is
// the time from the call of connect to the server's close. CPU time is that of
// the server.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 1 << 20, WARM_UP_MS = 500, CONNECT_ATTEMPTS = 200 };

static int port, count, server;
static double seconds;

static void fail(const char* what) {
  fprintf(stderr, "stream_load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}

// A measurement: the time, and the totals so far.
struct reading {
  uint64_t at;
  uint64_t work;  // bytes or connections
  double user;    // seconds of the server
  double system;
};

static struct reading read_now(uint64_t work) {
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

static void start_clock(void) {
  first_ns = now_ns() + WARM_UP_MS * 1000000ull;
  last_ns = first_ns + (uint64_t)(seconds * 1e9);
}

static int is_over(uint64_t work) {
  const uint64_t now = now_ns();
  if (begun.at == 0 && now >= first_ns) begun = read_now(work);
  return now >= last_ns;
}

// Prints the rate and the CPU times. A `unit` is `per` units of work.
static void report(uint64_t work, const char* rate, double per,
                   const char* unit) {
  const struct reading ended = read_now(work);
  const double elapsed = (ended.at - begun.at) / 1e9;
  const double done = ended.work - begun.work;
  if (begun.at == 0 || done == 0) {
    fputs("stream_load: the server served nothing\n", stderr);
    exit(1);
  }
  const double user = ended.user - begun.user;
  const double cpu = user + ended.system - begun.system;
  printf("%s %.0f /s server_cpu %.0f ns/%s server_user %.0f ns/%s ", rate,
         done / elapsed, cpu * 1e9 * per / done, unit, user * 1e9 * per / done,
         unit);
  printf("server_cores %.2f cores", cpu / elapsed);
}

// Tries for a few seconds, because the server may not listen yet.
static int connect_and_send(char mode) {
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
      if (send(fd, &mode, 1, MSG_NOSIGNAL) != 1) fail("send");
      return fd;
    }
    if (connected || errno != ECONNREFUSED) break;
    close(fd);
    usleep(20000);
  }
  fail("connect");
  return -1;
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
  report(bytes, "bytes_per_s", CHUNK, "MiB");
}

static int compare(const void* a, const void* b) {
  const uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return (left > right) - (left < right);
}

static void accept_rate(void) {
  enum { MAX_SAMPLES = 1 << 22 };
  uint64_t* samples = malloc(MAX_SAMPLES * sizeof *samples);
  uint64_t done = 0, sampled = 0;
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
      if (begun.at != 0 && sampled < MAX_SAMPLES) {
        samples[sampled++] = now_ns() - flights[i].since;
      }
      close(flights[i].fd);
      ++done;
    }
    flights[i].since = now_ns();
    flights[i].fd = connect_and_send('e');
  }
  report(done, "accepts_per_s", 1, "accept");
  if (sampled == 0) fail("nothing was done");
  qsort(samples, sampled, sizeof *samples, compare);
  printf(" p50 %.1f us p99 %.1f us", samples[sampled / 2] / 1e3,
         samples[sampled * 99 / 100] / 1e3);
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
  printf("\n");
  return 0;
}
