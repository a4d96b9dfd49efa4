// Input: a source of items, stages that work on them, a sink.
// Output: every item gone through every stage, in the source's order where a stage is ordered.
// Never: holds more items than it has tokens, or more memory than the budget grants for them; lets an item's failure
//   stop the others (items carry Outcomes).
//
//   run(source<Path>("walk", next) | batch<Path>(8) | parallel<Batch<Path>, Picture>("decode", decode)
//         | sink<Picture>("write", write), context, price);
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

// What no item's price exceeds together.
inline constexpr Bytes kNoLimit{std::numeric_limits<std::uint64_t>::max()};

// An item on its way, whatever it is at the stage that it has come to.
using Carried = std::shared_ptr<void>;

// A chain as the scheduler sees it. Users write source<>() | ... | sink<>().
struct Source {
  std::string name;
  // The next item, and what it takes while it is in flight; an empty one at the end, or where there is none before
  // another is through: `later`. Called on one thread at a time.
  std::function<Carried(Bytes& price, bool& later)> next;
};
// An item is done, or what went wrong with all of the run. Called once, on any thread, also of somebody else.
using Handed = std::function<void(std::exception_ptr error)>;
struct Stage {
  std::string name, remedy;
  bool ordered = false;  // one item at a time, in the source's order; else any, on any thread
  std::function<Carried(Carried item, Span& span)> body;
  // In the place of a body: begins the work and returns. The item is kept until it has been handed back, by this alone:
  // a callback that lives on holds nothing of it.
  std::function<void(const Carried& item, Handed done)> begin{};
  int at_once = 0;  // of these works, as many as whoever does them can do
};

// How many items are in flight: enough that a slow one at the head does not idle the others, and no more than the
// budget can pay for at `each`, nor than `most` together.
std::size_t tokens_for(const RunContext& context, Bytes each, Bytes most = kNoLimit);

// How items in flight are paid for.
class Price {
 public:
  // Every item the same, reserved for all tokens as long as the chain runs: stages may wait for more. OutOfMemory
  // before the first item where the budget cannot pay for one.
  static Price fixed(Bytes each, Bytes most = kNoLimit) { return Price(each, most, false); }
  // What the source says of each, reserved before it goes on its way and given back behind the last stage. Where the
  // budget or `most` has no room the source waits, and no thread with it; an item for which there can be none throws
  // OutOfMemory. Stages must not wait for more: two items that do would wait for each other.
  static Price by_item(Bytes most = kNoLimit) { return Price({}, most, true); }

  Bytes each() const { return each_; }
  Bytes most() const { return most_; }
  bool is_by_item() const { return by_item_; }

 private:
  Price(Bytes each, Bytes most, bool by_item) : each_(each), most_(most), by_item_(by_item) {}
  Bytes each_, most_;
  bool by_item_;
};

void run(const Source& source, const std::vector<Stage>& stages, RunContext& context, const Price& price);

// What has been put together of a chain: it gives Out, or ends in a sink.
template <typename Out>
struct Chain {
  Source source;
  std::vector<Stage> stages;
};
// Nothing but a source as yet: what follows may still change what an item is.
template <typename Out>
struct Begun {
  std::string name;
  std::function<std::optional<Out>(bool& later)> next;
  std::function<Bytes(const Out&)> price;
};
template <typename In, typename Out>
struct Step {
  Stage stage;
};

// Items until `next` gives none. `next` may keep what it knows from one item to the next: every run begins with a copy
// of it. `price` is asked where the chain runs by_item.
template <typename Out>
Begun<Out> source(std::string name, std::function<std::optional<Out>()> next,
                  std::function<Bytes(const Out&)> price = {}) {
  return {std::move(name), [next = std::move(next)](bool& /*later*/) { return next(); }, std::move(price)};
}

template <typename Item>
using Batch = std::vector<Item>;

// `most` consecutive items as one, which costs what they cost; fewer at the end, or before one that does not go
// `together` with the first.
template <typename Item>
struct Batching {
  std::size_t most;
  std::function<bool(const Item& first, const Item& next)> together;
};
template <typename Item>
Batching<Item> batch(std::size_t most, std::function<bool(const Item&, const Item&)> together = {}) {
  return {std::max<std::size_t>(most, 1), std::move(together)};
}

template <typename Item>
Begun<Batch<Item>> operator|(Begun<Item> before, Batching<Item> batching) {
  // What came after a batch's end, for the next one.
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
    // What there is goes on its way.
    if (out) later = false;
    return out;
  };
  std::function<Bytes(const Batch<Item>&)> price;
  if (before.price) {
    price = [price = before.price](const Batch<Item>& items) {
      Bytes out;
      for (const Item& item : items) out.count += price(item).count;
      return out;
    };
  }
  return {std::move(before.name), std::move(next), std::move(price)};
}

// One item as many: `parts(item)` gives a function that gives them, one by one, until it gives nothing; or says that
// there will be one `later`, when another that is in flight is through; never where none is. Only one item's are being
// given at a time.
template <typename Out>
using Parts = std::function<std::optional<Out>(bool& later)>;
template <typename In, typename Out>
struct Expanding {
  std::string name;
  std::function<Parts<Out>(In)> parts;
  std::function<Bytes(const Out&)> price;
};
template <typename In, typename Out>
Expanding<In, Out> expand(std::string name, std::function<Parts<Out>(In)> parts,
                          std::function<Bytes(const Out&)> price = {}) {
  return {std::move(name), std::move(parts), std::move(price)};
}

template <typename In, typename Out>
Begun<Out> operator|(Begun<In> before, Expanding<In, Out> expanding) {
  auto next = [next = std::move(before.next), parts = std::move(expanding.parts),
               of_one = Parts<Out>()](bool& later) mutable -> std::optional<Out> {
    while (true) {
      if (of_one) {
        std::optional<Out> out = of_one(later);
        if (out || later) return out;
        of_one = {};
      }
      std::optional<In> item = next(later);
      if (!item) return std::nullopt;
      of_one = parts(*std::move(item));
    }
  };
  return {std::move(expanding.name), std::move(next), std::move(expanding.price)};
}

// Every item by itself, on any thread.
template <typename In, typename Out, typename Body>
Step<In, Out> parallel(std::string name, Body body, std::string remedy = {}) {
  return {Stage{std::move(name), std::move(remedy), false,
                [body = std::move(body)](const Carried& item, Span& span) -> Carried {
                  return std::make_shared<Out>(body(std::move(*static_cast<In*>(item.get())), span));
                }}};
}

// One item at a time, in the source's order.
template <typename In, typename Out, typename Body>
Step<In, Out> ordered(std::string name, Body body, std::string remedy = {}) {
  Step<In, Out> out = parallel<In, Out>(std::move(name), std::move(body), std::move(remedy));
  out.stage.ordered = true;
  return out;
}

// Many items as one: what `body` gives for an item, in the source's order, goes on; an item for which it gives nothing
// ends there.
template <typename In, typename Out, typename Body>
Step<In, Out> collect(std::string name, Body body, std::string remedy = {}) {
  return {Stage{std::move(name), std::move(remedy), true,
                [body = std::move(body)](const Carried& item, Span& span) -> Carried {
                  std::optional<Out> out = body(std::move(*static_cast<In*>(item.get())), span);
                  return out ? std::make_shared<Out>(*std::move(out)) : nullptr;
                }}};
}

// Work that somebody else does, on threads of their own: a model, a device. `begin(item, done)` starts it and returns;
// `done(error)` is called once when the item has what it asked for, on whatever thread; an error there, or thrown by
// begin(), ends the run. No thread waits meanwhile.
template <typename Item, typename Begin>
Step<Item, Item> submit(std::string name, int at_once, Begin begin, std::string remedy = {}) {
  Step<Item, Item> out{Stage{std::move(name), std::move(remedy), false, {}}};
  out.stage.at_once = at_once;
  out.stage.begin = [begin = std::move(begin)](const Carried& item, Handed done) {
    begin(*static_cast<Item*>(item.get()), std::move(done));
  };
  return out;
}

template <typename In, typename Body>
Step<In, void> sink(std::string name, Body body, std::string remedy = {}) {
  return {Stage{std::move(name), std::move(remedy), true,
                [body = std::move(body)](const Carried& item, Span& span) -> Carried {
                  body(std::move(*static_cast<In*>(item.get())), span);
                  return nullptr;
                }}};
}

template <typename In, typename Out>
Chain<Out> operator|(Begun<In> before, Step<In, Out> after) {
  auto next = [next = std::move(before.next), price = std::move(before.price)](Bytes& costs,
                                                                               bool& later) mutable -> Carried {
    std::optional<In> item = next(later);
    if (!item) return nullptr;
    if (price) costs = price(*item);
    return std::make_shared<In>(*std::move(item));
  };
  return {Source{std::move(before.name), std::move(next)}, {std::move(after.stage)}};
}
template <typename In, typename Out>
Chain<Out> operator|(Chain<In> before, Step<In, Out> after) {
  before.stages.push_back(std::move(after.stage));
  return {std::move(before.source), std::move(before.stages)};
}

// Runs the chain; returns when every item is through, the run was cancelled, or a stage threw (thrown again here).
inline void run(const Chain<void>& chain, RunContext& context, const Price& price) {
  run(chain.source, chain.stages, context, price);
}

}  // namespace millrace::chain
