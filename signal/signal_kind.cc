// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/signal/signal_kind.h"

#include <signal.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace rouse {

std::string SignalKind::ToString() const {
  switch (number_) {
    case SIGALRM:
      return "SIGALRM";
    case SIGCHLD:
      return "SIGCHLD";
    case SIGHUP:
      return "SIGHUP";
    case SIGINT:
      return "SIGINT";
    case SIGIO:
      return "SIGIO";
    case SIGPIPE:
      return "SIGPIPE";
    case SIGQUIT:
      return "SIGQUIT";
    case SIGTERM:
      return "SIGTERM";
    case SIGUSR1:
      return "SIGUSR1";
    case SIGUSR2:
      return "SIGUSR2";
    case SIGWINCH:
      return "SIGWINCH";
    default:
      return absl::StrCat("signal ", number_);
  }
}

}  // namespace rouse
