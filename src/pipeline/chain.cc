#include "src/pipeline/chain.h"

#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "src/base/mutex.h"

namespace millrace::chain {
namespace {

struct Token {
  std::uint64_t number = 0;  // position in the source's order
  std::size_t stage = 0;     // next stage that it goes through
  ErasedItem item;
  Reservation reserved;
  Bytes memory_cost;
};

int width_of(const Stage& stage, const Executor& executor) {
  if (stage.max_concurrent > 0) return stage.max_concurrent;
  return stage.ordered ? 1 : executor.threads();
}

// State of one run of a chain. Work is handed out as tasks, so that a thread without work helps others, and no thread
// waits in a stage for another item. An item that is too early for an ordered stage is kept there until the one before
// it is through. An item for which there is no memory is kept in the source until another one releases some.
class ChainRun {
 public:
  ChainRun(Source source, const std::vector<Stage>& stages, RunContext& context, const MemoryCost& memory_cost)
      : context_(context),
        source_(std::move(source)),
        memory_cost_(memory_cost),
        tokens_(count_tokens(context, memory_cost.each(), memory_cost.most())),
        source_stage_(context.trace.stage(source_.name, 1)) {
    for (const Stage& stage : stages) {
      places_.emplace_back(stage, context.trace.stage(stage.name, width_of(stage, context.executor), stage.remedy));
    }
  }

  void run() {
    const Reservation reserved = context_.budget.reserve(memory_cost_.each() * tokens_, "items in flight");
    context_.executor.run([this] { tasks_.run_and_wait([this] { feed(); }); });
  }

 private:
  // A stage, with the items that are in it or wait for it.
  struct StageState {
    StageState(const Stage& of, Trace::Stage& timed) : stage(of), trace(timed) {}
    const Stage& stage;
    Trace::Stage& trace;
    bool busy = false;
    std::uint64_t next = 0;  // ordered: number of the item whose turn it is
    std::map<std::uint64_t, Token> early;
  };

  // Processes one item after the other, until none may start or another thread is at the source.
  void feed() {
    while (std::optional<Token> token = next()) {
      request_source_thread();
      run_stages(*std::move(token));
    }
  }

  // Asks a free thread to come to the source.
  void request_source_thread() {
    if (source_thread_requested_.exchange(true)) return;
    tasks_.run([this] {
      source_thread_requested_ = false;
      feed();
    });
  }

  std::optional<Token> next() {
    {
      const MutexLock lock(mutex_);
      if (at_source_ || ended_ || in_flight_ >= tokens_ || oneapi::tbb::is_current_task_group_canceling()) {
        return std::nullopt;
      }
      at_source_ = true;
    }
    bool later = false;
    if (!waiting_) waiting_ = take(later);
    while (later || (waiting_ && !reserve_memory(*waiting_))) {
      {
        const MutexLock lock(mutex_);
        // The last item in flight may have finished meanwhile; otherwise the next one that finishes returns to the
        // source.
        if (in_flight_ > 0) {
          at_source_ = false;
          return std::nullopt;
        }
      }
      if (std::exchange(later, false)) waiting_ = take(later);
    }
    std::optional<Token> out = std::exchange(waiting_, std::nullopt);
    const MutexLock lock(mutex_);
    at_source_ = false;
    ended_ = !out;
    if (out) {
      out->number = numbered_++;
      ++in_flight_;
      in_flight_bytes_.count += out->memory_cost.count;
    }
    return out;
  }

  std::optional<Token> take(bool& later) {
    if (context_.cancel.cancelled()) return std::nullopt;
    const Span span(source_stage_);
    Token out;
    out.item = source_.next(out.memory_cost, later);
    if (!out.item) return std::nullopt;
    return out;
  }

  // Reserves memory for an item. Waits only if no item is in flight that could release memory.
  bool reserve_memory(Token& token) {
    if (!memory_cost_.is_per_item()) return true;
    bool alone = false;
    {
      const MutexLock lock(mutex_);
      alone = in_flight_ == 0;
      if (!alone && (memory_cost_.most().count < in_flight_bytes_.count ||
                     token.memory_cost.count > memory_cost_.most().count - in_flight_bytes_.count)) {
        return false;
      }
    }
    auto granted = alone ? context_.budget.wait_for(token.memory_cost, "items in flight",
                                                    [this] { return context_.cancel.cancelled(); })
                         : context_.budget.try_reserve(token.memory_cost);
    // Cancelled: items that were taken from the source are still finished.
    if (!granted) return alone;
    token.reserved = *std::move(granted);
    return true;
  }

  // Moves an item through all stages that accept it. Then does the same with an item that was too early and whose turn
  // has come.
  void run_stages(Token first) {
    std::optional<Token> token = std::move(first);
    while (token) {
      std::optional<Token> after;
      while (token && token->stage < places_.size()) {
        StageState& place = places_[token->stage];
        if (place.stage.ordered && !enter(place, *token)) {
          token.reset();
          break;
        }
        ++token->stage;
        if (place.stage.begin && token->item) {
          submit_item(place, *std::exchange(token, std::nullopt));
          break;
        }
        // An item that has ended in a stage continues without contents: later items wait for its turn to pass.
        if (token->item) {
          Span span(place.trace);
          token->item = place.stage.body(std::move(token->item), span);
        }
        if (place.stage.ordered) leave(place, *token, after);
      }
      if (token) end(*token);
      token = std::move(after);
    }
  }

  // Defers a task that runs when the item is handed back; the task group does not end before. Only the task owns the
  // item and its reservation: the callback may be held for longer than this run exists.
  void submit_item(StageState& place, Token&& handed) {
    struct Away {
      explicit Away(Trace::Stage& stage) : span(std::in_place, stage) {}
      std::optional<Span> span;
      std::exception_ptr error;
    };
    const auto away = std::make_shared<Away>(place.trace);
    auto token = std::make_shared<Token>(std::move(handed));
    // begin() may use the item while it is handed back. This thread is in a task of the group too.
    const ErasedItem item = token->item;
    const auto back = std::make_shared<oneapi::tbb::task_handle>(tasks_.defer([this, away, token = std::move(token)] {
      if (away->error) std::rethrow_exception(away->error);
      run_stages(std::move(*token));
    }));
    const Completion done = [this, away, back](std::exception_ptr error) {
      away->error = std::move(error);
      away->span.reset();
      // The task is not run here: this thread is not ours, and its tasks are not those of the group.
      context_.executor.enqueue([this, back] { tasks_.run(std::move(*back)); });
    };
    try {
      place.stage.begin(item, done);
    } catch (...) {
      done(std::current_exception());
    }
  }

  void end(Token& token) {
    token.reserved.release();
    {
      const MutexLock lock(mutex_);
      --in_flight_;
      in_flight_bytes_.count -= token.memory_cost.count;
    }
    request_source_thread();
  }

  bool enter(StageState& place, Token& token) {
    const MutexLock lock(mutex_);
    if (place.busy || token.number != place.next) {
      place.early.emplace(token.number, std::move(token));
      return false;
    }
    place.busy = true;
    return true;
  }

  // Frees an ordered stage for the next item. That item continues on this thread if the current one has passed all
  // stages, and no other item waits for this thread. Otherwise another thread takes it, so that it does not wait for
  // the stages that the current one still has to pass.
  void leave(StageState& place, const Token& token, std::optional<Token>& after) {
    std::optional<Token> freed;
    {
      const MutexLock lock(mutex_);
      place.busy = false;
      ++place.next;
      const auto at = place.early.find(place.next);
      if (at == place.early.end()) return;
      freed = std::move(at->second);
      place.early.erase(at);
    }
    if (!after && token.stage == places_.size()) {
      after = std::move(freed);
      return;
    }
    tasks_.run([this, freed = std::make_shared<Token>(*std::move(freed))] { run_stages(std::move(*freed)); });
  }

  RunContext& context_;
  Source source_;
  const MemoryCost memory_cost_;
  const std::size_t tokens_;
  Trace::Stage& source_stage_;
  std::deque<StageState> places_;

  Mutex mutex_;
  bool at_source_ MILLRACE_GUARDED_BY(mutex_) = false, ended_ MILLRACE_GUARDED_BY(mutex_) = false;
  std::optional<Token> waiting_;  // item without memory yet; only for the thread at the source
  std::uint64_t numbered_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::size_t in_flight_ MILLRACE_GUARDED_BY(mutex_) = 0;
  Bytes in_flight_bytes_ MILLRACE_GUARDED_BY(mutex_);

  std::atomic<bool> source_thread_requested_{false};  // a thread was asked to come to the source and has not come yet
  oneapi::tbb::task_group tasks_;
};

}  // namespace

std::size_t count_tokens(const RunContext& context, Bytes each, Bytes most) {
  const auto wanted = static_cast<std::uint64_t>(context.executor.threads()) * 4;
  const std::uint64_t reservable = std::min(most.count, context.budget.largest_grant().count);
  const std::uint64_t reserved = each.count == 0 ? wanted : reservable / each.count;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(std::min(wanted, reserved), 1, 1024));
}

void run(const Source& source, const std::vector<Stage>& stages, RunContext& context, const MemoryCost& memory_cost) {
  ChainRun(source, stages, context, memory_cost).run();
}

}  // namespace millrace::chain
