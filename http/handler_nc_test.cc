// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Typical mistakes of a first handler. Compiled by rouse_cc_nc_test, one case
// at a time.

#include "rouse/future/co.h"
#include "rouse/http/handler.h"
#include "rouse/http/request.h"
#include "rouse/http/response.h"

namespace rouse::http {
namespace {

Co<Response> ByValue(Request) { co_return Response(); }
Response AtOnce(const Request&) { return Response(); }

// Compiles: a response that is made at once may refer to the request.
[[maybe_unused]] auto Fine() { return internal::MakeHandler(&ByValue); }
[[maybe_unused]] auto FineAtOnce() { return internal::MakeHandler(&AtOnce); }

#ifdef ROUSE_NC_REFERENCE_IN_A_COROUTINE
Co<Response> ByReference(const Request&) { co_return Response(); }
[[maybe_unused]] auto Bad() { return internal::MakeHandler(&ByReference); }
#endif

#ifdef ROUSE_NC_NO_RESPONSE
int Number(const Request&) { return 200; }
[[maybe_unused]] auto Bad() { return internal::MakeHandler(&Number); }
#endif

}  // namespace
}  // namespace rouse::http
