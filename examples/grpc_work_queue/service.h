// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// The service of the work queue. Each call is a task, which the adapter
// destroys when the client is gone.

#ifndef ROUSE_EXAMPLES_GRPC_WORK_QUEUE_SERVICE_H_
#define ROUSE_EXAMPLES_GRPC_WORK_QUEUE_SERVICE_H_

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/grpc_work_queue/queue.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/server_callback.h"
#include "rouse/grpc/reader.h"
#include "rouse/grpc/serve.h"
#include "rouse/grpc/writer.h"
#include "rouse/rouse.h"
#include "work_queue.grpc.pb.h"
#include "work_queue.pb.h"

namespace work_queue {

class Service final : public WorkQueue::CallbackService {
  using Context = grpc::CallbackServerContext;
  using Handled = rouse::Co<absl::Status>;

 public:
  // `queue` must outlive the server.
  Service(rouse::Handle runtime, Queue& queue)
      : runtime_(std::move(runtime)), queue_(queue) {}

  grpc::ServerReadReactor<Item>* Add(Context* context,
                                     Counts* response) override {
    return rouse::rpc::ServeClientStream<Item>(
        runtime_, context,
        [this, response](rouse::rpc::Reader<Item> items) -> Handled {
          while (std::optional<absl::StatusOr<Item>> item =
                     co_await rouse::Next(items)) {
            if (!item->ok()) co_return item->status();
            queue_.Add(**std::move(item));
          }
          *response = queue_.counts();
          co_return absl::OkStatus();
        });
  }

  grpc::ServerBidiReactor<Report, Lease>* Work(Context* context) override {
    return rouse::rpc::ServeBidiStream<Report, Lease>(
        runtime_, context,
        [this](rouse::rpc::Reader<Report> reports,
               rouse::rpc::Writer<Lease> leases) -> Handled {
          // Returns the item when the worker is gone: the adapter then destroys
          // this coroutine, wherever it waits.
          Leased leased(queue_);
          for (;;) {
            std::optional<absl::StatusOr<Report>> report =
                co_await rouse::Next(reports);
            if (!report.has_value()) co_return absl::OkStatus();
            if (!report->ok()) co_return report->status();
            if ((*report)->lease_id() != 0) Finish((*report)->lease_id());
            Lease lease = co_await queue_.Take();
            leased.Set(lease.lease_id());
            co_await rouse::OrReturn(leases.Send(std::move(lease)));
          }
        });
  }

  grpc::ServerWriteReactor<Counts>* Watch(Context* context,
                                          const WatchRequest*) override {
    return rouse::rpc::ServeServerStream<Counts>(
        runtime_, context,
        [this](rouse::rpc::Writer<Counts> writer) -> Handled {
          rouse::watch::Receiver<int64_t> changes = queue_.Changes();
          for (;;) {
            const Counts counts = queue_.counts();
            co_await rouse::OrReturn(writer.Send(counts));
            if (counts.waiting() + counts.leased() == 0) {
              co_return absl::OkStatus();
            }
            // A slow client misses intermediate counts, and not the last ones.
            co_await rouse::OrReturn(changes.Changed());
          }
        });
  }

  grpc::ServerUnaryReactor* Count(Context* context, const CountRequest*,
                                  Counts* response) override {
    *response = queue_.counts();
    return rouse::rpc::ServeUnary(runtime_, context,
                                  rouse::Ready(absl::OkStatus()));
  }

 private:
  // The lease of a worker, which ends with the call.
  class Leased {
   public:
    explicit Leased(Queue& queue) : queue_(queue) {}
    Leased(const Leased&) = delete;
    Leased& operator=(const Leased&) = delete;
    ~Leased() { queue_.Return(lease_id_); }

    void Set(int64_t lease_id) { lease_id_ = lease_id; }

   private:
    Queue& queue_;
    int64_t lease_id_ = 0;
  };

  void Finish(int64_t lease_id) {
    const std::optional<int64_t> item = queue_.Acknowledge(lease_id);
    if (!item.has_value()) return;
    printf("acknowledged %" PRId64 "\n", *item);
    fflush(stdout);
  }

  const rouse::Handle runtime_;
  Queue& queue_;
};

}  // namespace work_queue

#endif  // ROUSE_EXAMPLES_GRPC_WORK_QUEUE_SERVICE_H_
