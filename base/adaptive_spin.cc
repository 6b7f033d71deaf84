#include "rouse/base/adaptive_spin.h"

#include "rouse/base/processor_count.h"

namespace rouse {

bool CanSpin() {
  static const bool several = ProcessorCount() > 1;
  return several;
}

}  // namespace rouse
