// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: vlog.h
// -----------------------------------------------------------------------------
//
// Rouse can log rare steps: registrations, connections, child processes. The
// messages are off until the program asks for them:
//
//   rouse::SetVlog(2);  // from here on, to stderr
//
// A program that logs with absl/log uses `VlogToAbsl()` instead (absl_vlog.h).

#ifndef ROUSE_BASE_LOG_VLOG_H_
#define ROUSE_BASE_LOG_VLOG_H_

#include "rouse/base/cxx20.h"

#include <atomic>
#include <cerrno>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#include "absl/base/optimization.h"

namespace rouse {

// VlogMessage
//
// A message, which must not be used after the call to which it is passed.
struct VlogMessage {
  // 1: rare steps, such as the start of a child process or the end of a
  //    scheduler. The arguments of the child are logged, with any password in
  //    them.
  // 2: steps for each connection or other source of a reactor.
  int level;
  std::string_view text;
  // The place in Rouse's sources.
  const char* file;
  int line;
};

// Gets each message, on the thread that took the step. Must not use Rouse. Must
// not take a lock that the program holds while it uses Rouse. An exception is
// dropped, because some steps are those of destructors.
using VlogSink = void (*)(const VlogMessage& message);

// SetVlog()
//
// Sets the level up to which messages are logged, and the function that gets
// them. Level 0, the initial value, logs nothing. Without a `sink`, messages
// are written to stderr, one on each line, after "rouse: ".
//
// Thread-safe. Steps that other threads take during the call may be logged or
// not, and the previous sink can still be called after the return: a sink must
// live as long as the program. Two concurrent calls can leave the level of one
// with the sink of the other.
//
// While nothing is logged, a message costs a load and a branch. A message that
// is logged allocates memory. Events and tasks have no messages, because even a
// branch would show in their cost.
void SetVlog(int level, VlogSink sink = nullptr);

namespace internal {

// Relaxed, here and in `SetVlog()`: the level orders nothing.
ABSL_CONST_INIT extern std::atomic<int> vlog_level;

inline bool VlogIsOn(int level) {
  return ABSL_PREDICT_FALSE(vlog_level.load(std::memory_order_relaxed) >=
                            level);
}

ABSL_ATTRIBUTE_COLD void Vlog(const VlogMessage& message);

// Logs what `text()` returns. Keeps `errno`. If memory is lacking, or the sink
// throws, the message is lost.
template <class Text>
ABSL_ATTRIBUTE_COLD ABSL_ATTRIBUTE_NOINLINE void VlogText(int level,
                                                          const char* file,
                                                          int line, Text text) {
  const int error = errno;
#ifdef ABSL_HAVE_EXCEPTIONS
  try {
    Vlog({level, text(), file, line});
  } catch (...) {
  }
#else
  Vlog({level, text(), file, line});
#endif
  errno = error;
}

}  // namespace internal
}  // namespace rouse

// Logs the text that `absl::StrCat()` makes of the arguments, which are
// evaluated only if `level` is on. For use in Rouse's sources, outside locks.
// The source must include absl/strings/str_cat.h.
#define ROUSE_VLOG(level, ...)                                     \
  do {                                                             \
    if (::rouse::internal::VlogIsOn(level)) {                      \
      ::rouse::internal::VlogText(level, __FILE__, __LINE__, [&] { \
        return ::absl::StrCat(__VA_ARGS__);                        \
      });                                                          \
    }                                                              \
  } while (false)

#endif  // ROUSE_BASE_LOG_VLOG_H_
