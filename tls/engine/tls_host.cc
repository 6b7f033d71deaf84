// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/tls/engine/tls_host.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "rouse/tls/engine/library.h"
#include "rouse/tls/engine/tls_error.h"

namespace rouse::internal {
namespace {

bool IsIpAddress(const std::string& host) {
  const LibraryPtr<ASN1_OCTET_STRING, &ASN1_OCTET_STRING_free> address(
      a2i_IPADDRESS(host.c_str()));
  return address != nullptr;
}

}  // namespace

absl::StatusOr<std::string> SetTlsHost(ssl_st* ssl, std::string_view host) {
  std::string_view name = host;
  if (absl::ConsumePrefix(&name, "[")) absl::ConsumeSuffix(&name, "]");
  // The interface of a link-local address is not in a certificate, and neither
  // is the dot after a complete name.
  if (const size_t interface = name.find('%');
      interface != std::string_view::npos &&
      IsIpAddress(std::string(name.substr(0, interface)))) {
    name = name.substr(0, interface);
  }
  absl::ConsumeSuffix(&name, ".");
  // The library would take a name with a dot in front for all names below it.
  if (name.empty() || name.front() == '.' ||
      name.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("TlsConnector::Connect: \"", host,
                     "\" is not a host; pass the name or the IP address that "
                     "the server's certificate contains"));
  }
  std::string result(name);
  X509_VERIFY_PARAM* const checks = SSL_get0_param(ssl);
  bool set;
  if (IsIpAddress(result)) {
    set = X509_VERIFY_PARAM_set1_ip_asc(checks, result.c_str()) == 1;
  } else {
    X509_VERIFY_PARAM_set_hostflags(checks,
                                    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                        X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    set = X509_VERIFY_PARAM_set1_host(checks, result.data(), result.size()) ==
              1 &&
          SSL_set_tlsext_host_name(ssl, result.c_str()) == 1;
  }
  if (set) return result;
  return absl::InvalidArgumentError(absl::StrCat(
      "TlsConnector::Connect: \"", host.substr(0, 300),
      "\" is not a host name or IP address: ", TakeLibraryWords()));
}

}  // namespace rouse::internal
