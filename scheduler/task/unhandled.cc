// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/scheduler/task/unhandled.h"

#include <exception>
#include <string>

#include "absl/base/config.h"
#include "absl/log/log.h"
#include "absl/strings/str_cat.h"
#include "rouse/base/exceptions.h"
#include "rouse/scheduler/task/task_meta.h"

namespace rouse::task {

std::string DescribeThrown(const TaskMeta& task,
                           const std::exception_ptr& exception) {
#ifdef ABSL_HAVE_EXCEPTIONS
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& e) {
    return absl::StrCat(task, " ended with an exception: ", e.what());
  } catch (...) {
  }
#else
  static_cast<void>(exception);
#endif
  return absl::StrCat(task, " ended with an exception");
}

void LogUnhandled(const TaskMeta& task,
                  const std::exception_ptr& exception) noexcept {
  ROUSE_TRY {
    LOG(ERROR) << DescribeThrown(task, exception)
               << "; no code has taken the exception: await the task's "
                  "JoinHandle, or see Builder::OnUnhandledException";
  }
  ROUSE_CATCH_ALL {
    // A log sink threw, or memory ran out.
    ROUSE_TRY { LOG(ERROR) << "a task ended with an exception"; }
    ROUSE_CATCH_ALL {}
  }
}

}  // namespace rouse::task
