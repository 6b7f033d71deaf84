// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/tls/connect_tls.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/base/no_destructor.h"
#include "absl/status/statusor.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/net/by_name.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/tls/tls_connector.h"
#include "rouse/tls/tls_stream.h"

namespace rouse {

Co<absl::StatusOr<TlsStream<TcpStream>>> ConnectTls(TlsConnector connector,
                                                    std::string host_port) {
  TcpStream stream = co_await OrReturn(ConnectTcp(host_port));
  // A connection that has ended already shows this in the handshake.
  stream.SetNoDelay(true).IgnoreError();
  // `ConnectTcp()` requires the port.
  const std::string_view host =
      std::string_view(host_port).substr(0, host_port.rfind(':'));
  TlsHandshake<TcpStream> handshake =
      connector.Connect(host, std::move(stream));
  co_return co_await std::move(handshake);
}

Co<absl::StatusOr<TlsStream<TcpStream>>> ConnectTls(std::string host_port) {
  static const absl::NoDestructor<absl::StatusOr<TlsConnector>> connector(
      TlsConnector::Builder().Build());
  TlsConnector shared = co_await OrReturn(*connector);
  Co<absl::StatusOr<TlsStream<TcpStream>>> connect =
      ConnectTls(std::move(shared), std::move(host_port));
  co_return co_await std::move(connect);
}

}  // namespace rouse
