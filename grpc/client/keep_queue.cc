// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/grpc/client/keep_queue.h"

#include <memory>

#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"
#include "grpcpp/support/status.h"
#include "grpcpp/support/stub_options.h"

namespace rouse::rpc::internal {

namespace {

// A call whose result does not matter.
struct FirstCall {
  ::grpc::ClientContext context;
  ::grpc::Slice slice{"x"};
  ::grpc::ByteBuffer request{&slice, 1};
  ::grpc::ByteBuffer response;
};

// Returns a generic stub that is never destroyed. Its channel has no
// credentials, so gRPC makes a channel on which every call fails, without a
// connection. A channel uses the queue from its first call on.
::grpc::GenericStub* MakeStub() {
  auto* const stub =
      new ::grpc::GenericStub(::grpc::CreateChannel("", /*creds=*/nullptr));
  auto* const call = new FirstCall;
  stub->UnaryCall(&call->context, "/rouse/KeepQueue", ::grpc::StubOptions(),
                  &call->request, &call->response,
                  [call](const ::grpc::Status&) { delete call; });
  return stub;
}

}  // namespace

void KeepQueue() {
  [[maybe_unused]] static ::grpc::GenericStub* const stub = MakeStub();
}

}  // namespace rouse::rpc::internal
