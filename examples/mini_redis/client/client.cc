// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0

#include "rouse/examples/mini_redis/client/client.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "rouse/examples/mini_redis/client/connect.h"
#include "rouse/examples/mini_redis/client/connection.h"
#include "rouse/examples/mini_redis/client/errors.h"
#include "rouse/examples/mini_redis/resp/command.h"
#include "rouse/examples/mini_redis/resp/numbers.h"
#include "rouse/examples/mini_redis/resp/value.h"
#include "rouse/future/co.h"
#include "rouse/future/or_return.h"
#include "rouse/net/tcp_stream.h"
#include "rouse/timer/timed_out.h"
#include "rouse/timer/timeout.h"

namespace mini_redis {
namespace {

using ::mini_redis::resp::Command;
using ::mini_redis::resp::Value;
using ::rouse::Co;

std::string NameOf(const Command& command) {
  return absl::AsciiStrToUpper(command[0]);
}

// Returns an error for a command after which the server does not send exactly
// one reply to each request.
absl::Status CheckCommand(const Command& command) {
  if (command.empty()) {
    return absl::InvalidArgumentError("a command needs a name");
  }
  static constexpr std::string_view kSubscriber[] = {
      "SUBSCRIBE",   "PSUBSCRIBE",   "SSUBSCRIBE",
      "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE"};
  static constexpr std::string_view kStreams[] = {"MONITOR", "SYNC", "PSYNC"};
  const std::string name = NameOf(command);
  if (std::find(std::begin(kSubscriber), std::end(kSubscriber), name) !=
      std::end(kSubscriber)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " needs a connection of its own: use a Subscriber"));
  }
  if (std::find(std::begin(kStreams), std::end(kStreams), name) !=
          std::end(kStreams) ||
      (name == "CLIENT" && command.size() > 1 &&
       absl::AsciiStrToUpper(command[1]) == "REPLY")) {
    return absl::InvalidArgumentError(
        absl::StrCat(name,
                     " is not possible: the server must send one reply to each "
                     "request"));
  }
  return absl::OkStatus();
}

Command MakeCommand(std::string_view name, std::vector<std::string> arguments) {
  Command command = {name};
  for (const std::string& argument : arguments) command.Add(argument);
  return command;
}

std::string Milliseconds(absl::Duration duration) {
  return absl::StrCat(
      absl::ToInt64Milliseconds(absl::Ceil(duration, absl::Milliseconds(1))));
}

Co<absl::StatusOr<Value>> FailLater(absl::Status error) { co_return error; }

bool IsText(const Value& value) {
  return value.type() == Value::Type::kBulkString ||
         value.type() == Value::Type::kSimpleString ||
         value.type() == Value::Type::kVerbatimString;
}

// The conversions return whether the reply has the right type.

bool ToInteger(Value reply, int64_t& result) {
  if (reply.type() != Value::Type::kInteger) return false;
  result = reply.integer();
  return true;
}

bool ToBool(Value reply, bool& result) {
  if (reply.type() != Value::Type::kInteger) return false;
  result = reply.integer() != 0;
  return true;
}

bool ToText(Value reply, std::string& result) {
  if (!IsText(reply)) return false;
  result = std::move(reply).text();
  return true;
}

bool ToOptionalText(Value reply, std::optional<std::string>& result) {
  if (reply.IsNull()) return true;
  return ToText(std::move(reply), result.emplace());
}

template <class T>
bool ToVector(Value reply, bool (*convert)(Value, T&), std::vector<T>& result) {
  if (reply.type() != Value::Type::kArray) return false;
  for (Value& element : std::move(reply).elements()) {
    if (!convert(std::move(element), result.emplace_back())) return false;
  }
  return true;
}

bool ToTexts(Value reply, std::vector<std::string>& result) {
  return ToVector(std::move(reply), &ToText, result);
}

bool ToOptionalTexts(Value reply,
                     std::vector<std::optional<std::string>>& result) {
  return ToVector(std::move(reply), &ToOptionalText, result);
}

bool ToOptionalPair(
    Value reply, std::optional<std::pair<std::string, std::string>>& result) {
  if (reply.IsNull()) return true;
  std::vector<std::string> texts;
  if (!ToTexts(std::move(reply), texts) || texts.size() != 2) return false;
  result.emplace(std::move(texts[0]), std::move(texts[1]));
  return true;
}

bool ToOptionalDuration(Value reply, std::optional<absl::Duration>& result) {
  if (reply.type() != Value::Type::kInteger) return false;
  if (reply.integer() == -2) return true;
  result = reply.integer() < 0 ? absl::InfiniteDuration()
                               : absl::Milliseconds(reply.integer());
  return true;
}

// "OK", or a null if a condition was not met.
bool ToIsSet(Value reply, bool& result) {
  result = !reply.IsNull();
  return reply.IsNull() || IsText(reply);
}

absl::Status WrongType(std::string_view where, const Value& reply) {
  return absl::InternalError(absl::StrCat(where, ": unexpected reply, ",
                                          TypeName(reply.type()), ": ",
                                          reply.ToString().substr(0, 100)));
}

template <class T>
Co<absl::StatusOr<T>> Convert(Co<absl::StatusOr<Value>> request,
                              std::string where, bool (*convert)(Value, T&)) {
  Value reply = co_await rouse::OrReturn(std::move(request));
  T result{};
  // The message of the error shows the reply.
  const Value copy = reply.HasElements() ? Value::Array({}) : reply;
  if (!convert(std::move(reply), result)) co_return WrongType(where, copy);
  co_return std::move(result);
}

Co<absl::Status> IgnoreReply(Co<absl::StatusOr<Value>> request) {
  co_await rouse::OrReturn(std::move(request));
  co_return absl::OkStatus();
}

Co<absl::StatusOr<std::vector<Value>>> ToElements(
    Co<absl::StatusOr<Value>> request) {
  Value reply = co_await rouse::OrReturn(std::move(request));
  co_return std::move(reply).elements();
}

// Takes the replies of MULTI, of the queued commands and of EXEC.
Co<absl::StatusOr<std::vector<Value>>> ToExecuted(
    Co<absl::StatusOr<Value>> request, std::string where) {
  Value replies = co_await rouse::OrReturn(std::move(request));
  std::vector<Value> elements = std::move(replies).elements();
  // If a command was refused, the reply to the command says more than the reply
  // to EXEC, whose code matters nevertheless.
  Value executed = std::move(elements.back());
  elements.pop_back();
  if (executed.IsError()) {
    std::string text = executed.text();
    for (const Value& queued : elements) {
      if (!queued.IsError()) continue;
      absl::StrAppend(&text, " (", queued.text(), ")");
      break;
    }
    co_return MakeServerError(where, text);
  }
  if (executed.type() != Value::Type::kArray) {
    co_return WrongType(where, executed);
  }
  co_return std::move(executed).elements();
}

}  // namespace

Client::Tasks::~Tasks() {
  connection_->Break(absl::CancelledError("the client was destroyed"));
  writer_.Abort();
  reader_.Abort();
}

Co<absl::StatusOr<Client>> Client::Connect(std::string address,
                                           ClientOptions options) {
  rouse::TcpStream stream = co_await rouse::OrReturn(
      internal::Connect(address, options.connect_timeout));
  co_return FromStream(std::move(stream), std::move(address), options);
}

Co<absl::StatusOr<Value>> Client::SendBytes(Client client, std::string bytes,
                                            size_t requests, bool is_batch,
                                            std::string name,
                                            absl::Duration timeout) {
  absl::StatusOr<Value> reply = co_await rouse::Timeout(
      timeout, internal::Connection::Request(
                   client.connection_, std::move(bytes), requests, is_batch));
  const std::string where = absl::StrCat(client.address(), ": ", name);
  if (rouse::TimedOut(reply.status())) {
    co_return absl::DeadlineExceededError(absl::StrCat(
        where, ": no reply within ", absl::FormatDuration(timeout)));
  }
  if (!reply.ok()) co_return Annotate(where, reply.status());
  if (reply->IsError()) co_return MakeServerError(where, reply->text());
  co_return reply;
}

Co<absl::StatusOr<Value>> Client::Send(Command command,
                                       absl::Duration timeout) const {
  absl::Status status = CheckCommand(command);
  if (!status.ok()) return FailLater(Annotate(address(), status));
  std::string bytes;
  AppendCommand(command, bytes);
  return SendBytes(*this, std::move(bytes), 1, /*is_batch=*/false,
                   NameOf(command), timeout);
}

Co<absl::StatusOr<std::vector<Value>>> Client::SendAll(
    std::vector<Command> commands) const {
  std::string bytes;
  for (const Command& command : commands) {
    absl::Status status = CheckCommand(command);
    if (!status.ok()) {
      return ToElements(FailLater(Annotate(address(), status)));
    }
    AppendCommand(command, bytes);
  }
  if (commands.empty()) {
    return ToElements(FailLater(absl::InvalidArgumentError(
        absl::StrCat(address(), ": a batch needs a command"))));
  }
  return ToElements(SendBytes(
      *this, std::move(bytes), commands.size(), /*is_batch=*/true,
      absl::StrCat(NameOf(commands[0]), " and ", commands.size() - 1, " more"),
      request_timeout_));
}

Co<absl::StatusOr<std::vector<Value>>> Client::Transaction(
    std::vector<Command> commands) const {
  const std::string where = absl::StrCat(address(), ": EXEC");
  std::string bytes;
  resp::AppendCommand({"MULTI"}, bytes);
  for (const Command& command : commands) {
    absl::Status status = CheckCommand(command);
    if (!status.ok()) {
      return ToExecuted(FailLater(Annotate(address(), status)), where);
    }
    AppendCommand(command, bytes);
  }
  resp::AppendCommand({"EXEC"}, bytes);
  return ToExecuted(SendBytes(*this, std::move(bytes), commands.size() + 2,
                              /*is_batch=*/true, "EXEC", request_timeout_),
                    where);
}

template <class T>
Co<absl::StatusOr<T>> Client::Call(Command command,
                                   bool (*convert)(Value, T&)) const {
  std::string where = absl::StrCat(address(), ": ", NameOf(command));
  return Convert(Send(std::move(command)), std::move(where), convert);
}

Co<absl::Status> Client::Ping() const { return IgnoreReply(Send({"PING"})); }

Co<absl::StatusOr<std::optional<std::string>>> Client::Get(
    std::string_view key) const {
  return Call({"GET", key}, &ToOptionalText);
}

Co<absl::StatusOr<bool>> Client::Set(std::string_view key,
                                     std::string_view value,
                                     const SetOptions& options) const {
  Command command = {"SET", key, value};
  if (options.when == SetOptions::When::kIfMissing) command.Add("NX");
  if (options.when == SetOptions::When::kIfPresent) command.Add("XX");
  if (options.expires_after != absl::InfiniteDuration()) {
    command.Add("PX");
    command.Add(Milliseconds(options.expires_after));
  }
  if (options.keep_ttl) command.Add("KEEPTTL");
  return Call(std::move(command), &ToIsSet);
}

Co<absl::StatusOr<std::vector<std::optional<std::string>>>> Client::MGet(
    std::vector<std::string> keys) const {
  return Call(MakeCommand("MGET", std::move(keys)), &ToOptionalTexts);
}

Co<absl::Status> Client::MSet(
    std::vector<std::pair<std::string, std::string>> values) const {
  Command command = {"MSET"};
  for (const auto& [key, value] : values) {
    command.Add(key);
    command.Add(value);
  }
  return IgnoreReply(Send(std::move(command)));
}

Co<absl::StatusOr<int64_t>> Client::Incr(std::string_view key,
                                         int64_t by) const {
  return Call({"INCRBY", key, absl::StrCat(by)}, &ToInteger);
}

Co<absl::StatusOr<int64_t>> Client::Append(std::string_view key,
                                           std::string_view value) const {
  return Call({"APPEND", key, value}, &ToInteger);
}

Co<absl::StatusOr<int64_t>> Client::Del(std::vector<std::string> keys) const {
  return Call(MakeCommand("DEL", std::move(keys)), &ToInteger);
}

Co<absl::StatusOr<bool>> Client::Del(std::string_view key) const {
  return Call({"DEL", key}, &ToBool);
}

Co<absl::StatusOr<int64_t>> Client::Exists(
    std::vector<std::string> keys) const {
  return Call(MakeCommand("EXISTS", std::move(keys)), &ToInteger);
}

Co<absl::StatusOr<bool>> Client::Exists(std::string_view key) const {
  return Call({"EXISTS", key}, &ToBool);
}

Co<absl::StatusOr<bool>> Client::Expire(std::string_view key,
                                        absl::Duration after) const {
  return Call({"PEXPIRE", key, Milliseconds(after)}, &ToBool);
}

Co<absl::StatusOr<bool>> Client::Persist(std::string_view key) const {
  return Call({"PERSIST", key}, &ToBool);
}

Co<absl::StatusOr<std::optional<absl::Duration>>> Client::Ttl(
    std::string_view key) const {
  return Call({"PTTL", key}, &ToOptionalDuration);
}

Co<absl::StatusOr<int64_t>> Client::LPush(
    std::string_view key, std::vector<std::string> values) const {
  values.insert(values.begin(), std::string(key));
  return Call(MakeCommand("LPUSH", std::move(values)), &ToInteger);
}

Co<absl::StatusOr<int64_t>> Client::LPush(std::string_view key,
                                          std::string_view value) const {
  return Call({"LPUSH", key, value}, &ToInteger);
}

Co<absl::StatusOr<int64_t>> Client::RPush(
    std::string_view key, std::vector<std::string> values) const {
  values.insert(values.begin(), std::string(key));
  return Call(MakeCommand("RPUSH", std::move(values)), &ToInteger);
}

Co<absl::StatusOr<int64_t>> Client::RPush(std::string_view key,
                                          std::string_view value) const {
  return Call({"RPUSH", key, value}, &ToInteger);
}

Co<absl::StatusOr<std::optional<std::string>>> Client::LPop(
    std::string_view key) const {
  return Call({"LPOP", key}, &ToOptionalText);
}

Co<absl::StatusOr<std::optional<std::string>>> Client::RPop(
    std::string_view key) const {
  return Call({"RPOP", key}, &ToOptionalText);
}

Co<absl::StatusOr<std::vector<std::string>>> Client::LRange(
    std::string_view key, int64_t first, int64_t last) const {
  return Call({"LRANGE", key, absl::StrCat(first), absl::StrCat(last)},
              &ToTexts);
}

Co<absl::StatusOr<std::optional<std::pair<std::string, std::string>>>>
Client::BLPop(std::vector<std::string> keys, absl::Duration timeout) const {
  Command command = MakeCommand("BLPOP", std::move(keys));
  // The server takes 0 for ever.
  std::string seconds = "0";
  if (timeout != absl::InfiniteDuration()) {
    seconds.clear();
    resp::AppendDouble(
        absl::ToDoubleSeconds(std::max(timeout, absl::Milliseconds(1))),
        seconds);
  }
  command.Add(seconds);
  return Convert(Send(std::move(command), timeout + request_timeout_),
                 absl::StrCat(address(), ": BLPOP"), &ToOptionalPair);
}

Co<absl::StatusOr<int64_t>> Client::Publish(std::string_view channel,
                                            std::string_view message) const {
  return Call({"PUBLISH", channel, message}, &ToInteger);
}

}  // namespace mini_redis
