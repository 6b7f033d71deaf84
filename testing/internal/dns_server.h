// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: dns_server.h
// -----------------------------------------------------------------------------
//
// A name server on this machine, which answers as the test says:
//
//   DnsServer server([](const DnsQuestion& question) {
//     if (question.name != "db.test") return DnsAnswer::Error(3);  // NXDOMAIN
//     return DnsAnswer({SocketAddr::IPv4({192, 0, 2, 1}, 0)});
//   });
//   const AresResolver resolver({.servers = {server.addr()}});

#ifndef ROUSE_TESTING_INTERNAL_DNS_SERVER_H_
#define ROUSE_TESTING_INTERNAL_DNS_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "rouse/future/co.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/net/udp_socket.h"
#include "rouse/runtime/runtime.h"

namespace rouse {

// DnsQuestion
//
// What a client asks.
struct DnsQuestion {
  static constexpr uint16_t kA = 1;
  static constexpr uint16_t kAaaa = 28;

  std::string name;  // without the final dot
  uint16_t type = 0;
  bool over_tcp = false;
};

// DnsAnswer
//
// What a server answers.
struct DnsAnswer {
  // Makes an answer with those of `addrs` that have the type of the question.
  // An answer by UDP that would be longer than 512 bytes is truncated.
  explicit DnsAnswer(std::vector<SocketAddr> addrs) : addrs(std::move(addrs)) {}

  // Makes an answer with the response code `code`.
  static DnsAnswer Error(int code) {
    DnsAnswer answer({});
    answer.code = code;
    return answer;
  }

  // Makes the server send nothing, and close the connection if there is one.
  static DnsAnswer Silence() {
    DnsAnswer answer({});
    answer.tamper = [](std::string& message) { message.clear(); };
    return answer;
  }

  std::vector<SocketAddr> addrs;
  int code = 0;
  // Changes the message before it is sent. An empty message is not sent.
  std::function<void(std::string&)> tamper;
};

// DnsServer
//
// Serves on a thread of its own, by UDP and by TCP at the same port of
// 127.0.0.1. `answer` is called for one question after another, on that thread,
// and can block the server. The members are thread-safe.
class DnsServer {
 public:
  using Answer = std::function<DnsAnswer(const DnsQuestion&)>;

  explicit DnsServer(Answer answer);

  // Returns the address at which the server receives.
  SocketAddr addr() const;

  // Returns the questions so far, in the order of their arrival.
  std::vector<DnsQuestion> questions() const ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until `count` questions have arrived.
  void AwaitQuestions(size_t count) const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Co<> ServeUdp();
  Co<> ServeTcp();
  Co<absl::Status> ServeConnection(TcpStream stream);
  // Returns the message that answers `query`, or nothing.
  std::string Reply(std::string_view query, bool over_tcp)
      ABSL_LOCKS_EXCLUDED(mu_);

  const Answer answer_;
  mutable absl::Mutex mu_;
  std::vector<DnsQuestion> questions_ ABSL_GUARDED_BY(mu_);
  std::optional<UdpSocket> udp_;
  std::optional<TcpListener> tcp_;
  Runtime runtime_;  // ends first
};

}  // namespace rouse

#endif  // ROUSE_TESTING_INTERNAL_DNS_SERVER_H_
