// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// -----------------------------------------------------------------------------
// File: tls_fixture.h
// -----------------------------------------------------------------------------
//
// Helpers shared by the tests in tls/.

#ifndef ROUSE_TLS_TLS_FIXTURE_H_
#define ROUSE_TLS_TLS_FIXTURE_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "rouse/future/join.h"
#include "rouse/io/duplex.h"
#include "rouse/io/read.h"
#include "rouse/io/write_all.h"
#include "rouse/testing/internal/io_fixture.h"
#include "rouse/tls/test_certificates.h"
#include "rouse/tls/tls_acceptor.h"
#include "rouse/tls/tls_connector.h"
#include "rouse/tls/tls_stream.h"
#include "rouse/tls/tls_version.h"
#include "rouse/waker/context.h"
#include "rouse/waker/poll_result.h"
#include "rouse/waker/waker.h"

namespace rouse {

// The faults of a `TestStream`. The test and the stream share a `StreamFaults`.
struct StreamFaults {
  size_t most = std::string::npos;  // bytes of one read or write
  bool in_turns = false;  // every other call is pending, and wakes at once
  bool ends = false;      // reads find the end
  absl::Status read_error;
  absl::Status write_error;
  size_t allowance = std::string::npos;  // bytes that can still be written
  std::string* record = nullptr;         // keeps the bytes written
  std::function<void()> before;          // runs in each read and write
  size_t received = 0;                   // bytes read
  int reads = 0;
  int writes = 0;
  int shutdowns = 0;
};

// An end of a `Duplex` that follows `StreamFaults`.
class TestStream {
 public:
  explicit TestStream(DuplexStream stream)
      : stream_(std::move(stream)), faults_(std::make_shared<StreamFaults>()) {}

  std::shared_ptr<StreamFaults> faults() const { return faults_; }
  const DuplexStream& inner() const { return stream_; }

  PollResult<absl::StatusOr<size_t>> PollRead(Context& cx,
                                              absl::Span<char> buffer) {
    using Result = absl::StatusOr<size_t>;
    ++faults_->reads;
    if (faults_->before) faults_->before();
    if (WaitsForTurn(cx, read_turn_)) return kPending;
    if (!faults_->read_error.ok()) return Result(faults_->read_error);
    if (faults_->ends) return Result(0);
    auto read = stream_.PollRead(cx, buffer.subspan(0, faults_->most));
    if (read.IsReady() && read->ok()) faults_->received += **read;
    return read;
  }
  PollResult<absl::StatusOr<size_t>> PollWrite(Context& cx,
                                               std::string_view data) {
    using Result = absl::StatusOr<size_t>;
    ++faults_->writes;
    if (faults_->before) faults_->before();
    if (WaitsForTurn(cx, write_turn_)) return kPending;
    if (!faults_->write_error.ok()) return Result(faults_->write_error);
    if (faults_->allowance == 0) {
      blocked_ = cx.waker().Clone();
      return kPending;
    }
    data = data.substr(0, std::min(faults_->most, faults_->allowance));
    auto written = stream_.PollWrite(cx, data);
    if (written.IsReady() && written->ok()) {
      if (faults_->allowance != std::string::npos) {
        faults_->allowance -= **written;
      }
      if (faults_->record != nullptr) {
        faults_->record->append(data.substr(0, **written));
      }
    }
    return written;
  }
  PollResult<absl::StatusOr<size_t>> PollWriteVectored(
      Context& cx, absl::Span<const std::string_view> parts) {
    return PollWrite(cx, parts[0]);
  }
  PollResult<absl::Status> PollFlush(Context& cx) {
    return stream_.PollFlush(cx);
  }
  PollResult<absl::Status> PollShutdown(Context& cx) {
    ++faults_->shutdowns;
    return stream_.PollShutdown(cx);
  }

  // Allows further bytes, and wakes the task that polled a write last.
  void Allow(size_t size) {
    faults_->allowance = size;
    std::move(blocked_).Wake();
  }

 private:
  bool WaitsForTurn(Context& cx, bool& turn) {
    if (!faults_->in_turns) return false;
    turn = !turn;
    if (turn) cx.waker().WakeByRef();
    return turn;
  }

  DuplexStream stream_;
  std::shared_ptr<StreamFaults> faults_;
  Waker blocked_;
  bool read_turn_ = false;
  bool write_turn_ = false;
};

// A fixture with an authority, and both ends of connections over a `Duplex`.
class TlsTest : public IoTest {
 protected:
  using Stream = TlsStream<TestStream>;
  using Outcome = absl::StatusOr<Stream>;

  // The builders for a connection to "example.com".
  TlsConnector::Builder ClientBuilder() {
    TlsConnector::Builder builder;
    builder.SystemRoots(false).AddRoots(authority_.pem());
    return builder;
  }
  TlsAcceptor::Builder ServerBuilder() {
    TlsAcceptor::Builder builder;
    builder.Certificate(identity_.chain, identity_.key);
    return builder;
  }
  TlsConnector Client() { return ClientBuilder().Build().value(); }
  TlsAcceptor Server() { return ServerBuilder().Build().value(); }

  // Performs both handshakes. Returns the client's and the server's outcome.
  std::pair<Outcome, Outcome> Handshake(const TlsConnector& client,
                                        const TlsAcceptor& server,
                                        std::string_view host = "example.com",
                                        size_t capacity = 1 << 16) {
    auto [a, b] = Duplex(capacity);
    auto connect = client.Connect(host, TestStream(std::move(a)));
    auto accept = server.Accept(TestStream(std::move(b)));
    auto both = Join(std::move(connect), std::move(accept));
    auto [first, second] = Run(both);
    return {std::move(first), std::move(second)};
  }

  // Makes a connection.
  std::pair<Stream, Stream> Connected(const TlsConnector& client,
                                      const TlsAcceptor& server,
                                      size_t capacity = 1 << 16) {
    auto [a, b] = Handshake(client, server, "example.com", capacity);
    EXPECT_TRUE(a.ok()) << a.status();
    EXPECT_TRUE(b.ok()) << b.status();
    return {*std::move(a), *std::move(b)};
  }
  std::pair<Stream, Stream> Connected(size_t capacity = 1 << 16) {
    return Connected(Client(), Server(), capacity);
  }

  // Returns the bytes of one read; the end is "".
  template <class R>
  absl::StatusOr<std::string> ReadSome(R& reader, size_t size = 1 << 16) {
    std::string buffer(size, '\0');
    absl::StatusOr<size_t> read = Run(Read(reader, absl::MakeSpan(buffer)));
    if (!read.ok()) return read.status();
    buffer.resize(*read);
    return buffer;
  }

  // Sends a byte each way, so that both ends have read what followed the
  // handshake.
  template <class A, class B>
  void Exchange(A& a, B& b) {
    EXPECT_TRUE(Run(WriteAll(a, "x")).ok());
    EXPECT_EQ(ReadSome(b).value_or("failed"), "x");
    EXPECT_TRUE(Run(WriteAll(b, "y")).ok());
    EXPECT_EQ(ReadSome(a).value_or("failed"), "y");
  }

  TestAuthority authority_;
  TestIdentity identity_ =
      authority_.Issue({"example.com", "*.example.org", "127.0.0.1", "::1"});
};

// A fixture for connections of both versions.
//
//   INSTANTIATE_TEST_SUITE_P(
//       Versions, TlsVersionTest,
//       ::testing::Values(TlsVersion::k1_2, TlsVersion::k1_3), &NameOfVersion);
class TlsVersionTest : public TlsTest,
                       public ::testing::WithParamInterface<TlsVersion> {
 protected:
  // A connection of the version that is tested.
  std::pair<Stream, Stream> Connected(size_t capacity = 1 << 16) {
    return TlsTest::Connected(
        ClientBuilder().MaxVersion(GetParam()).Build().value(), Server(),
        capacity);
  }
};

inline std::string NameOfVersion(
    const ::testing::TestParamInfo<TlsVersion>& info) {
  return info.param == TlsVersion::k1_2 ? "Tls12" : "Tls13";
}

}  // namespace rouse

#endif  // ROUSE_TLS_TLS_FIXTURE_H_
