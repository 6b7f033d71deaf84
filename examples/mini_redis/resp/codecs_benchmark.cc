// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the time for one request, or for one reply, in a pipeline of 16.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "benchmark/benchmark.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/command_decoder.h"
#include "rouse/examples/mini_redis/resp/reply_writer.h"
#include "rouse/examples/mini_redis/resp/value_decoder.h"

namespace mini_redis::resp {
namespace {

constexpr int kPipeline = 16;

std::string Requests(const Command& command) {
  std::string requests;
  for (int i = 0; i < kPipeline; ++i) AppendCommand(command, requests);
  return requests;
}

Command Get() { return {"GET", "key:000000012345"}; }
Command Set(size_t size) {
  return {"SET", "key:000000012345", std::string(size, 'x')};
}

void DecodeInto(benchmark::State& state, const Command& command) {
  const std::string requests = Requests(command);
  CommandDecoder decoder;
  Command decoded;
  for (auto _ : state) {
    std::string_view bytes = requests;
    for (int i = 0; i < kPipeline; ++i) {
      benchmark::DoNotOptimize(decoder.DecodeInto(bytes, decoded));
      benchmark::DoNotOptimize(decoded);
    }
  }
  state.SetItemsProcessed(kPipeline * state.iterations());
}
BENCHMARK_CAPTURE(DecodeInto, get, Get());
BENCHMARK_CAPTURE(DecodeInto, set_3_bytes, Set(3));
BENCHMARK_CAPTURE(DecodeInto, set_1_KiB, Set(1024));

void Decode(benchmark::State& state, const Command& command) {
  const std::string requests = Requests(command);
  CommandDecoder decoder;
  for (auto _ : state) {
    std::string_view bytes = requests;
    for (int i = 0; i < kPipeline; ++i) {
      benchmark::DoNotOptimize(decoder.Decode(bytes));
    }
  }
  state.SetItemsProcessed(kPipeline * state.iterations());
}
BENCHMARK_CAPTURE(Decode, get, Get());
BENCHMARK_CAPTURE(Decode, set_3_bytes, Set(3));

void WriteBulk(benchmark::State& state) {
  std::string out;
  for (auto _ : state) {
    out.clear();
    ReplyWriter reply(out);
    for (int i = 0; i < kPipeline; ++i) reply.Bulk("xxx");
    benchmark::DoNotOptimize(out);
  }
  state.SetItemsProcessed(kPipeline * state.iterations());
}
BENCHMARK(WriteBulk);

void DecodeReply(benchmark::State& state) {
  std::string replies;
  ReplyWriter reply(replies);
  for (int i = 0; i < kPipeline; ++i) reply.Bulk("xxx");
  ValueDecoder decoder;
  for (auto _ : state) {
    std::string_view bytes = replies;
    for (int i = 0; i < kPipeline; ++i) {
      benchmark::DoNotOptimize(decoder.Decode(bytes));
    }
  }
  state.SetItemsProcessed(kPipeline * state.iterations());
}
BENCHMARK(DecodeReply);

}  // namespace
}  // namespace mini_redis::resp
