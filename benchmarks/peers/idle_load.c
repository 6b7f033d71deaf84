// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// idle_load PORT CONNECTIONS SERVER_PID: opens connections to a server that
// serves like ../rouse_echo.cc, sends 64 bytes once on each, and leaves them
// open. Prints by how much the server's resident memory has grown, as a line
// `name value unit`. The kernel's memory for a connection does not count.
#define _GNU_SOURCE
#include <sys/resource.h>

#include "load.h"

enum { MESSAGE = 64, SETTLE_MS = 300 };

static double resident_bytes(void) {
  char path[64], line[256];
  double kibibytes = -1;
  snprintf(path, sizeof path, "/proc/%d/status", server);
  FILE* file = fopen(path, "r");
  if (file == NULL) fail("the server has exited");
  while (kibibytes < 0 && fgets(line, sizeof line, file) != NULL) {
    sscanf(line, "VmRSS: %lf", &kibibytes);
  }
  fclose(file);
  return kibibytes * 1024;
}

static int connect_and_echo(void) {
  char message[MESSAGE] = {0};
  const int fd = connect_to_server();
  if (send(fd, message, MESSAGE, MSG_NOSIGNAL) != MESSAGE) fail("send");
  if (recv(fd, message, MESSAGE, MSG_WAITALL) != MESSAGE) fail("recv");
  return fd;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fputs("usage: idle_load PORT CONNECTIONS SERVER_PID\n", stderr);
    return 2;
  }
  port = atoi(argv[1]);
  const int count = atoi(argv[2]);
  server = atoi(argv[3]);
  const struct rlimit limit = {count + 64, count + 64};
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("setrlimit");

  // The first connection also costs what the server allocates only once.
  close(connect_and_echo());
  usleep(SETTLE_MS * 1000);
  const double before = resident_bytes();
  for (int i = 0; i < count; ++i) connect_and_echo();
  usleep(SETTLE_MS * 1000);
  printf("memory %.1f bytes\n", (resident_bytes() - before) / count);
}
