// Enters: a store's name and form, and what it is made of.
// Leaves: the store, whole; and until then finished shards beside it, which a later run goes on with.
// Never: goes on with what other inputs or options made.
//
// OUTPUT.shards/ holds run.json, which says what the shards are made of, and the shards. What ends in .part is not
// finished.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "src/jobs/render/forms.h"

namespace millrace::render {

class Shards {
 public:
  // Failure(conflict) when the output, or shards of it, were made of other things, or another run is at it.
  Shards(const Plan& plan, const Options& options);
  ~Shards();
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  // The output is there, whole, and made of the same.
  bool finished() const { return finished_; }
  const Cut& cut() const { return cut_; }
  // Shard by shard, from the first on: true where shard k is there already.
  bool take(std::uint64_t k);
  // Else it is filled. It is synced and gets its name while the next one is written.
  void write(std::uint64_t k, const std::function<void(ChartSink&)>& fill);
  // All shards have their names.
  void settle();

  // What the store has beside its shards; it has no name yet.
  void assemble(const CancelToken& cancel);
  // The output is synced and has its name.
  void finish();
  std::uint64_t output_bytes() const;

 private:
  void check_output();
  void check_folder();
  void remove_left_folder();

  ShardFolder folder_;
  const Attributes attributes_;
  const Cut cut_;
  const std::unique_ptr<Form> form_;
  bool ours_ = false, finished_ = false;  // the output: made of the same, and whole
  std::unique_ptr<ChartSink> written_;
  std::future<void> committing_;
};

}  // namespace millrace::render
