// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: connection_facts.h
// -----------------------------------------------------------------------------
//
// Internal to tls/: what the two ends of a TLS connection have agreed on, and
// what the peer's certificate says.

#ifndef ROUSE_TLS_ENGINE_CONNECTION_FACTS_H_
#define ROUSE_TLS_ENGINE_CONNECTION_FACTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "rouse/tls/tls_version.h"

struct ssl_st;

namespace rouse::internal {

// Are described at the functions of `TlsStream`. REQUIRES: the handshake was
// successful. The strings of `TlsAlpnOf()` and `TlsServerNameOf()` live as long
// as the connection.
TlsVersion TlsVersionOf(const ssl_st* ssl);
std::string_view TlsCipherOf(const ssl_st* ssl);
std::string_view TlsAlpnOf(const ssl_st* ssl);
std::string_view TlsServerNameOf(const ssl_st* ssl);
bool TlsWasResumed(const ssl_st* ssl);
std::string TlsPeerSubject(const ssl_st* ssl);
std::vector<std::string> TlsPeerNames(const ssl_st* ssl);
std::string TlsPeerCertificatePem(const ssl_st* ssl);

}  // namespace rouse::internal

#endif  // ROUSE_TLS_ENGINE_CONNECTION_FACTS_H_
