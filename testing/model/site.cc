// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/model/site.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace rouse::model {

std::string Where(const Site& site) {
  const std::string_view path = site.file_name();
  return absl::StrCat(path.substr(path.rfind('/') + 1), ":", site.line());
}

}  // namespace rouse::model
