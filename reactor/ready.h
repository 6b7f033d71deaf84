// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ready.h
// -----------------------------------------------------------------------------
//
// `Ready` is the readiness that the operating system has reported for a source:
// it says which attempts are worthwhile. A `Ready` is a hint, and only the next
// system call gives certainty.

#ifndef ROUSE_REACTOR_READY_H_
#define ROUSE_REACTOR_READY_H_

#include "rouse/base/cxx20.h"

#include <cstdint>

namespace rouse::reactor {

// The direction of a transfer. A reader and a writer of the same source wait
// for different directions and do not disturb each other.
enum class Direction : uint8_t { kRead = 0, kWrite = 1 };

// Formats a direction as "read" or "write".
template <class Sink>
void AbslStringify(Sink& sink, Direction direction) {
  sink.Append(direction == Direction::kRead ? "read" : "write");
}

// Ready
//
// A set of the states below; can be empty.
class Ready {
 public:
  // A read is worthwhile: bytes, a connection or the end have arrived.
  static const Ready kReadable;
  // A write is worthwhile: there is room, or the write will fail at once.
  static const Ready kWritable;
  // Nothing follows the bytes that have arrived: the peer has shut down its
  // writing half, or the whole connection is closed.
  static const Ready kReadClosed;
  // Writing will fail, because the connection, or the reading end of a pipe, is
  // closed. A datagram socket is an exception: an ICMP error, for example from
  // a peer whose port is closed, sets `kWriteClosed` and `kError`, and writing
  // fails only until a call has returned the error. Both states stay set even
  // then, and each direction stays ready until an attempt would block.
  static const Ready kWriteClosed;
  // Out-of-band data is available.
  static const Ready kPriority;
  // An error has occurred. The next call on the source returns the error.
  static const Ready kError;

  constexpr Ready() = default;

  // Makes the set with the given bits of `bits()`.
  static constexpr Ready FromBits(uint8_t bits) { return Ready(bits); }
  constexpr uint8_t bits() const { return bits_; }

  friend constexpr Ready operator|(Ready a, Ready b) {
    return Ready(a.bits_ | b.bits_);
  }
  friend constexpr Ready operator&(Ready a, Ready b) {
    return Ready(a.bits_ & b.bits_);
  }
  constexpr Ready& operator|=(Ready other) { return *this = *this | other; }

  // Returns whether the set contains no state.
  constexpr bool IsEmpty() const { return bits_ == 0; }
  // Returns whether the set contains the state of this name.
  constexpr bool IsReadable() const { return Has(kReadableBit); }
  constexpr bool IsWritable() const { return Has(kWritableBit); }
  constexpr bool IsReadClosed() const { return Has(kReadClosedBit); }
  constexpr bool IsWriteClosed() const { return Has(kWriteClosedBit); }
  constexpr bool IsPriority() const { return Has(kPriorityBit); }
  constexpr bool IsError() const { return Has(kErrorBit); }

  friend constexpr bool operator==(Ready, Ready) = default;

  // Formats the set, for logs, such as "readable|read-closed" or "none".
  template <class Sink>
  friend void AbslStringify(Sink& sink, Ready ready) {
    if (ready.IsEmpty()) return sink.Append("none");
    const char* separator = "";
    const auto append = [&sink, &separator](bool has, const char* name) {
      if (!has) return;
      sink.Append(separator);
      sink.Append(name);
      separator = "|";
    };
    append(ready.IsReadable(), "readable");
    append(ready.IsWritable(), "writable");
    append(ready.IsReadClosed(), "read-closed");
    append(ready.IsWriteClosed(), "write-closed");
    append(ready.IsPriority(), "priority");
    append(ready.IsError(), "error");
  }

 private:
  enum Bits : unsigned {
    kReadableBit = 1,
    kWritableBit = 2,
    kReadClosedBit = 4,
    kWriteClosedBit = 8,
    kPriorityBit = 16,
    kErrorBit = 32,
  };

  explicit constexpr Ready(unsigned bits) : bits_(static_cast<uint8_t>(bits)) {}

  constexpr bool Has(unsigned bit) const { return (bits_ & bit) != 0; }

  uint8_t bits_ = 0;
};

inline constexpr Ready Ready::kReadable(kReadableBit);
inline constexpr Ready Ready::kWritable(kWritableBit);
inline constexpr Ready Ready::kReadClosed(kReadClosedBit);
inline constexpr Ready Ready::kWriteClosed(kWriteClosedBit);
inline constexpr Ready Ready::kPriority(kPriorityBit);
inline constexpr Ready Ready::kError(kErrorBit);

// Returns the subset of `ready` that concerns `direction`. An error concerns
// both directions.
constexpr Ready Concerning(Direction direction, Ready ready) {
  constexpr Ready kRead =
      Ready::kReadable | Ready::kReadClosed | Ready::kPriority | Ready::kError;
  constexpr Ready kWrite =
      Ready::kWritable | Ready::kWriteClosed | Ready::kError;
  return ready & (direction == Direction::kRead ? kRead : kWrite);
}

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_READY_H_
