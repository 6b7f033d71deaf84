// Copyright 2026 The Rouse Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tokens are cancelled, waited for and dropped concurrently. The first part has
// the names and the scenarios of the models of tokio-util's token, including
// those that are disabled there (tokio #7644). The checker itself finds a node
// that is freed too early, or never.

#include <optional>
#include <utility>

#include "rouse/sync/cancellation/cancellation_token.h"
#include "rouse/testing/internal/model_task.h"
#include "rouse/testing/model/cell.h"
#include "rouse/testing/model/check.h"
#include "rouse/testing/model/gtest.h"
#include "rouse/testing/model/thread.h"

namespace rouse {
namespace {

using model::Require;
using model::Task;
using model::Thread;
using PlainInt = model::Cell<int>;

// A token that a thread drops at its end.
class Holder {
 public:
  explicit Holder(CancellationToken token) : token_(std::move(token)) {}

  const CancellationToken& operator*() const { return *token_; }
  const CancellationToken* operator->() const { return &*token_; }
  void Drop() { token_.reset(); }

 private:
  std::optional<CancellationToken> token_;
};

MODEL_TEST(CancellationToken, CancelToken) {
  PlainInt data(0);
  Task task;
  Holder token{CancellationToken()};
  Thread waiting([&, token = Holder(*token)]() mutable {
    {
      auto cancelled = token->Cancelled();
      task.Await(cancelled);
    }
    Require(data.Read() == 1);
    token.Drop();
  });
  Thread cancelling([&, token = Holder(*token)]() mutable {
    data.Write() = 1;
    token->Cancel();
    token.Drop();
  });
  token.Drop();
}

MODEL_TEST(CancellationToken, CancelTokenOwned) {
  PlainInt data(0);
  Task task;
  Holder token{CancellationToken()};
  Thread waiting([&, token = Holder(*token)]() mutable {
    auto cancelled = token->CancelledOwned();
    token.Drop();
    task.Await(cancelled);
    Require(data.Read() == 1);
  });
  Thread cancelling([&, token = Holder(*token)]() mutable {
    data.Write() = 1;
    token->Cancel();
    token.Drop();
  });
  token.Drop();
}

MODEL_TEST(CancellationToken, DropTokenNoChild) {
  Holder token{CancellationToken()};
  Thread first([token = Holder(*token)]() mutable { token.Drop(); });
  Thread second([token = Holder(*token)]() mutable { token.Drop(); });
  token.Drop();
}

MODEL_TEST(CancellationToken, DropTokenWithChildren) {
  Holder token{CancellationToken()};
  Thread first(
      [token = Holder(token->ChildToken())]() mutable { token.Drop(); });
  Thread second(
      [token = Holder(token->ChildToken())]() mutable { token.Drop(); });
  token.Drop();
}

MODEL_TEST(CancellationToken, DropAndCancelToken) {
  Holder token{CancellationToken()};
  Thread cancelling([token = Holder(*token)]() mutable {
    token->Cancel();
    token.Drop();
  });
  Thread dropping(
      [token = Holder(token->ChildToken())]() mutable { token.Drop(); });
  token.Drop();
}

MODEL_TEST(CancellationToken, CancelParentAndChild) {
  Holder token{CancellationToken()};
  Thread cancelling([token = Holder(*token)]() mutable {
    token->Cancel();
    token.Drop();
  });
  Thread child([token = Holder(token->ChildToken())]() mutable {
    token->Cancel();
    token.Drop();
  });
  token.Drop();
}

// ---- What else is promised.

MODEL_TEST(CancellationToken, AChildIsMadeWhileItsParentIsCancelled) {
  const CancellationToken token;
  PlainInt data(0);
  Thread cancelling([&] {
    data.Write() = 1;
    token.Cancel();
  });
  const CancellationToken child = token.ChildToken();
  if (child.IsCancelled()) Require(data.Read() == 1);
  cancelling.Join();
  Require(child.IsCancelled());
}

MODEL_TEST(CancellationToken, AllDescendantsAreCancelledWhenCancelReturns) {
  const CancellationToken token;
  const CancellationToken child = token.ChildToken();
  const CancellationToken grandchild = child.ChildToken();
  Thread cancelling([&] {
    token.Cancel();
    Require(grandchild.IsCancelled());
  });
  token.Cancel();
  Require(child.IsCancelled());
  Require(grandchild.IsCancelled());
}

// A destroyed token leaves its child to its parent: a cancellation above is not
// lost.
MODEL_TEST(CancellationToken, AGrandchildIsCancelledWhileItsParentIsDestroyed) {
  const CancellationToken token;
  Holder child(token.ChildToken());
  const CancellationToken grandchild = child->ChildToken();
  Task task;
  auto cancelled = grandchild.Cancelled();
  Require(task.Poll(cancelled).IsPending());
  Thread cancelling([&] { token.Cancel(); });
  child.Drop();
  cancelling.Join();
  Require(task.woken());
  Require(task.Poll(cancelled).IsReady());
}

// Two generations are destroyed at once.
MODEL_TEST(CancellationToken, AParentAndItsParentAreDestroyed) {
  const CancellationToken token;
  Holder child(token.ChildToken());
  Holder grandchild(child->ChildToken());
  const CancellationToken last = grandchild->ChildToken();
  Thread dropping([child = std::move(child)]() mutable { child.Drop(); });
  grandchild.Drop();
  dropping.Join();
  token.Cancel();
  Require(last.IsCancelled());
}

MODEL_TEST(CancellationToken, ACancelledWaitIsNotWoken) {
  const CancellationToken token;
  Task task, other;
  auto staying = token.Cancelled();
  std::optional<CancellationToken::CancelledFuture> leaving(token.Cancelled());
  Require(task.Poll(*leaving).IsPending());
  Require(other.Poll(staying).IsPending());
  Thread cancelling([&] { token.Cancel(); });
  leaving.reset();
  cancelling.Join();
  Require(other.woken());
  Require(other.Poll(staying).IsReady());
}

// A waiter of a child sees the cancellation, and drops the last copy, while the
// thread that cancels the parent has not woken anybody.
MODEL_TEST(CancellationToken, ANotifiedWaiterDropsTheLastCopy) {
  const CancellationToken token;
  Task task;
  Thread waiting([&, token = Holder(token.ChildToken())]() mutable {
    {
      auto cancelled = token->Cancelled();
      if (task.Poll(cancelled).IsPending()) {
        static_cast<void>(task.Poll(cancelled));
      }
    }
    token.Drop();
  });
  token.Cancel();
}

MODEL_TEST(CancellationToken, TwoCancelWhileTheLastCopyIsDestroyed) {
  Holder token{CancellationToken()};
  Thread other([token = Holder(*token)]() mutable {
    token->Cancel();
    token.Drop();
  });
  if (!token->IsCancelled()) token->Cancel();
  token.Drop();
}

// ---- The largest of tokio-util's models, last.

MODEL_TEST(CancellationToken, CancelWithChild, .mode = model::Mode::kBounded,
           .preemption_bound = 2, .spurious_failures = 0) {
  Task task, child_task;
  Holder token{CancellationToken()};
  Thread waiting([&, token = Holder(*token)]() mutable {
    {
      auto cancelled = token->Cancelled();
      task.Await(cancelled);
    }
    token.Drop();
  });
  Thread child([&, token = Holder(token->ChildToken())]() mutable {
    {
      auto cancelled = token->Cancelled();
      child_task.Await(cancelled);
    }
    token.Drop();
  });
  token->Cancel();
  token.Drop();
}

MODEL_MUTANTS(CancellationToken, "sync/cancellation/cancellation_token.");

}  // namespace
}  // namespace rouse
