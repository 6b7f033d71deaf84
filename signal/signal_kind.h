// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: signal_kind.h
// -----------------------------------------------------------------------------
//
// A `SignalKind` names a signal of the operating system in words:
//
//   absl::StatusOr<Signal> terminate = Signal::Create(SignalKind::Terminate());
//   LOG(INFO) << "waiting for " << terminate->kind();  // SIGTERM

#ifndef ROUSE_SIGNAL_SIGNAL_KIND_H_
#define ROUSE_SIGNAL_SIGNAL_KIND_H_

#include "rouse/base/cxx20.h"

#include <signal.h>

#include <string>
#include <utility>

namespace rouse {

// SignalKind
//
// A value: the number of a signal. Comparable, hashable, printable.
class SignalKind {
 public:
  // Makes the kind of any number, such as a real-time signal.
  // `Signal::Create()` checks the number.
  explicit constexpr SignalKind(int number) : number_(number) {}

  // SIGALRM: a timer of alarm(2) has expired.
  static constexpr SignalKind Alarm() { return SignalKind(SIGALRM); }
  // SIGCHLD: a child process has ended or stopped. `Child` waits for one.
  static constexpr SignalKind Child() { return SignalKind(SIGCHLD); }
  // SIGHUP: the terminal is closed; daemons read their configuration again.
  static constexpr SignalKind Hangup() { return SignalKind(SIGHUP); }
  // SIGINT: the user has pressed Ctrl-C.
  static constexpr SignalKind Interrupt() { return SignalKind(SIGINT); }
  // SIGIO: a descriptor has become ready, if the program asked for the signal.
  static constexpr SignalKind Io() { return SignalKind(SIGIO); }
  // SIGPIPE: a write to a pipe or a socket without a reader.
  static constexpr SignalKind Pipe() { return SignalKind(SIGPIPE); }
  // SIGQUIT: the user has pressed Ctrl-\.
  static constexpr SignalKind Quit() { return SignalKind(SIGQUIT); }
  // SIGTERM: the program is asked to end, by kill(1) or a service manager.
  static constexpr SignalKind Terminate() { return SignalKind(SIGTERM); }
  // SIGUSR1 and SIGUSR2: the meaning is up to the program.
  static constexpr SignalKind UserDefined1() { return SignalKind(SIGUSR1); }
  static constexpr SignalKind UserDefined2() { return SignalKind(SIGUSR2); }
  // SIGWINCH: the size of the terminal has changed.
  static constexpr SignalKind WindowChange() { return SignalKind(SIGWINCH); }

  // Returns the number, such as SIGTERM.
  constexpr int number() const { return number_; }

  // Returns the name of a kind that has a function above, such as "SIGTERM",
  // and "signal 34" for any other.
  std::string ToString() const;

  friend constexpr bool operator==(SignalKind, SignalKind) = default;

  template <class H>
  friend H AbslHashValue(H state, SignalKind kind) {
    return H::combine(std::move(state), kind.number_);
  }

  template <class Sink>
  friend void AbslStringify(Sink& sink, SignalKind kind) {
    sink.Append(kind.ToString());
  }

 private:
  int number_;
};

}  // namespace rouse

#endif  // ROUSE_SIGNAL_SIGNAL_KIND_H_
