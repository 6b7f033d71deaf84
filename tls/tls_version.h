// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tls_version.h
// -----------------------------------------------------------------------------
//
// Names the versions of TLS that Rouse supports.

#ifndef ROUSE_TLS_TLS_VERSION_H_
#define ROUSE_TLS_TLS_VERSION_H_

#include "rouse/base/cxx20.h"

namespace rouse {

// TlsVersion
//
// A version of TLS. Versions before 1.2 are not supported. Versions can be
// compared.
enum class TlsVersion { k1_2, k1_3 };

// Prints "TLS 1.2" or "TLS 1.3".
template <class Sink>
void AbslStringify(Sink& sink, TlsVersion version) {
  sink.Append(version == TlsVersion::k1_2 ? "TLS 1.2" : "TLS 1.3");
}

}  // namespace rouse

#endif  // ROUSE_TLS_TLS_VERSION_H_
