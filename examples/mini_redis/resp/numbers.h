// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: numbers.h
// -----------------------------------------------------------------------------
//
// Numbers as Redis reads and writes them.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_RESP_NUMBERS_H_
#define ROUSE_EXAMPLES_MINI_REDIS_RESP_NUMBERS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace mini_redis::resp {

// Parses a decimal number in its only form: no space, no "+", no "-0" and no
// leading zero. Returns whether `text` is such a number and fits.
bool ParseInteger(std::string_view text, int64_t& number);

// Appends `number` in decimal.
void AppendInteger(int64_t number, std::string& out);

// Appends the shortest text that reads back as `number`, or "inf", "-inf" or
// "nan".
void AppendDouble(double number, std::string& out);

// Parses a number as `AppendDouble()` writes it.
bool ParseDouble(std::string_view text, double& number);

}  // namespace mini_redis::resp

#endif  // ROUSE_EXAMPLES_MINI_REDIS_RESP_NUMBERS_H_
