// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: costs.h
// -----------------------------------------------------------------------------
//
// The costs of the virtual machine's operations, in nanoseconds, and the places
// of its cores. Internal to the simulator.

#ifndef ROUSE_TESTING_SCALING_COSTS_H_
#define ROUSE_TESTING_SCALING_COSTS_H_

#include "rouse/base/cxx20.h"

#include <cstddef>

namespace rouse::scaling {

// Costs
//
// The defaults are those of a server with two sockets. A cluster is the cores
// that share a level-3 cache.
struct Costs {
  // Number of cores in a cluster. Fixed, because a line keeps a byte for the
  // sharers of each cluster.
  static constexpr size_t kCluster = 8;

  // Number of cores in a socket. A multiple of `kCluster`.
  size_t socket = 96;

  // A transfer of a cache line from one core to another.
  //
  // Source: github.com/nviennot/core-to-core-latency, dual AMD EPYC 7R13
  // (Milan): 23 ns in a cluster, 107 ns in a socket, 197 ns between sockets.
  double in_cluster = 23;
  double in_socket = 107;
  double across_sockets = 197;

  // An access to a line that the core has.
  double load = 0.8;
  double store = 0.8;
  double modify = 3.6;

  // The ordinary instructions between two atomic accesses of the code that is
  // simulated, on average. Together with the three costs above, this one is
  // fitted to the workloads on one worker of a real machine.
  double instructions = 1.6;

  // A pause instruction, and readings of the cycle counter and of the clock.
  double pause = 28;
  double cycle_clock = 11;
  double system_clock = 30;

  // A system call that finds nothing to do; a futex call that wakes a thread; a
  // futex call that sleeps, in addition to the sleep; and the time from the
  // call that wakes until the thread runs.
  double system_call = 270;
  double futex_wake = 1000;
  double futex_wait = 800;
  double wake_delay = 3000;

  // A read and a write of a socket, in addition to the system call; a call that
  // takes events from an epoll instance; and for each event.
  double socket_read = 1100;
  double socket_write = 1900;
  double epoll_wait = 230;
  double epoll_event = 380;

  // membarrier(2), for the caller and for each other running thread.
  double barrier = 2000;
  double barrier_elsewhere = 500;

  // Returns the costs of a virtual machine with two cores of the same kind of
  // processor. A wake has to start a core that the hypervisor has stopped.
  static Costs TwoCoreVm() {
    Costs costs;
    costs.in_cluster = 30;
    costs.futex_wake = 9000;
    costs.wake_delay = 25000;
    costs.barrier = 450;
    costs.barrier_elsewhere = 200;
    return costs;
  }
};

}  // namespace rouse::scaling

#endif  // ROUSE_TESTING_SCALING_COSTS_H_
