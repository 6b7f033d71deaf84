#include "rouse/timer/poll_timeout.h"

#include "absl/status/status.h"

namespace rouse::internal {

absl::Status TimedOut() {
  return absl::DeadlineExceededError("Timeout: time is up");
}

}  // namespace rouse::internal
