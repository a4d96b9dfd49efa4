// Enters: a source of items, stages that work on them, a sink.
// Leaves: every item gone through every stage, in the source's order where a stage is ordered.
// Never: holds more items than it has tokens; lets an item's failure stop the others (items carry Outcomes).
//
//   run(source<Path>("walk", next) | parallel<Picture>("decode", decode) | sink("write", write), context);
#pragma once

#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "src/pipeline/run_context.h"

namespace millrace {

namespace chain {

// A stage that turns an In into an Out, described but not yet built.
template <typename In, typename Out, typename Body>
struct Stage {
  std::string name;
  oneapi::tbb::filter_mode mode;
  Body body;
  std::string remedy;
};

template <typename In, typename Out, typename Build>
struct Chain {
  Build build;  // (RunContext&) -> tbb::filter<In, Out>
};

// Items until `next` gives none. `next` may keep what it knows from one item to the next: every run begins with a copy
// of it.
template <typename Out, typename Body>
auto source(std::string name, Body next) {
  auto build = [name = std::move(name), next = std::move(next)](RunContext& context) {
    Trace::Stage& stage = context.trace.stage(name, 1);
    // Stages are called through what cannot change.
    auto body = std::make_shared<Body>(next);
    return oneapi::tbb::make_filter<void, Out>(oneapi::tbb::filter_mode::serial_in_order,
                                               [&stage, &context, body](oneapi::tbb::flow_control& flow) -> Out {
                                                 if (!context.cancel.cancelled()) {
                                                   const Span span(stage);
                                                   if (std::optional<Out> item = (*body)()) return std::move(*item);
                                                 }
                                                 flow.stop();
                                                 return Out{};
                                               });
  };
  return Chain<void, Out, decltype(build)>{build};
}

// Every item by itself, on any thread.
template <typename In, typename Out, typename Body>
auto parallel(std::string name, Body body, std::string remedy = {}) {
  return Stage<In, Out, Body>{std::move(name), oneapi::tbb::filter_mode::parallel, std::move(body), std::move(remedy)};
}

// One item at a time, in the source's order.
template <typename In, typename Out, typename Body>
auto ordered(std::string name, Body body, std::string remedy = {}) {
  return Stage<In, Out, Body>{std::move(name), oneapi::tbb::filter_mode::serial_in_order, std::move(body),
                              std::move(remedy)};
}

template <typename In, typename Body>
auto sink(std::string name, Body body, std::string remedy = {}) {
  return ordered<In, void>(std::move(name), std::move(body), std::move(remedy));
}

template <typename Mid, typename Build, typename Out, typename Body>
auto operator|(Chain<void, Mid, Build> before, Stage<Mid, Out, Body> after) {
  auto build = [before, after](RunContext& context) {
    const bool wide = after.mode == oneapi::tbb::filter_mode::parallel;
    Trace::Stage& stage = context.trace.stage(after.name, wide ? context.executor.threads() : 1, after.remedy);
    return before.build(context) &
           oneapi::tbb::make_filter<Mid, Out>(after.mode, [&stage, body = after.body](Mid item) -> Out {
             Span span(stage);
             return body(std::move(item), span);
           });
  };
  return Chain<void, Out, decltype(build)>{build};
}

// How many items are in flight: enough that a slow one at the head does not idle the others, and no more than the
// budget can pay for at `bytes_each`, nor than `most` together.
inline std::size_t tokens_for(const RunContext& context, Bytes bytes_each, Bytes most = {~std::uint64_t{0}}) {
  const auto wanted = static_cast<std::uint64_t>(context.executor.threads()) * 4;
  const std::uint64_t payable = std::min(most.count, context.budget.largest_grant().count);
  const std::uint64_t paid = bytes_each.count == 0 ? wanted : payable / bytes_each.count;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(std::min(wanted, paid), 1, 1024));
}

// Runs the chain; returns when every item is through, the run was cancelled, or a stage threw (thrown again here).
// `bytes_each` is reserved for every token as long as the chain runs; all of them together take no more than `most`,
// but for a single one that does.
template <typename Build>
void run(const Chain<void, void, Build>& chain, RunContext& context, Bytes bytes_each,
         Bytes most = {~std::uint64_t{0}}) {
  const std::size_t tokens = tokens_for(context, bytes_each, most);
  const Reservation paid = context.budget.reserve(bytes_each * tokens, "items in flight");
  context.executor.run([&] { oneapi::tbb::parallel_pipeline(tokens, chain.build(context)); });
}

}  // namespace chain
}  // namespace millrace
