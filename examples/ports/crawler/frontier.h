// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: frontier.h
// -----------------------------------------------------------------------------
//
// The pages that are still to be fetched, as a stream:
//
//   crawler::Frontier frontier(/*per_host=*/2);
//   frontier.Add(start, /*depth=*/0);
//   auto pages = frontier | rouse::Map(&Fetch) | rouse::BufferUnordered(8);
//   while (auto page = co_await rouse::Next(pages)) {
//     frontier.Done(page->job);
//     for (const Url& link : page->links) {
//       frontier.Add(link, page->job.depth + 1);
//     }
//   }

#ifndef ROUSE_EXAMPLES_PORTS_CRAWLER_FRONTIER_H_
#define ROUSE_EXAMPLES_PORTS_CRAWLER_FRONTIER_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "rouse/examples/ports/crawler/url.h"
#include "rouse/rouse.h"

namespace crawler {

// A page to fetch.
struct Job {
  Url url;
  size_t depth = 0;  // number of links from a page to start with
};

// Frontier
//
// A stream of jobs. Each URL is a job once. At most `per_host` jobs of a host
// are given and not done, and the hosts take turns: a slow host takes no place
// from the others.
//
// The stream ends when no job is left, and each that was given is done. For one
// task: `Add()` and `Done()` wake nobody, so the task that calls them must then
// poll the stream, as in the example.
class Frontier {
 public:
  explicit Frontier(size_t per_host) : per_host_(per_host) {}

  // Adds a job. Returns false if the URL was added before.
  bool Add(Url url, size_t depth) {
    if (!known_.insert(url.ToString()).second) return false;
    const auto [index, is_new] =
        host_index_.try_emplace(url.host_and_port, hosts_.size());
    if (is_new) hosts_.emplace_back();
    hosts_[index->second].waiting.push_back(Job{std::move(url), depth});
    ++waiting_;
    return true;
  }

  // Says that a job that the stream has given is done.
  void Done(const Job& job) {
    --hosts_[host_index_.at(job.url.host_and_port)].running;
    --running_;
  }

  rouse::PollResult<std::optional<Job>> PollNext(rouse::Context& /*cx*/) {
    for (size_t i = 0; i < hosts_.size(); ++i) {
      Host& host = hosts_[next_++ % hosts_.size()];
      if (host.waiting.empty() || host.running == per_host_) continue;
      std::optional<Job> job = std::move(host.waiting.front());
      host.waiting.pop_front();
      ++host.running;
      ++running_;
      --waiting_;
      return job;
    }
    if (running_ == 0) return std::nullopt;
    return rouse::kPending;
  }

  // Returns the number of jobs that were given and are not done.
  size_t running() const { return running_; }
  // Returns the number of jobs that were not given.
  size_t waiting() const { return waiting_; }
  size_t hosts() const { return hosts_.size(); }

 private:
  struct Host {
    std::deque<Job> waiting;
    size_t running = 0;
  };

  const size_t per_host_;
  absl::flat_hash_set<std::string> known_;
  absl::flat_hash_map<std::string, size_t> host_index_;
  std::deque<Host> hosts_;
  size_t next_ = 0;  // the host whose turn it is
  size_t running_ = 0;
  size_t waiting_ = 0;
};

}  // namespace crawler

#endif  // ROUSE_EXAMPLES_PORTS_CRAWLER_FRONTIER_H_
