// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef NET_TCP_STREAM_H_
#define NET_TCP_STREAM_H_

namespace monorepo {

struct TcpStream {
  int port = 2;
};

}  // namespace monorepo

#endif  // NET_TCP_STREAM_H_
