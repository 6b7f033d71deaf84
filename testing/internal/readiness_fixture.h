// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: readiness_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers shared by the tests of the readiness of sockets and pipes.

#ifndef ROUSE_TESTING_INTERNAL_READINESS_FIXTURE_H_
#define ROUSE_TESTING_INTERNAL_READINESS_FIXTURE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "rouse/testing/internal/unix_fixture.h"

namespace rouse {

// A `UnixTest` that waits for the readiness of a socket or a pipe.
class ReadinessTest : public UnixTest {
 protected:
  std::string_view Text(size_t size) { return {buffer_, size}; }

  template <class F>
  bool IsPending(F future) {
    return runner_.Poll(future).IsPending();
  }

  // Waits until the object is ready to read, or to write.
  template <class S>
  void AwaitReadable(const S& object) {
    ASSERT_TRUE(Run(object.Readable()).ok());
  }
  template <class S>
  void AwaitWritable(const S& object) {
    ASSERT_TRUE(Run(object.Writable()).ok());
  }

  // Writes to `writer`, which must be ready, until no more fits.
  template <class W>
  size_t Fill(const W& writer) {
    const std::string block(4096, 'x');
    for (size_t written = 0;;) {
      const std::optional<absl::StatusOr<size_t>> size = writer.TryWrite(block);
      if (!size.has_value()) return written;
      written += size->value();
    }
  }
};

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_READINESS_FIXTURE_H_
