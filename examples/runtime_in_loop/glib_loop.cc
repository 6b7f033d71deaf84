// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs the tasks of a runtime in the main loop of GLib, which also has a timer
// of its own.
//
//   tools/bazel run //examples/runtime_in_loop:glib_loop

#include <glib.h>

#include "absl/time/time.h"
#include "rouse/examples/runtime_in_loop/service.h"
#include "rouse/rouse.h"

namespace {

// A source of GLib, which calls `Runtime::Turn()`.
struct TurnSource {
  GSource base;
  rouse::Runtime* runtime;
};

// Called when the descriptor is readable, and at the source's time. GLib is
// written in C, so that no exception may leave the function. A turn throws only
// if a waker of the program throws.
gboolean Dispatch(GSource* source, GSourceFunc, gpointer) noexcept {
  const absl::Duration wait =
      reinterpret_cast<TurnSource*>(source)->runtime->Turn();
  gint64 at = -1;  // never
  if (wait != absl::InfiniteDuration()) {
    at = g_get_monotonic_time() +
         absl::ToInt64Microseconds(absl::Ceil(wait, absl::Microseconds(1)));
  }
  g_source_set_ready_time(source, at);
  return G_SOURCE_CONTINUE;
}

// Attaches a source for `runtime` to the default context. Destroy the source
// before the runtime.
GSource* AttachTurns(rouse::Runtime& runtime) {
  static GSourceFuncs functions = {nullptr, nullptr, &Dispatch,
                                   nullptr, nullptr, nullptr};
  GSource* const source = g_source_new(&functions, sizeof(TurnSource));
  reinterpret_cast<TurnSource*>(source)->runtime = &runtime;
  g_source_add_unix_fd(source, runtime.fd(), G_IO_IN);
  g_source_set_ready_time(source, 0);
  g_source_attach(source, nullptr);
  return source;
}

gboolean Tick(gpointer ticks) {
  ++*static_cast<int*>(ticks);
  return G_SOURCE_CONTINUE;
}

}  // namespace

int main() {
  rouse::Runtime runtime = example::MakeRuntime();
  GMainLoop* const loop = g_main_loop_new(nullptr, FALSE);
  GSource* const turns = AttachTurns(runtime);

  int bytes = 0;
  int ticks = 0;
  const guint ticker = g_timeout_add(1, &Tick, &ticks);
  runtime.Spawn(example::Serve(bytes, [loop] { g_main_loop_quit(loop); }))
      .Detach();
  g_main_loop_run(loop);

  example::Report(bytes, ticks);
  g_source_remove(ticker);
  g_source_destroy(turns);
  g_source_unref(turns);
  g_main_loop_unref(loop);
}
