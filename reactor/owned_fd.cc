#include "rouse/reactor/owned_fd.h"

#include <unistd.h>

namespace rouse {

void OwnedFd::Close(int fd) { close(fd); }

}  // namespace rouse
