// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/trace.h"

#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "rouse/testing/model/site.h"

namespace rouse::model {

void Trace::Note(int thread, int step, std::string text, const Site& site) {
  events_.push_back({thread, step, std::move(text), site});
}

std::string Trace::Text() const {
  std::string text;
  for (const Event& event : events_) {
    absl::StrAppendFormat(&text, "  %3d  %*sthread %d  %s  [%s]\n", event.step,
                          2 * event.thread, "", event.thread, event.text,
                          Where(event.site));
  }
  return text;
}

}  // namespace rouse::model
