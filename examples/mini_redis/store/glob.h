// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Matches names with patterns, as KEYS, SCAN and PSUBSCRIBE do.

#ifndef ROUSE_EXAMPLES_MINI_REDIS_STORE_GLOB_H_
#define ROUSE_EXAMPLES_MINI_REDIS_STORE_GLOB_H_

#include <string_view>

namespace mini_redis {

// Returns whether `text` matches `pattern`. In a pattern, "*" stands for any
// bytes, "?" for a byte, "[a-c]" for a byte of the set, and "[^a-c]" for a byte
// outside of the set. A backslash before a byte takes away the special meaning
// of the byte. Takes O(pattern * text) time at most.
bool GlobMatch(std::string_view pattern, std::string_view text);

}  // namespace mini_redis

#endif  // ROUSE_EXAMPLES_MINI_REDIS_STORE_GLOB_H_
