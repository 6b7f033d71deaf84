#include "rouse/reactor/owned_fd.h"

#include <unistd.h>

#include <utility>

namespace rouse {

void OwnedFd::Reset(int fd) {
  const int old = std::exchange(fd_, fd);
  if (old >= 0) close(old);
}

}  // namespace rouse
