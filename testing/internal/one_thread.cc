// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Ends a test that starts a thread although its BUILD file says `one_thread =
// True`. CI does not run such tests under ThreadSanitizer.

#include <pthread.h>

#include <cstdio>
#include <cstdlib>

// Replaces the system's function in the whole program, the C++ library
// included.
extern "C" int pthread_create(pthread_t*, const pthread_attr_t*,
                              void* (*)(void*), void*) {
  std::fputs(
      "this test starts a thread, but its BUILD file says one_thread = True; "
      "delete that line, so that the test also runs under ThreadSanitizer\n",
      stderr);
  std::abort();
}
