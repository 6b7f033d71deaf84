// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/reactor/owned_fd.h"

#include <unistd.h>

namespace rouse {

void OwnedFd::Close(int fd) { close(fd); }

}  // namespace rouse
