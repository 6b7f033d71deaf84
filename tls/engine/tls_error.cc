// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/tls/engine/tls_error.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "rouse/tls/engine/library.h"
#include "rouse/tls/engine/tls_settings.h"

namespace rouse::internal {
namespace {

using NamesPtr = LibraryPtr<GENERAL_NAMES, &GENERAL_NAMES_free>;
using TimePtr = LibraryPtr<ASN1_GENERALIZEDTIME, &ASN1_GENERALIZEDTIME_free>;

std::string_view BytesOf(const ASN1_STRING* text) {
  return std::string_view(
      reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
      static_cast<size_t>(ASN1_STRING_length(text)));
}

std::string AddressText(std::string_view bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  if (bytes.size() == 4) inet_ntop(AF_INET, bytes.data(), text, sizeof text);
  if (bytes.size() == 16) inet_ntop(AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

// Returns `name`, such as an issuer, on one line.
std::string NameText(const X509_NAME* name) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || name == nullptr ||
      X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253) < 0) {
    return "";
  }
  return TextOf(bio.get());
}

// Returns a date such as "2024-01-31 12:00 UTC".
std::string TimeText(const ASN1_TIME* time) {
  const TimePtr whole(ASN1_TIME_to_generalizedtime(time, nullptr));
  // The form is YYYYMMDDHHMMSSZ.
  if (whole == nullptr) return "an unknown date";
  const std::string_view text =
      BytesOf(reinterpret_cast<const ASN1_STRING*>(whole.get()));
  if (text.size() < 12) return std::string(text);
  return absl::StrCat(text.substr(0, 4), "-", text.substr(4, 2), "-",
                      text.substr(6, 2), " ", text.substr(8, 2), ":",
                      text.substr(10, 2), " UTC");
}

std::string Quoted(const std::vector<std::string>& names) {
  // More names than these would hide the end of the message.
  constexpr size_t kMost = 8;
  std::vector<std::string> quoted;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    quoted.push_back(absl::StrCat("\"", absl::CHexEscape(names[i]), "\""));
  }
  if (names.size() > kMost) {
    quoted.push_back(absl::StrCat("and ", names.size() - kMost, " more"));
  }
  return absl::StrJoin(quoted, ", ");
}

// Returns the error for the alert `alert` (RFC 8446, section 6) of the peer.
absl::Status AlertError(int alert, const TlsErrorContext& context) {
  const std::string_view peer = context.peer;
  const bool is_client = context.own == TlsEnd::kClient;
  switch (alert) {
    case 40:  // handshake_failure
      return absl::FailedPreconditionError(absl::StrCat(
          peer,
          " refused the TLS handshake: the two ends share no cipher or no "
          "kind of key; compare the ciphers, versions and certificates of both "
          "ends"));
    case 42:    // bad_certificate
    case 43:    // unsupported_certificate
    case 44:    // certificate_revoked
    case 45:    // certificate_expired
    case 46:    // certificate_unknown
    case 48: {  // unknown_ca
      const std::string_view why = alert == 44   ? "has been revoked"
                                   : alert == 45 ? "has expired"
                                   : alert == 48
                                       ? "is signed by an authority that it "
                                         "does not trust"
                                       : "is not acceptable";
      return absl::UnauthenticatedError(absl::StrCat(
          peer, " refused this end's certificate, which in its view ", why,
          "; ",
          is_client ? "present another one with Certificate()"
                    : "the client must trust the authority that signed it"));
    }
    case 70:  // protocol_version
      return absl::FailedPreconditionError(absl::StrCat(
          peer,
          " refused the TLS version; allow another one with MinVersion() and "
          "MaxVersion()"));
    case 112:  // unrecognized_name
      return absl::FailedPreconditionError(absl::StrCat(
          peer, " has no certificate for this name; check the host"));
    case 116:  // certificate_required
      return absl::UnauthenticatedError(absl::StrCat(
          peer,
          " requires a client certificate; present one with Certificate()"));
    case 120:  // no_application_protocol
      return absl::FailedPreconditionError(absl::StrCat(
          peer,
          " speaks none of the protocols that this client offers; check "
          "Alpn()"));
    default:
      return absl::AbortedError(
          absl::StrCat(peer, " ended the TLS connection with alert ", alert,
                       " (", SSL_alert_desc_string_long(alert),
                       "); the log of the peer may say why"));
  }
}

}  // namespace

std::vector<std::string> CertificateNames(X509* certificate) {
  std::vector<std::string> result;
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  if (names != nullptr) {
    const int count = static_cast<int>(sk_GENERAL_NAME_num(names.get()));
    for (int i = 0; i < count; ++i) {
      const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
      if (name->type == GEN_DNS) {
        result.emplace_back(BytesOf(name->d.dNSName));
      } else if (name->type == GEN_IPADD) {
        result.push_back(AddressText(BytesOf(name->d.iPAddress)));
      }
    }
  }
  return result;
}

std::string CertificateSubject(X509* certificate) {
  return NameText(X509_get_subject_name(certificate));
}

absl::Status CertificateError(X509_STORE_CTX* store, std::string_view peer,
                              TlsEnd own) {
  X509* const certificate = X509_STORE_CTX_get_current_cert(store);
  const int error = X509_STORE_CTX_get_error(store);
  const int depth = X509_STORE_CTX_get_error_depth(store);
  std::string message =
      depth == 0
          ? absl::StrCat("certificate of ", peer, " ")
          : absl::StrCat(
                "certificate of ", peer, " depends on another certificate (",
                certificate == nullptr ? std::string("unknown")
                                       : CertificateSubject(certificate),
                "), which ");
  const std::string_view add =
      own == TlsEnd::kClient
          ? "add it with TlsConnector::Builder().AddRootsFile()"
          : "add it with TlsAcceptor::Builder().AddRootsFile()";
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      absl::StrAppend(&message, "has expired (on ",
                      TimeText(X509_get0_notAfter(certificate)),
                      "); it must be renewed, unless the clock of this machine "
                      "is wrong");
      break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      absl::StrAppend(&message, "is not valid before ",
                      TimeText(X509_get0_notBefore(certificate)),
                      "; check the clock of this machine");
      break;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      absl::StrAppend(&message,
                      "is self-signed, and is not trusted; if you trust the "
                      "certificate, ",
                      add);
      break;
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
      const std::string issuer =
          certificate == nullptr ? std::string("unknown")
                                 : NameText(X509_get_issuer_name(certificate));
      message = absl::StrCat(
          "certificate of ", peer, " is signed by an authority that is not ",
          "trusted (", issuer, "); if you trust the authority, ", add);
      break;
    }
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: {
      const std::vector<std::string> names = CertificateNames(certificate);
      if (names.empty()) {
        absl::StrAppend(&message, "names no host at all");
      } else {
        absl::StrAppend(&message, "is for ", Quoted(names),
                        " only; connect by one of these names");
      }
      break;
    }
    default:
      message = absl::StrCat("certificate of ", peer, " is not acceptable: ",
                             X509_verify_cert_error_string(error));
  }
  return absl::UnauthenticatedError(message);
}

std::string TakeLibraryWords() {
  std::vector<std::string> words;
  while (const auto error = ERR_get_error()) {
    const char* const reason = ERR_reason_error_string(error);
    words.push_back(reason != nullptr ? std::string(reason)
                                      : absl::StrFormat("error %#x", error));
  }
  if (words.empty()) return "unknown error";
  return absl::StrJoin(words, ", ");
}

absl::Status TakeLibraryError(const TlsErrorContext& context) {
  const std::string_view peer = context.peer;
  // The last error is of the TLS layer, and follows its causes.
  const auto error = ERR_peek_last_error();
  const int reason =
      ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
  // Both libraries number the alerts from 1000 on.
  constexpr int kAlerts = 1000;
  if (reason >= kAlerts && reason < kAlerts + 256) {
    ERR_clear_error();
    return AlertError(reason - kAlerts, context);
  }
  if (context.stream_ended) {
    ERR_clear_error();
    if (context.in_handshake) {
      return absl::UnavailableError(absl::StrCat(
          peer, " ended the connection during the TLS handshake",
          context.own == TlsEnd::kClient
              ? "; check that the port is one for TLS, and the peer's log"
              : ""));
    }
    return absl::DataLossError(absl::StrCat(
        peer,
        " ended the connection without close_notify, so data may be missing; "
        "ignore this error only if the data itself says that it is complete"));
  }
  absl::Status status;
  switch (reason) {
    case SSL_R_HTTP_REQUEST:
      status = absl::FailedPreconditionError(absl::StrCat(
          peer, " sent HTTP instead of TLS; the URL must begin with https"));
      break;
    case SSL_R_WRONG_VERSION_NUMBER:
      status = absl::FailedPreconditionError(
          absl::StrCat(peer, context.in_handshake
                                 ? " does not speak TLS, or not on this port"
                                 : " sent bytes that are not TLS"));
      break;
    case SSL_R_UNSUPPORTED_PROTOCOL:
      status = absl::FailedPreconditionError(absl::StrCat(
          peer,
          " and this end allow no TLS version in common; see MinVersion() and "
          "MaxVersion()"));
      break;
    case SSL_R_NO_SHARED_CIPHER:
      status = absl::FailedPreconditionError(absl::StrCat(
          peer,
          " and this end have no cipher in common; does this end have a "
          "certificate whose kind of key the peer supports?"));
      break;
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      status = absl::UnauthenticatedError(absl::StrCat(
          peer,
          " presented no certificate, which RequireClientCertificate() "
          "demands"));
      break;
    case SSL_R_NO_APPLICATION_PROTOCOL:
      status = absl::FailedPreconditionError(absl::StrCat(
          peer, " offers none of the protocols of this server; see Alpn()"));
      break;
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC:
      status = absl::DataLossError(absl::StrCat(
          "bytes from ", peer, " were changed on their way, and are lost"));
      break;
    default:
      status = absl::AbortedError(absl::StrCat(
          context.in_handshake ? "TLS handshake with " : "TLS connection with ",
          peer, " failed: ", TakeLibraryWords()));
  }
  ERR_clear_error();
  return status;
}

}  // namespace rouse::internal
