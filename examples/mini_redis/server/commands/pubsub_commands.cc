// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rouse/examples/mini_redis/server/commands/command_context.h"
#include "rouse/examples/mini_redis/server/commands/handlers.h"
#include "rouse/examples/mini_redis/server/pubsub/pubsub.h"
#include "rouse/examples/mini_redis/server/session/client.h"
#include "rouse/examples/mini_redis/server/session/service.h"
#include "rouse/examples/mini_redis/store/glob.h"

namespace mini_redis::handlers {
namespace {

using Kind = ::mini_redis::PubSub::Kind;

size_t SubscriptionCount(const Client& client) {
  return client.subscriber.has_value() ? client.subscriber->count() : 0;
}

// Replies to a change of a subscription, with a push.
void ReplyChange(CommandContext& c, std::string_view change,
                 const std::string_view* name) {
  c.reply().PushHeader(3);
  c.reply().Bulk(change);
  if (name == nullptr) {
    c.reply().Null();
  } else {
    c.reply().Bulk(*name);
  }
  c.reply().Integer(static_cast<int64_t>(SubscriptionCount(c.client())));
}

void SubscribeTo(CommandContext& c, Kind kind, std::string_view change) {
  Client& client = c.client();
  if (!client.subscriber.has_value()) {
    client.subscriber.emplace(c.service().options.output_limit, client.kill);
  }
  for (size_t i = 1; i < c.size(); ++i) {
    const std::string_view name = c.arg(i);
    (void)c.service().pubsub.Subscribe(kind, name, *client.subscriber);
    ReplyChange(c, change, &name);
  }
}

void UnsubscribeFrom(CommandContext& c, Kind kind, std::string_view change) {
  Client& client = c.client();
  std::vector<std::string> names;
  if (c.size() > 1) {
    for (size_t i = 1; i < c.size(); ++i) names.emplace_back(c.arg(i));
  } else if (client.subscriber.has_value()) {
    const auto& all = kind == Kind::kChannel ? client.subscriber->channels()
                                             : client.subscriber->patterns();
    names.assign(all.begin(), all.end());
  }
  // A message that was published before must not come after the reply.
  if (client.subscriber.has_value()) {
    client.subscriber->TakeMessages(client.protocol, c.reply().out());
  }
  for (const std::string_view name : names) {
    if (client.subscriber.has_value()) {
      (void)c.service().pubsub.Unsubscribe(kind, name, *client.subscriber);
    }
    ReplyChange(c, change, &name);
  }
  if (names.empty()) ReplyChange(c, change, nullptr);
  if (SubscriptionCount(client) == 0) client.subscriber.reset();
}

}  // namespace

void Subscribe(CommandContext& c) {
  SubscribeTo(c, Kind::kChannel, "subscribe");
}
void PSubscribe(CommandContext& c) {
  SubscribeTo(c, Kind::kPattern, "psubscribe");
}
void Unsubscribe(CommandContext& c) {
  UnsubscribeFrom(c, Kind::kChannel, "unsubscribe");
}
void PUnsubscribe(CommandContext& c) {
  UnsubscribeFrom(c, Kind::kPattern, "punsubscribe");
}

void Publish(CommandContext& c) {
  const size_t receivers = c.service().pubsub.Publish(c.arg(1), c.arg(2));
  // A message to the publisher itself comes before the reply, as in Redis.
  Client& client = c.client();
  if (client.subscriber.has_value()) {
    client.subscriber->TakeMessages(client.protocol, c.reply().out());
  }
  c.reply().Integer(static_cast<int64_t>(receivers));
}

void PubSub(CommandContext& c) {
  ::mini_redis::PubSub& pubsub = c.service().pubsub;
  if (c.ArgIs(1, "CHANNELS") && c.size() <= 3) {
    const std::string_view pattern = c.size() == 3 ? c.arg(2) : "*";
    std::vector<std::string_view> channels;
    pubsub.ForEachChannel([&](std::string_view channel) {
      if (GlobMatch(pattern, channel)) channels.push_back(channel);
    });
    c.reply().ArrayHeader(channels.size());
    for (std::string_view channel : channels) c.reply().Bulk(channel);
  } else if (c.ArgIs(1, "NUMSUB")) {
    c.reply().ArrayHeader(2 * (c.size() - 2));
    for (size_t i = 2; i < c.size(); ++i) {
      c.reply().Bulk(c.arg(i));
      c.reply().Integer(static_cast<int64_t>(pubsub.SubscriberCount(c.arg(i))));
    }
  } else if (c.ArgIs(1, "NUMPAT") && c.size() == 2) {
    c.reply().Integer(static_cast<int64_t>(pubsub.pattern_count()));
  } else {
    c.UnknownSubcommand();
  }
}

}  // namespace mini_redis::handlers
