// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/panic.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "absl/base/config.h"

namespace rouse {

void Panic(std::string_view message) {
#ifdef ABSL_HAVE_EXCEPTIONS
  throw PanicError(message);
#else
  // The message is not printed by absl/log, which would add 80 targets to every
  // library that may panic.
  std::fprintf(stderr, "rouse: %.*s\n", static_cast<int>(message.size()),
               message.data());
  std::abort();
#endif
}

}  // namespace rouse
