#include "src/pipeline/chain.h"

#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace millrace::chain {
namespace {

struct Token {
  std::uint64_t number = 0;  // in the source's order
  std::size_t stage = 0;     // the next one it goes through
  Carried item;
  Reservation paid;
  Bytes price;
};

int width_of(const Stage& stage, const Executor& executor) {
  if (stage.at_once > 0) return stage.at_once;
  return stage.ordered ? 1 : executor.threads();
}

// One run. Work is handed out as tasks, so that a thread with none helps others and none waits in a stage for another
// item: an item that has come too early to an ordered stage lies there until the one before it is through, and an item
// for which there is no memory lies in the source until another gives some back.
class Run {
 public:
  Run(Source source, const std::vector<Stage>& stages, RunContext& context, const Price& price)
      : context_(context),
        source_(std::move(source)),
        price_(price),
        tokens_(tokens_for(context, price.each(), price.most())),
        given_(context.trace.stage(source_.name, 1)) {
    for (const Stage& stage : stages) {
      places_.emplace_back(stage, context.trace.stage(stage.name, width_of(stage, context.executor), stage.remedy));
    }
  }

  void run() {
    const Reservation paid = context_.budget.reserve(price_.each() * tokens_, "items in flight");
    context_.executor.run([this] { tasks_.run_and_wait([this] { feed(); }); });
  }

 private:
  // A stage, and who is in it or before it.
  struct Place {
    Place(const Stage& of, Trace::Stage& timed) : stage(of), trace(timed) {}
    const Stage& stage;
    Trace::Stage& trace;
    bool busy = false;
    std::uint64_t next = 0;  // ordered: whose turn it is
    std::map<std::uint64_t, Token> early;
  };

  // Goes with item after item, until none may go on its way or somebody else is at the source.
  void feed() {
    while (std::optional<Token> token = next()) {
      call();
      go(*std::move(token));
    }
  }

  // Who is free comes to the source.
  void call() {
    if (called_.exchange(true)) return;
    tasks_.run([this] {
      called_ = false;
      feed();
    });
  }

  std::optional<Token> next() {
    {
      const std::lock_guard lock(mutex_);
      if (at_source_ || ended_ || in_flight_ >= tokens_ || oneapi::tbb::is_current_task_group_canceling()) {
        return std::nullopt;
      }
      at_source_ = true;
    }
    bool later = false;
    if (!waiting_) waiting_ = take(later);
    while (later || (waiting_ && !pay(*waiting_))) {
      {
        const std::lock_guard lock(mutex_);
        // The last one may have come through while this one asked; else the next one that does comes back here.
        if (in_flight_ > 0) {
          at_source_ = false;
          return std::nullopt;
        }
      }
      if (std::exchange(later, false)) waiting_ = take(later);
    }
    std::optional<Token> out = std::exchange(waiting_, std::nullopt);
    const std::lock_guard lock(mutex_);
    at_source_ = false;
    ended_ = !out;
    if (out) {
      out->number = numbered_++;
      ++in_flight_;
      in_flight_bytes_.count += out->price.count;
    }
    return out;
  }

  std::optional<Token> take(bool& later) {
    if (context_.cancel.cancelled()) return std::nullopt;
    const Span span(given_);
    Token out;
    out.item = source_.next(out.price, later);
    if (!out.item) return std::nullopt;
    return out;
  }

  // Without waiting while there is anybody to give memory back.
  bool pay(Token& token) {
    if (!price_.is_by_item()) return true;
    bool alone = false;
    {
      const std::lock_guard lock(mutex_);
      alone = in_flight_ == 0;
      if (!alone && (price_.most().count < in_flight_bytes_.count ||
                     token.price.count > price_.most().count - in_flight_bytes_.count)) {
        return false;
      }
    }
    auto granted =
        alone ? context_.budget.wait_for(token.price, "items in flight", [this] { return context_.cancel.cancelled(); })
              : context_.budget.try_reserve(token.price);
    // Cancelled: what has been taken is done.
    if (!granted) return alone;
    token.paid = *std::move(granted);
    return true;
  }

  // Through as many stages as will have it; then the same with one that came too early and whose turn it is by then.
  void go(Token first) {
    std::optional<Token> token = std::move(first);
    while (token) {
      std::optional<Token> after;
      while (token && token->stage < places_.size()) {
        Place& place = places_[token->stage];
        if (place.stage.ordered && !enter(place, *token)) {
          token.reset();
          break;
        }
        ++token->stage;
        if (place.stage.begin && token->item) {
          hand_over(place, *std::exchange(token, std::nullopt));
          break;
        }
        // What has ended in a stage goes on without an item: those behind it wait for its turn to pass.
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

  // The group does not end before the task that is deferred here has run, and that runs when the item is handed back.
  // The task has the item and what was paid for it, alone: who hands back may hold the callback for longer than there
  // is anything of this run.
  void hand_over(Place& place, Token&& handed) {
    struct Away {
      explicit Away(Trace::Stage& stage) : span(std::in_place, stage) {}
      std::optional<Span> span;
      std::exception_ptr error;
    };
    const auto away = std::make_shared<Away>(place.trace);
    auto token = std::make_shared<Token>(std::move(handed));
    // begin() may look at it while it is handed back; this is a task of the group too.
    const Carried item = token->item;
    const auto back = std::make_shared<oneapi::tbb::task_handle>(tasks_.defer([this, away, token = std::move(token)] {
      if (away->error) std::rethrow_exception(away->error);
      go(std::move(*token));
    }));
    const Handed done = [this, away, back](std::exception_ptr error) {
      away->error = std::move(error);
      away->span.reset();
      // Not on this thread, which is not ours, nor among its tasks.
      context_.executor.enqueue([this, back] { tasks_.run(std::move(*back)); });
    };
    try {
      place.stage.begin(item, done);
    } catch (...) {
      done(std::current_exception());
    }
  }

  void end(Token& token) {
    token.paid.release();
    {
      const std::lock_guard lock(mutex_);
      --in_flight_;
      in_flight_bytes_.count -= token.price.count;
    }
    call();
  }

  bool enter(Place& place, Token& token) {
    const std::lock_guard lock(mutex_);
    if (place.busy || token.number != place.next) {
      place.early.emplace(token.number, std::move(token));
      return false;
    }
    place.busy = true;
    return true;
  }

  // Whose turn it is goes on behind this one, where this one is through, and there is no other yet; else with another
  // thread, so that it does not wait for the stages that this one has before it.
  void leave(Place& place, const Token& token, std::optional<Token>& after) {
    std::optional<Token> freed;
    {
      const std::lock_guard lock(mutex_);
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
    tasks_.run([this, freed = std::make_shared<Token>(*std::move(freed))] { go(std::move(*freed)); });
  }

  RunContext& context_;
  Source source_;
  const Price price_;
  const std::size_t tokens_;
  Trace::Stage& given_;
  std::deque<Place> places_;

  std::mutex mutex_;
  bool at_source_ = false, ended_ = false;
  std::optional<Token> waiting_;  // whose memory is not there yet; of who is at the source
  std::uint64_t numbered_ = 0;
  std::size_t in_flight_ = 0;
  Bytes in_flight_bytes_;

  std::atomic<bool> called_{false};  // somebody to the source, who has not come yet
  oneapi::tbb::task_group tasks_;
};

}  // namespace

std::size_t tokens_for(const RunContext& context, Bytes each, Bytes most) {
  const auto wanted = static_cast<std::uint64_t>(context.executor.threads()) * 4;
  const std::uint64_t payable = std::min(most.count, context.budget.largest_grant().count);
  const std::uint64_t paid = each.count == 0 ? wanted : payable / each.count;
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(std::min(wanted, paid), 1, 1024));
}

void run(const Source& source, const std::vector<Stage>& stages, RunContext& context, const Price& price) {
  Run(source, stages, context, price).run();
}

}  // namespace millrace::chain
