// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: kept_vlog.h
// -----------------------------------------------------------------------------
//
// Keeps the messages that Rouse logs, for tests.

#ifndef ROUSE_TESTING_INTERNAL_KEPT_VLOG_H_
#define ROUSE_TESTING_INTERNAL_KEPT_VLOG_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/base/no_destructor.h"
#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rouse/base/log/vlog.h"

namespace rouse {

// Logs up to a level during its lifetime. Only one object exists at once.
class KeptVlog {
 public:
  explicit KeptVlog(int level) {
    Take();
    SetVlog(level, [](const VlogMessage& message) {
      const absl::MutexLock lock(&kept().mu);
      kept().messages.emplace_back(message.text);
    });
  }
  KeptVlog(const KeptVlog&) = delete;
  KeptVlog& operator=(const KeptVlog&) = delete;
  ~KeptVlog() { SetVlog(0); }

  // Returns the messages since the last call.
  std::vector<std::string> Take() {
    const absl::MutexLock lock(&kept().mu);
    return std::exchange(kept().messages, {});
  }

 private:
  struct Kept {
    absl::Mutex mu;
    std::vector<std::string> messages ABSL_GUARDED_BY(mu);
  };

  static Kept& kept() {
    static absl::NoDestructor<Kept> kept;
    return *kept;
  }
};

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_KEPT_VLOG_H_
