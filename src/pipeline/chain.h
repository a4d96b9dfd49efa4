// Input: a source of items, stages that work on them, and a sink.
// Output: every item after all stages, in the source's order where a stage is ordered.
// Never: holds more items than it has tokens, or more memory than the budget grants; lets one failed item stop others.
//
// Items carry Outcomes, so a failed item continues as a failure. Example:
//
//   run(source<Path>("walk", next) | batch<Path>(8) | parallel<Batch<Path>, Picture>("decode", decode)
//         | sink<Picture>("write", write), context, memory_cost);
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/pipeline/run_context.h"

namespace millrace::chain {

// Limit for the memory cost of all items together: none.
inline constexpr Bytes kNoLimit{std::numeric_limits<std::uint64_t>::max()};

// An item in flight, whatever its type is at its present stage.
using ErasedItem = std::shared_ptr<void>;

// A chain as the scheduler sees it. Users write source<>() | ... | sink<>().
struct Source {
  std::string name;
  // Returns the next item, and in `memory_cost` the bytes that it reserves while in flight. Returns an empty item at
  // the end. Also returns an empty item, and sets `later`, if the next one exists only after another item has left the
  // chain. Called on one thread at a time.
  std::function<ErasedItem(Bytes& memory_cost, bool& later)> next;
};
// Callback for an item that is done, or for an error that ends the run. Called once, on any thread, also a foreign one.
using Completion = std::function<void(std::exception_ptr error)>;
struct Stage {
  std::string name, remedy;
  bool ordered = false;  // one item at a time, in the source's order; else any, on any thread
  std::function<ErasedItem(ErasedItem item, Span& span)> body;
  // Replaces `body`: begins the work and returns. The chain owns the item until the completion is called; a callback
  // that outlives that must not use the item.
  std::function<void(const ErasedItem& item, Completion done)> begin{};
  int max_concurrent = 0;  // items that can be in this stage at the same time
};

// Returns the number of items in flight: enough that a slow one at the head does not idle the others. It is limited by
// what the budget can reserve at `each` bytes, and by `most` bytes together.
std::size_t count_tokens(const RunContext& context, Bytes each, Bytes most = kNoLimit);

// Rule for reserving the memory of items in flight.
class MemoryCost {
 public:
  // Every item needs the same memory. It is reserved for all tokens as long as the chain runs, so stages may wait for
  // more. OutOfMemory before the first item if the budget has no room for one.
  static MemoryCost fixed(Bytes each, Bytes most = kNoLimit) { return MemoryCost(each, most, false); }
  // Every item needs what the source reports. Its memory is reserved before it starts and released after the last
  // stage. If the budget or `most` has no room, the source waits, but no thread does. An item that can never fit throws
  // OutOfMemory. Stages must not wait for more memory: two items that do so would wait for each other.
  static MemoryCost per_item(Bytes most = kNoLimit) { return MemoryCost({}, most, true); }

  Bytes each() const { return each_; }
  Bytes most() const { return most_; }
  bool is_per_item() const { return is_per_item_; }

 private:
  MemoryCost(Bytes each, Bytes most, bool per_item) : each_(each), most_(most), is_per_item_(per_item) {}
  Bytes each_, most_;
  bool is_per_item_;
};

void run(const Source& source, const std::vector<Stage>& stages, RunContext& context, const MemoryCost& memory_cost);

// A chain so far: its last stage returns Out, or it ends in a sink.
template <typename Out>
struct Chain {
  Source source;
  std::vector<Stage> stages;
};
// A chain with only a source so far: the next step may still change what an item is.
template <typename Out>
struct SourceChain {
  std::string name;
  std::function<std::optional<Out>(bool& later)> next;
  std::function<Bytes(const Out&)> memory_cost;
};
template <typename In, typename Out>
struct TypedStage {
  Stage stage;
};

// Starts a chain with the items of `next`, until it returns none. `next` may keep state between items: every run begins
// with a copy of it. `memory_cost` is called if the chain runs per_item.
template <typename Out>
SourceChain<Out> source(std::string name, std::function<std::optional<Out>()> next,
                        std::function<Bytes(const Out&)> memory_cost = {}) {
  return {std::move(name), [next = std::move(next)](bool& /*later*/) { return next(); }, std::move(memory_cost)};
}

template <typename Item>
using Batch = std::vector<Item>;

// Joins up to `most` consecutive items into one, whose memory cost is the sum of theirs. A batch has fewer items at the
// end, or before an item for which `together` is false.
template <typename Item>
struct BatchRule {
  std::size_t most;
  std::function<bool(const Item& first, const Item& next)> together;
};
template <typename Item>
BatchRule<Item> batch(std::size_t most, std::function<bool(const Item&, const Item&)> together = {}) {
  return {std::max<std::size_t>(most, 1), std::move(together)};
}

template <typename Item>
SourceChain<Batch<Item>> operator|(SourceChain<Item> before, BatchRule<Item> batching) {
  // `left` is the item after the end of a batch, for the next one.
  auto next = [next = std::move(before.next), batching, left = std::optional<Item>()](bool& later) mutable {
    std::optional<Batch<Item>> out;
    while (!out || out->size() < batching.most) {
      std::optional<Item> item = left ? std::exchange(left, std::nullopt) : next(later);
      if (!item) break;
      if (out && batching.together && !batching.together(out->front(), *item)) {
        left = std::move(item);
        break;
      }
      if (!out) out.emplace();
      out->push_back(*std::move(item));
    }
    // A batch that has items is passed on at once.
    if (out) later = false;
    return out;
  };
  std::function<Bytes(const Batch<Item>&)> memory_cost;
  if (before.memory_cost) {
    memory_cost = [memory_cost = before.memory_cost](const Batch<Item>& items) {
      Bytes out;
      for (const Item& item : items) out.count += memory_cost(item).count;
      return out;
    };
  }
  return {std::move(before.name), std::move(next), std::move(memory_cost)};
}

// Splits an item into many. `split_item` returns a generator, which returns them one by one, and nullopt at the end.
// The generator may set `later`, to be called again after an item in flight has left the chain. It must not do so if no
// item is in flight. Only one item is split at a time.
template <typename Out>
using ItemGenerator = std::function<std::optional<Out>(bool& later)>;
template <typename In, typename Out>
struct ItemExpansion {
  std::string name;
  std::function<ItemGenerator<Out>(In)> split_item;
  std::function<Bytes(const Out&)> memory_cost;
};
template <typename In, typename Out>
ItemExpansion<In, Out> expand(std::string name, std::function<ItemGenerator<Out>(In)> split_item,
                              std::function<Bytes(const Out&)> memory_cost = {}) {
  return {std::move(name), std::move(split_item), std::move(memory_cost)};
}

template <typename In, typename Out>
SourceChain<Out> operator|(SourceChain<In> before, ItemExpansion<In, Out> expanding) {
  auto next = [next = std::move(before.next), split_item = std::move(expanding.split_item),
               items_of_one = ItemGenerator<Out>()](bool& later) mutable -> std::optional<Out> {
    while (true) {
      if (items_of_one) {
        std::optional<Out> out = items_of_one(later);
        if (out || later) return out;
        items_of_one = {};
      }
      std::optional<In> item = next(later);
      if (!item) return std::nullopt;
      items_of_one = split_item(*std::move(item));
    }
  };
  return {std::move(expanding.name), std::move(next), std::move(expanding.memory_cost)};
}

// Processes every item by itself, on any thread.
template <typename In, typename Out, typename Body>
TypedStage<In, Out> parallel(std::string name, Body body, std::string remedy = {}) {
  return {Stage{std::move(name), std::move(remedy), false,
                [body = std::move(body)](const ErasedItem& item, Span& span) -> ErasedItem {
                  return std::make_shared<Out>(body(std::move(*static_cast<In*>(item.get())), span));
                }}};
}

// Processes one item at a time, in the source's order.
template <typename In, typename Out, typename Body>
TypedStage<In, Out> ordered(std::string name, Body body, std::string remedy = {}) {
  TypedStage<In, Out> out = parallel<In, Out>(std::move(name), std::move(body), std::move(remedy));
  out.stage.ordered = true;
  return out;
}

// Makes one item of many. `body` gets the items in the source's order. An item that it returns continues; if it returns
// none, the item ends there.
template <typename In, typename Out, typename Body>
TypedStage<In, Out> collect(std::string name, Body body, std::string remedy = {}) {
  return {Stage{std::move(name), std::move(remedy), true,
                [body = std::move(body)](const ErasedItem& item, Span& span) -> ErasedItem {
                  std::optional<Out> out = body(std::move(*static_cast<In*>(item.get())), span);
                  return out ? std::make_shared<Out>(*std::move(out)) : nullptr;
                }}};
}

// Work that is done elsewhere, on other threads: by a model or a device. `begin(item, done)` starts it and returns.
// `done(error)` is called once when the item's work is complete, on any thread. An error there, or one thrown by
// begin(), ends the run. No thread waits meanwhile.
template <typename Item, typename Begin>
TypedStage<Item, Item> submit(std::string name, int max_concurrent, Begin begin, std::string remedy = {}) {
  TypedStage<Item, Item> out{Stage{std::move(name), std::move(remedy), false, {}}};
  out.stage.max_concurrent = max_concurrent;
  out.stage.begin = [begin = std::move(begin)](const ErasedItem& item, Completion done) {
    begin(*static_cast<Item*>(item.get()), std::move(done));
  };
  return out;
}

template <typename In, typename Body>
TypedStage<In, void> sink(std::string name, Body body, std::string remedy = {}) {
  return {Stage{std::move(name), std::move(remedy), true,
                [body = std::move(body)](const ErasedItem& item, Span& span) -> ErasedItem {
                  body(std::move(*static_cast<In*>(item.get())), span);
                  return nullptr;
                }}};
}

template <typename In, typename Out>
Chain<Out> operator|(SourceChain<In> before, TypedStage<In, Out> after) {
  auto next = [next = std::move(before.next), memory_cost = std::move(before.memory_cost)](
                  Bytes& item_cost, bool& later) mutable -> ErasedItem {
    std::optional<In> item = next(later);
    if (!item) return nullptr;
    if (memory_cost) item_cost = memory_cost(*item);
    return std::make_shared<In>(*std::move(item));
  };
  return {Source{std::move(before.name), std::move(next)}, {std::move(after.stage)}};
}
template <typename In, typename Out>
Chain<Out> operator|(Chain<In> before, TypedStage<In, Out> after) {
  before.stages.push_back(std::move(after.stage));
  return {std::move(before.source), std::move(before.stages)};
}

// Runs the chain; returns when every item is through or the run was cancelled. Throws again what a stage threw.
inline void run(const Chain<void>& chain, RunContext& context, const MemoryCost& memory_cost) {
  run(chain.source, chain.stages, context, memory_cost);
}

}  // namespace millrace::chain
