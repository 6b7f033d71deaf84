// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Types of flags whose error messages name the valid values.

#ifndef ROUSE_EXAMPLES_ECHO_FLAG_TYPES_H_
#define ROUSE_EXAMPLES_ECHO_FLAG_TYPES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace rouse::echo {

// A number from 0 to `kMax`.
template <uint32_t kMax>
struct Number {
  uint32_t value = 0;
};

template <uint32_t kMax>
bool AbslParseFlag(std::string_view text, Number<kMax>* number,
                   std::string* error) {
  if (absl::SimpleAtoi(text, &number->value) && number->value <= kMax) {
    return true;
  }
  *error = absl::StrCat("choose a number from 0 to ", kMax);
  return false;
}

template <uint32_t kMax>
std::string AbslUnparseFlag(Number<kMax> number) {
  return absl::StrCat(number.value);
}

// A duration that is not negative.
struct Wait {
  absl::Duration value;
};

inline bool AbslParseFlag(std::string_view text, Wait* wait,
                          std::string* error) {
  if (absl::ParseDuration(text, &wait->value) &&
      wait->value >= absl::ZeroDuration()) {
    return true;
  }
  *error = "choose a duration that is not negative, such as 200ms, 30s or 1h";
  return false;
}

inline std::string AbslUnparseFlag(Wait wait) {
  return absl::FormatDuration(wait.value);
}

}  // namespace rouse::echo

#endif  // ROUSE_EXAMPLES_ECHO_FLAG_TYPES_H_
