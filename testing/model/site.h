// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: site.h
// -----------------------------------------------------------------------------
//
// A place in the source of a model or of the code under test. Internal to the
// model checker.

#ifndef ROUSE_TESTING_MODEL_SITE_H_
#define ROUSE_TESTING_MODEL_SITE_H_

#include "rouse/base/cxx20.h"

#include <source_location>
#include <string>

namespace rouse::model {

using Site = std::source_location;

// Returns a place as the checker's messages name it: "mailbox.h:42".
std::string Where(const Site& site);

}  // namespace rouse::model

#endif  // ROUSE_TESTING_MODEL_SITE_H_
