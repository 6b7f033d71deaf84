// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: ready.h
// -----------------------------------------------------------------------------
//
// `Ready` is what the operating system has said of a source: which attempts are
// worth making. It is a hint. The next system call has the last word.

#ifndef ROUSE_REACTOR_READY_H_
#define ROUSE_REACTOR_READY_H_

#include <cstdint>

namespace rouse::reactor {

// One of the two ways that bytes go. A task that reads and one that writes the
// same source wait for different directions and do not disturb each other.
enum class Direction : uint8_t { kRead = 0, kWrite = 1 };

// Ready
//
// A set of the states below; may be empty.
class Ready {
 public:
  static const Ready kReadable;
  static const Ready kWritable;
  // There is no more to read than what has arrived: the peer has shut down its
  // writing half, or all of the connection is gone.
  static const Ready kReadClosed;
  // Writing will fail: the connection, or the reading end of a pipe, is gone.
  // On a datagram socket not even that: an ICMP error, such as of a peer whose
  // port is closed, sets this and `kError`. It is over with the call that
  // returns it, but they stay until an attempt would block.
  static const Ready kWriteClosed;
  // There is out-of-band data.
  static const Ready kPriority;
  static const Ready kError;

  constexpr Ready() = default;

  // The set with the given bits of `bits()`.
  static constexpr Ready FromBits(uint8_t bits) { return Ready(bits); }
  constexpr uint8_t bits() const { return bits_; }

  friend constexpr Ready operator|(Ready a, Ready b) {
    return Ready(a.bits_ | b.bits_);
  }
  friend constexpr Ready operator&(Ready a, Ready b) {
    return Ready(a.bits_ & b.bits_);
  }
  constexpr Ready& operator|=(Ready other) { return *this = *this | other; }

  constexpr bool IsEmpty() const { return bits_ == 0; }
  constexpr bool IsReadable() const { return Has(kReadableBit); }
  constexpr bool IsWritable() const { return Has(kWritableBit); }
  constexpr bool IsReadClosed() const { return Has(kReadClosedBit); }
  constexpr bool IsWriteClosed() const { return Has(kWriteClosedBit); }
  constexpr bool IsPriority() const { return Has(kPriorityBit); }
  constexpr bool IsError() const { return Has(kErrorBit); }

  friend constexpr bool operator==(Ready, Ready) = default;

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

// What of `ready` concerns `direction`. An error concerns both.
constexpr Ready Concerning(Direction direction, Ready ready) {
  constexpr Ready kRead =
      Ready::kReadable | Ready::kReadClosed | Ready::kPriority | Ready::kError;
  constexpr Ready kWrite =
      Ready::kWritable | Ready::kWriteClosed | Ready::kError;
  return ready & (direction == Direction::kRead ? kRead : kWrite);
}

}  // namespace rouse::reactor

#endif  // ROUSE_REACTOR_READY_H_
