#include "rouse/base/frame_pool.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/config.h"
#include "absl/base/const_init.h"
#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "absl/cleanup/cleanup.h"
#include "absl/log/log.h"
#include "rouse/base/atomic.h"
#include "rouse/base/cell.h"
#include "rouse/base/thread_local.h"
#include "rouse/base/thread_mutex.h"

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace rouse {
namespace {

using internal::kFrameSizeClasses;

constexpr size_t kClassCount = internal::FrameSizeClasses::kCount;

// A heap has one owner, the thread whose `CurrentHeap()` it is. What other
// threads touch are the two atomics at its end.
//
//   remote_   A stack of chains of blocks that other threads have freed. Pushed
//             by any thread, taken whole by the owner.
//   balance_  Minus the number of blocks that were freed remotely, while the
//             owner lives. When it ends it adds the number of blocks that it
//             ever gave out and did not free itself. From then on the balance
//             is the number of blocks in use, and whoever brings it to zero
//             deletes the heap.
//
// Invariant: the heap is deleted once, by the thread whose change made the
// balance zero after the owner's addition. Before that addition the balance is
// negative after every remote free, so none of them can hit zero; after it, a
// remote free whose chain is on `remote_` but not yet taken off the balance
// keeps it above zero.
//
// Nobody walks a chain: the owner looks at the first of its blocks, and at the
// others when it gives them out.

class Heap;

// A free block. The link is all of it that is used.
struct Block {
  Cell<Block*> next;
};

// The first of the free blocks of one class that come home together, linked by
// `next`.
struct Chain : Block {
  Cell<Chain*> next_chain;
  uint32_t size_class;
  uint32_t count;
};
static_assert(sizeof(Chain) <= kFrameSizeClasses.size.front());

// The first bytes of a slab; its blocks, all of one class, follow.
struct alignas(64) Slab {
  Cell<Heap*> heap;
  Slab* next;  // of its heap, or of the depot's free ones
  uint32_t size_class;

  static Slab* Of(void* block) {
    return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(block) &
                                   ~uintptr_t{FramePool::kSlabSize - 1});
  }
};

void Poison([[maybe_unused]] void* block, [[maybe_unused]] size_t size) {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  ASAN_POISON_MEMORY_REGION(block, size);
#endif
}
void Unpoison([[maybe_unused]] void* block, [[maybe_unused]] size_t size) {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(block, size);
#endif
}

// Puts `block` first of `list`.
void PushTo(Block*& list, Block* block, size_t size_class) {
  block->next.Write() = list;
  list = block;
  Poison(block, kFrameSizeClasses.size[size_class]);
}

// Where heaps get slabs from and give them back to. Keeps them for the process.
class Depot {
 public:
  Slab* Take() {
    const ThreadMutexLock lock(&mu_);
    if (free_ == nullptr) Grow();
    Slab* slab = free_;
    free_ = slab->next;
    ++in_use_;
    return slab;
  }

  void Give(Slab* slab) {
    Poison(slab + 1, FramePool::kSlabSize - sizeof(Slab));
    const ThreadMutexLock lock(&mu_);
    slab->next = free_;
    free_ = slab;
    --in_use_;
  }

  size_t in_use() {
    const ThreadMutexLock lock(&mu_);
    return in_use_;
  }

 private:
  static constexpr size_t kSlabsPerChunk = 16;
  static constexpr size_t kChunkSize = kSlabsPerChunk * FramePool::kSlabSize;

  void Grow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    char* chunk = static_cast<char*>(AllocateChunk());
    for (size_t i = 0; i < kSlabsPerChunk; ++i) {
      Slab* slab = reinterpret_cast<Slab*>(chunk + i * FramePool::kSlabSize);
      slab->next = free_;
      free_ = slab;
    }
  }

  static void* AllocateChunk() {
#ifdef ABSL_HAVE_LEAK_SANITIZER
    // On the ordinary heap, where the leak checker looks for pointers.
    return ::operator new(kChunkSize, std::align_val_t{FramePool::kSlabSize});
#else
    // More than is wanted, then the ends are cut off: mmap aligns to pages.
    constexpr size_t kSlack = FramePool::kSlabSize;
    void* mapped = mmap(nullptr, kChunkSize + kSlack, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
#ifdef ABSL_HAVE_EXCEPTIONS
      throw std::bad_alloc();
#else
      LOG(FATAL) << "FramePool: out of memory";
#endif
    }
    char* begin = static_cast<char*>(mapped);
    const size_t head = -reinterpret_cast<uintptr_t>(begin) & (kSlack - 1);
    if (head > 0) munmap(begin, head);
    if (head < kSlack) munmap(begin + head + kChunkSize, kSlack - head);
    return begin + head;
#endif
  }

  ThreadMutex mu_{absl::kConstInit};
  Slab* free_ ABSL_GUARDED_BY(mu_) = nullptr;
  size_t in_use_ ABSL_GUARDED_BY(mu_) = 0;
};

ABSL_CONST_INIT Depot depot;

class Heap {
 public:
  constexpr Heap() = default;

  // ---- The owner's.

  void* Pop(size_t size_class) {
    Block* block = free_[size_class];
    if (ABSL_PREDICT_FALSE(block == nullptr)) return nullptr;
    Unpoison(block, kFrameSizeClasses.size[size_class]);
    free_[size_class] = block->next.Read();
    return block;
  }

  void Push(Block* block, size_t size_class) {
    PushTo(free_[size_class], block, size_class);
  }

  // A block where the free list has none.
  void* Refill(size_t size_class) {
    if (Chain* chain = TakeChain(size_class); chain != nullptr) {
      free_[size_class] = chain;
      taken_back_ += chain->count;
      return Pop(size_class);
    }
    const size_t size = kFrameSizeClasses.size[size_class];
    Fresh& fresh = fresh_[size_class];
    if (static_cast<size_t>(fresh.end - fresh.begin) < size) {
      Slab* slab = depot.Take();
      slab->heap.Write() = this;
      slab->size_class = static_cast<uint32_t>(size_class);
      slab->next = slabs_.Read();
      slabs_.Write() = slab;
      fresh.begin = reinterpret_cast<char*>(slab + 1);
      fresh.end = reinterpret_cast<char*>(slab) + FramePool::kSlabSize;
      Poison(fresh.begin, fresh.end - fresh.begin);
    }
    void* block = fresh.begin;
    fresh.begin += size;
    ++given_out_;
    Unpoison(block, size);
    return block;
  }

  // Keeps a foreign block for the next batch to its heap.
  void FreeRemote(Heap* home, Block* block, size_t size_class) {
    const size_t index = Batch::IndexOf(home, size_class);
    Batch& batch = batches_[index];
    if (batch.home != home) {
      batch.Send();
      batch.home = home;
    }
    PushTo(batch.first, block, size_class);
    unsent_ |= uint64_t{1} << index;
    if (++batch.count == FramePool::kRemoteBatch) batch.Send();
  }

  void FlushRemoteFrees() {
    // Asked before every park: mostly there are none.
    for (uint64_t unsent = std::exchange(unsent_, 0); unsent != 0;
         unsent &= unsent - 1) {
      batches_[std::countr_zero(unsent)].Send();
    }
  }

  // The owner ends. Deletes the heap now or leaves that to the last block.
  void Retire() {
    FlushRemoteFrees();
    int64_t in_free_lists = 0;
    for (size_t c = 0; c < kClassCount; ++c) {
      for (Block* block = free_[c]; block != nullptr;) {
        Unpoison(block, sizeof(Block));
        block = block->next.Read();
        ++in_free_lists;
      }
    }
    // What it has had less what it has: that is in use or, which the balance
    // knows, has come back remotely. Chains it never took it has not had again.
    const int64_t change = given_out_ + taken_back_ - in_free_lists;
    // Release pairs with the acquire of a remote free that comes last: it
    // deletes what this thread has written. Acquire, the other way round.
    if (balance_.fetch_add(change, std::memory_order_acq_rel) == -change) {
      delete this;
    }
  }

  // ---- Any thread's.

  // Takes back a chain of `count` blocks, which begins with `first`.
  void Return(Block* first, uint32_t count) {
    Unpoison(first, sizeof(Chain));
    Chain* chain = static_cast<Chain*>(first);
    chain->size_class = Slab::Of(first)->size_class;
    chain->count = count;
    Chain* head = remote_.load(std::memory_order_relaxed);
    do {
      chain->next_chain.Write() = head;
      // Release pairs with the acquire of Receive, which reads the links; the
      // blocks' last use comes before their next.
    } while (!remote_.compare_exchange_weak(
        head, chain, std::memory_order_release, std::memory_order_relaxed));
    // As in Retire.
    if (balance_.fetch_sub(count, std::memory_order_acq_rel) == count) {
      delete this;
    }
  }

 private:
  // Blocks of one class of one other heap, on their way home.
  struct Batch {
    static constexpr size_t kCount = 64;

    // Side by side for the classes of a home, so that no two of them share one.
    static size_t IndexOf(const Heap* home, size_t size_class) {
      static_assert(kClassCount <= kCount);
      const uint64_t hash =
          reinterpret_cast<uintptr_t>(home) * uint64_t{0x9E3779B97F4A7C15};
      return ((hash >> 32) + size_class) % kCount;
    }

    void Send() {
      if (count > 0) home->Return(first, count);
      *this = Batch();
    }

    Heap* home = nullptr;
    Block* first = nullptr;
    uint32_t count = 0;
  };

  // The part of the newest slab of a class that was never given out.
  struct Fresh {
    char* begin = nullptr;
    char* end = nullptr;
  };

  ~Heap() {
    for (Slab* slab = slabs_.Read(); slab != nullptr;) {
      depot.Give(std::exchange(slab, slab->next));
    }
  }

  // A chain of this class that came home, or null. Puts those of other classes
  // aside.
  Chain* TakeChain(size_t size_class) {
    if (Chain* chain = chains_[size_class]; chain != nullptr) {
      chains_[size_class] = chain->next_chain.Read();
      return chain;
    }
    while (arrived_ != nullptr || Receive()) {
      Chain* chain = arrived_;
      arrived_ = chain->next_chain.Read();
      // Long before it is wanted: the blocks of this chain come first.
      __builtin_prefetch(arrived_, 1);
      if (chain->size_class == size_class) return chain;
      chain->next_chain.Write() = chains_[chain->size_class];
      chains_[chain->size_class] = chain;
    }
    return nullptr;
  }

  // Takes over what other threads have sent. False if there is nothing.
  bool Receive() {
    // Nothing to order: the exchange below does.
    if (remote_.load(std::memory_order_relaxed) == nullptr) return false;
    // Acquire pairs with the release of Return.
    arrived_ = remote_.exchange(nullptr, std::memory_order_acquire);
    return true;
  }

  std::array<Block*, kClassCount> free_{};
  std::array<Fresh, kClassCount> fresh_{};
  std::array<Chain*, kClassCount> chains_{};  // put aside by TakeChain
  Chain* arrived_ = nullptr;  // from remote_, and not looked at yet
  std::array<Batch, Batch::kCount> batches_{};
  uint64_t unsent_ = 0;  // a bit for each of batches_ that may have blocks
  Cell<Slab*> slabs_;
  int64_t given_out_ = 0;   // blocks cut from slabs
  int64_t taken_back_ = 0;  // blocks of the chains that went to free_

  alignas(ABSL_CACHELINE_SIZE) Atomic<Chain*> remote_{nullptr};
  Atomic<int64_t> balance_{0};
};

// Null until the thread first allocates, and after its end.
Heap*& CurrentHeap() { return ThreadLocal<Heap*, class CurrentHeapTag>::Get(); }

// Whether the thread has had its heap, and is running its last destructors.
bool& HeapRetired() { return ThreadLocal<bool, class HeapRetiredTag>::Get(); }

struct RetireAtThreadExit {
  ~RetireAtThreadExit() {
    Heap* heap = std::exchange(CurrentHeap(), nullptr);
    HeapRetired() = true;
    heap->Retire();
  }
};

// Null if there is none and can be none.
Heap* CurrentOrNewHeap() {
  Heap*& heap = CurrentHeap();
  if (heap == nullptr && !HeapRetired()) {
    heap = new (std::nothrow) Heap;
    if (heap != nullptr)
      ThreadLocal<RetireAtThreadExit, class RetireTag>::Get();
  }
  return heap;
}

ABSL_ATTRIBUTE_NOINLINE void* AllocateSlow(size_t size_class) {
  if (Heap* heap = CurrentOrNewHeap()) return heap->Refill(size_class);
  // The thread is running its last destructors: a heap for this block alone.
  Heap* const heap = new Heap;
  const absl::Cleanup retire = [heap] { heap->Retire(); };
  return heap->Refill(size_class);
}

ABSL_ATTRIBUTE_NOINLINE void FreeSlow(Block* block, size_t size_class) {
  Heap* home = Slab::Of(block)->heap.Read();
  if (Heap* heap = CurrentOrNewHeap()) {
    heap->FreeRemote(home, block, size_class);
  } else {
    Block* chain = nullptr;
    PushTo(chain, block, size_class);
    home->Return(chain, 1);
  }
}

}  // namespace

void* FramePool::AllocateOfClass(size_t size_class) {
  if (Heap* heap = CurrentHeap(); ABSL_PREDICT_TRUE(heap != nullptr)) {
    if (void* block = heap->Pop(size_class)) return block;
  }
  return AllocateSlow(size_class);
}

void FramePool::FreeOfClass(void* block, size_t size_class) noexcept {
  Heap* heap = CurrentHeap();
  Block* freed = static_cast<Block*>(block);
  if (ABSL_PREDICT_TRUE(Slab::Of(block)->heap.Read() == heap)) {
    heap->Push(freed, size_class);
  } else {
    FreeSlow(freed, size_class);
  }
}

void FramePool::FlushRemoteFrees() noexcept {
  if (Heap* heap = CurrentHeap()) heap->FlushRemoteFrees();
}

size_t FramePool::SlabsInUse() { return depot.in_use(); }

}  // namespace rouse
