// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/testing/internal/dns_server.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/log/check.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/io/read_exact.h"
#include "rouse/net/socket_addr.h"
#include "rouse/net/tcp_listener.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/net/udp_socket.h"
#include "rouse/runtime/handle.h"
#include "rouse/runtime/runtime.h"
#include "rouse/scheduler/current.h"

namespace rouse {
namespace {

constexpr size_t kHeaderSize = 12;
// The type and the class at the end of a question.
constexpr size_t kQuestionTail = 4;
constexpr size_t kLongestDatagram = 512;

uint16_t Number(std::string_view bytes, size_t at) {
  return static_cast<uint16_t>(static_cast<uint8_t>(bytes[at]) << 8 |
                               static_cast<uint8_t>(bytes[at + 1]));
}

void AppendNumber(std::string& out, size_t number) {
  out.push_back(static_cast<char>(number >> 8));
  out.push_back(static_cast<char>(number));
}

// Returns the size of the question after the header of `query`, and sets
// `question`; or returns nothing if the query is malformed.
std::optional<size_t> ParseQuestion(std::string_view query,
                                    DnsQuestion& question) {
  if (query.size() < kHeaderSize) return std::nullopt;
  size_t at = kHeaderSize;
  for (;;) {
    if (at >= query.size()) return std::nullopt;
    const size_t size = static_cast<uint8_t>(query[at++]);
    if (size == 0) break;
    if (size > 63 || at + size > query.size()) return std::nullopt;
    absl::StrAppend(&question.name, question.name.empty() ? "" : ".",
                    query.substr(at, size));
    at += size;
  }
  if (at + kQuestionTail > query.size()) return std::nullopt;
  question.type = Number(query, at);
  return at + kQuestionTail - kHeaderSize;
}

// Returns the bytes of an address if a record of `type` holds it.
std::string BytesFor(uint16_t type, const SocketAddr& addr) {
  if (addr.IsIPv4() && type == DnsQuestion::kA) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(addr.data());
    return std::string(reinterpret_cast<const char*>(&in->sin_addr),
                       sizeof in->sin_addr);
  }
  if (addr.IsIPv6() && type == DnsQuestion::kAaaa) {
    const auto* in = reinterpret_cast<const sockaddr_in6*>(addr.data());
    return std::string(reinterpret_cast<const char*>(&in->sin6_addr),
                       sizeof in->sin6_addr);
  }
  return std::string();
}

std::string Encode(std::string_view id, std::string_view question, int flags,
                   const std::vector<std::string>& records) {
  std::string message(id);
  AppendNumber(message, static_cast<size_t>(flags));
  AppendNumber(message, 1);  // questions
  AppendNumber(message, records.size());
  AppendNumber(message, 0);
  AppendNumber(message, 0);
  message.append(question);
  for (const std::string& record : records) message.append(record);
  return message;
}

}  // namespace

DnsServer::DnsServer(Answer answer)
    : answer_(std::move(answer)),
      runtime_(Builder::MultiThread().WorkerThreads(1).Build().value()) {
  const EnterGuard enter = runtime_.Enter();
  // Another process may have the port for UDP.
  for (int i = 0; i < 100 && !udp_.has_value(); ++i) {
    tcp_ = TcpListener::Bind(SocketAddr::Localhost(0)).value();
    absl::StatusOr<UdpSocket> udp = UdpSocket::Bind(*tcp_->local_addr());
    if (udp.ok()) udp_ = *std::move(udp);
  }
  CHECK(udp_.has_value()) << "no port is free for both UDP and TCP";
  runtime_.Spawn(ServeUdp()).Detach();
  runtime_.Spawn(ServeTcp()).Detach();
}

SocketAddr DnsServer::addr() const { return tcp_->local_addr().value(); }

std::vector<DnsQuestion> DnsServer::questions() const {
  const absl::MutexLock lock(&mu_);
  return questions_;
}

void DnsServer::AwaitQuestions(size_t count) const {
  const absl::MutexLock lock(&mu_);
  const auto enough = [this, count]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return questions_.size() >= count;
  };
  mu_.Await(absl::Condition(&enough));
}

Co<> DnsServer::ServeUdp() {
  char buffer[kLongestDatagram];
  for (;;) {
    auto receive = udp_->RecvFrom(absl::MakeSpan(buffer));
    absl::StatusOr<UdpSocket::Received> received = co_await std::move(receive);
    // The error of a client that has closed its socket.
    if (!received.ok()) continue;
    const std::string reply =
        Reply(std::string_view(buffer, received->size), /*over_tcp=*/false);
    if (reply.empty()) continue;
    auto send = udp_->SendTo(reply, received->peer);
    (co_await std::move(send)).status().IgnoreError();
  }
}

Co<> DnsServer::ServeTcp() {
  for (;;) {
    auto accept = tcp_->Accept();
    absl::StatusOr<TcpListener::Accepted> accepted = co_await std::move(accept);
    if (!accepted.ok()) continue;
    Spawn(ServeConnection(std::move(accepted->stream))).Detach();
  }
}

Co<absl::Status> DnsServer::ServeConnection(TcpStream stream) {
  for (;;) {
    char size[2];
    co_await OrReturn(ReadExact(stream, absl::MakeSpan(size)));
    std::string query(Number(std::string_view(size, 2), 0), '\0');
    co_await OrReturn(ReadExact(stream, absl::MakeSpan(query)));
    const std::string reply = Reply(query, /*over_tcp=*/true);
    if (reply.empty()) co_return absl::OkStatus();
    std::string framed;
    AppendNumber(framed, reply.size());
    framed.append(reply);
    co_await OrReturn(stream.WriteAll(framed));
  }
}

std::string DnsServer::Reply(std::string_view query, bool over_tcp) {
  DnsQuestion question;
  const std::optional<size_t> size = ParseQuestion(query, question);
  if (!size.has_value()) return std::string();
  question.over_tcp = over_tcp;
  {
    const absl::MutexLock lock(&mu_);
    questions_.push_back(question);
  }
  const DnsAnswer answer = answer_(question);
  std::vector<std::string> records;
  for (const SocketAddr& addr : answer.addrs) {
    const std::string bytes = BytesFor(question.type, addr);
    if (bytes.empty()) continue;
    std::string record("\xc0\x0c", 2);  // the name of the question
    AppendNumber(record, question.type);
    AppendNumber(record, 1);  // the class of the Internet
    AppendNumber(record, 0);
    AppendNumber(record, 60);  // seconds to live
    AppendNumber(record, bytes.size());
    records.push_back(record + bytes);
  }
  const std::string_view id = query.substr(0, 2);
  const std::string_view asked = query.substr(kHeaderSize, *size);
  // An answer, with recursion desired and available.
  const int flags = 0x8180 | answer.code;
  constexpr int kTruncated = 0x200;
  std::string message = Encode(id, asked, flags, records);
  if (!over_tcp && message.size() > kLongestDatagram) {
    message = Encode(id, asked, flags | kTruncated, {});
  }
  if (answer.tamper) answer.tamper(message);
  return message;
}

}  // namespace rouse
