#include "rouse/base/adaptive_spin.h"

#include <sched.h>

namespace rouse {

bool CanSpin() {
  static const bool several = [] {
    cpu_set_t set;
    // Fails where there are more processors than fit into the set.
    return sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) > 1;
  }();
  return several;
}

}  // namespace rouse
