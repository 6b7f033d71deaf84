// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// ThreadSanitizer's suppressions for tests with a gRPC library that was not
// built for ThreadSanitizer, such as Debian's. ThreadSanitizer does not see the
// library's atomics, and so takes a message or a reactor that the library hands
// from a thread to another for a race. Only reports whose innermost frame is in
// gRPC's or protobuf's own templates are suppressed. A race in code of Rouse is
// reported, even if gRPC has called the code.

#if defined(__SANITIZE_THREAD__)
#define ROUSE_GRPC_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROUSE_GRPC_TSAN
#endif
#endif

#ifdef ROUSE_GRPC_TSAN
// System calls and copies by gRPC's library are not reported either.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1";
}

// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __tsan_default_suppressions() {
  return "race_top:^grpc::\n"
         "race_top:^google::protobuf::\n"
         "race_top:^rouse::echo::Text::\n";
}
#endif
