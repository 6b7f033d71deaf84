// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/grpc/call_options.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/string_ref.h"
#include "rouse/base/panic.h"

namespace rouse::rpc {

namespace {

bool IsLegalKey(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return absl::ascii_islower(static_cast<unsigned char>(c)) ||
           absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '_' ||
           c == '-' || c == '.';
  });
}

bool IsLegalValue(std::string_view key, std::string_view value) {
  return absl::EndsWith(key, "-bin") ||
         std::all_of(value.begin(), value.end(), [](char c) {
           return absl::ascii_isprint(static_cast<unsigned char>(c));
         });
}

}  // namespace

Metadata ToMetadata(
    const std::multimap<::grpc::string_ref, ::grpc::string_ref>& metadata) {
  Metadata result;
  for (const auto& [key, value] : metadata) {
    result.emplace(std::string(key.data(), key.size()),
                   std::string(value.data(), value.size()));
  }
  return result;
}

CallOptions& CallOptions::AddMetadata(std::string key, std::string value) {
  if (!IsLegalKey(key)) {
    Panic(absl::StrCat("rpc::CallOptions::AddMetadata: the key \"", key,
                       "\" must consist of a-z, 0-9 and _-."));
  }
  if (!IsLegalValue(key, value)) {
    Panic(absl::StrCat("rpc::CallOptions::AddMetadata: the value of \"", key,
                       "\" must be printable ASCII; end the key in \"-bin\" "
                       "to send other bytes"));
  }
  metadata_.emplace(std::move(key), std::move(value));
  return *this;
}

void CallOptions::ApplyTo(::grpc::ClientContext& context) const {
  if (deadline_ != absl::InfiniteFuture()) {
    context.set_deadline(absl::ToChronoTime(deadline_));
  }
  for (const auto& [key, value] : metadata_) context.AddMetadata(key, value);
  if (wait_for_ready_) context.set_wait_for_ready(true);
  if (configure_ != nullptr) configure_(context);
}

}  // namespace rouse::rpc
