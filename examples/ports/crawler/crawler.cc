// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Follows the links of pages, on the hosts of the pages to start with:
//
//   tools/bazel run -c opt //examples/ports/crawler -- http://127.0.0.1:8000/

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/log/initialize.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "rouse/examples/ports/crawler/frontier.h"
#include "rouse/examples/ports/crawler/http.h"
#include "rouse/examples/ports/crawler/links.h"
#include "rouse/examples/ports/crawler/url.h"
#include "rouse/future/streams.h"
#include "rouse/rouse.h"

ABSL_FLAG(uint32_t, concurrency, 8, "Most pages that are fetched at once.");
ABSL_FLAG(uint32_t, per_host, 2,
          "Most pages of a host that are fetched at once.");
ABSL_FLAG(uint32_t, max_pages, 1000, "Most pages that are fetched.");
ABSL_FLAG(uint32_t, max_depth, 10, "Most links from a page to start with.");
ABSL_FLAG(uint64_t, max_body, 1 << 20, "Most bytes of a page.");
ABSL_FLAG(absl::Duration, timeout, absl::Seconds(10), "Most time for a page.");
ABSL_FLAG(absl::Duration, deadline, absl::Minutes(1), "Most time in all.");

namespace {

using crawler::Frontier;
using crawler::Job;
using crawler::Response;
using crawler::Url;
using rouse::Co;
using rouse::OrReturn;

struct Page {
  Page(Job job, absl::StatusOr<Response> response)
      : job(std::move(job)), response(std::move(response)) {}

  Job job;
  absl::StatusOr<Response> response;
};

struct Summary {
  size_t pages = 0;
  size_t bytes = 0;
  size_t failed = 0;
  size_t duplicates = 0;  // links to pages that were known
  size_t foreign = 0;     // links to other hosts, or to pages too deep
};

Co<Page> Fetch(Job job) {
  crawler::ResponseLimits limits;
  limits.max_body = absl::GetFlag(FLAGS_max_body);
  auto response = co_await rouse::Timeout(absl::GetFlag(FLAGS_timeout),
                                          crawler::HttpGet(job.url, limits));
  co_return Page(std::move(job), std::move(response));
}

// Is ready when the crawl must end: at the deadline, or at Ctrl-C.
Co<> End() {
  co_await rouse::Select(rouse::Sleep(absl::GetFlag(FLAGS_deadline)),
                         rouse::ShutdownSignal());
}

// Prints a line for the page. Returns the page's links.
std::vector<std::string> Report(const Page& page, Summary& summary) {
  const std::string url = page.job.url.ToString();
  if (!page.response.ok()) {
    ++summary.failed;
    absl::PrintF("%s: %v\n", url, page.response.status());
    return {};
  }
  const Response& response = *page.response;
  absl::PrintF("%s: %d, %d bytes\n", url, response.status,
               response.body.size());
  if (response.status >= 400) {
    ++summary.failed;
    return {};
  }
  ++summary.pages;
  summary.bytes += response.body.size();
  if (!response.location.empty()) return {response.location};
  if (!absl::StartsWith(response.content_type, "text/html")) return {};
  return crawler::FindLinks(response.body);
}

Co<absl::Status> Crawl(std::vector<std::string> starts) {
  Frontier frontier(absl::GetFlag(FLAGS_per_host));
  absl::flat_hash_set<std::string> hosts;
  for (const std::string& start : starts) {
    Url url = co_await OrReturn(Url::Parse(start));
    hosts.insert(url.host_and_port);
    frontier.Add(std::move(url), 0);
  }
  auto pages = frontier | rouse::Take(absl::GetFlag(FLAGS_max_pages)) |
               rouse::Map(&Fetch) |
               rouse::BufferUnordered(absl::GetFlag(FLAGS_concurrency)) |
               rouse::TakeUntil(End());
  Summary summary;
  while (auto page = co_await rouse::Next(pages)) {
    frontier.Done(page->job);
    for (const std::string& link : Report(*page, summary)) {
      absl::StatusOr<Url> url = Url::Resolve(page->job.url, link);
      if (!url.ok() || !hosts.contains(url->host_and_port) ||
          page->job.depth == absl::GetFlag(FLAGS_max_depth)) {
        ++summary.foreign;
      } else if (!frontier.Add(*std::move(url), page->job.depth + 1)) {
        ++summary.duplicates;
      }
    }
  }
  absl::PrintF(
      "crawler: %d pages with %d bytes, %d failed, %d links to known pages, %d "
      "links not followed, %d pages left\n",
      summary.pages, summary.bytes, summary.failed, summary.duplicates,
      summary.foreign, frontier.waiting() + frontier.running());
  if (summary.pages == 0) {
    co_return absl::UnavailableError("no page could be fetched");
  }
  co_return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  absl::InitializeLog();
  setvbuf(stdout, nullptr, _IOLBF, 0);  // a line at once, even to a pipe
  absl::SetProgramUsageMessage("follows links: crawler [--flags] URL...");
  const std::vector<char*> words = absl::ParseCommandLine(argc, argv);
  std::vector<std::string> starts(words.begin() + 1, words.end());
  for (const auto& [flag, name] : {std::pair(&FLAGS_concurrency, "concurrency"),
                                   std::pair(&FLAGS_per_host, "per_host")}) {
    if (absl::GetFlag(*flag) == 0) {
      absl::FPrintF(stderr, "crawler: --%s is 0; choose at least 1\n", name);
      return 1;
    }
  }
  if (starts.empty()) {
    absl::FPrintF(stderr, "crawler: name a page to start with; see --help\n");
    return 1;
  }
  return rouse::RunMain(Crawl(std::move(starts)));
}
