// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/objects.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/log/check.h"
#include "absl/strings/str_cat.h"
#include "rouse/testing/model/site.h"
#include "rouse/testing/model/vector_clock.h"

namespace rouse::model {

void Objects::BeginExecution() {
  // The number is unique in the program, because global objects remember the
  // number of their execution.
  static uint32_t last_execution = 0;
  if (++last_execution == 0) ++last_execution;
  execution_ = last_execution;
  count_ = 0;
}

int Objects::New(const void* address, uint64_t value, std::string_view kind,
                 const Site& site) {
  const int number = memory_.NewLocation(value);
  CHECK_EQ(number, count_);
  if (count_ == static_cast<int>(objects_.size())) objects_.emplace_back();
  Object& object = objects_[count_++];
  object.address = address;
  object.kind = kind;
  object.made = site;
  object.maker = -1;
  object.made_at = 0;
  object.destroyed = false;
  object.accesses = VectorClock();
  object.owner = -1;
  object.view.Clear();
  object.waiters.clear();
  return number;
}

std::string Objects::Describe(int number) const {
  if (number < 0) return "nothing";
  const Object& object = objects_[number];
  return absl::StrCat(object.kind, " #", number, " of ", Where(object.made));
}

}  // namespace rouse::model
