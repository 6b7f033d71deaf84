// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/base/lock/adaptive_spin.h"

#include "rouse/base/processor_count.h"

namespace rouse {

bool CanSpin() {
#if defined(ROUSE_MODEL)
  return false;
#elif defined(ROUSE_SCALING)
  return true;
#else
  static const bool several = ProcessorCount() > 1;
  return several;
#endif
}

}  // namespace rouse
