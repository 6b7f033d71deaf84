#include "rouse/base/panic.h"

#include <string_view>

#include "absl/base/config.h"
#include "absl/log/log.h"

namespace rouse {

void Panic(std::string_view message) {
#ifdef ABSL_HAVE_EXCEPTIONS
  throw PanicError(message);
#else
  LOG(FATAL) << message;
#endif
}

}  // namespace rouse
