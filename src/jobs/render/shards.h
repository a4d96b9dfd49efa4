// Enters: a store's name, what it holds, and how many charts a shard has.
// Leaves: the store, whole; and until then finished shards beside it, which a later run goes on with.
// Never: goes on with what other inputs or options made.
//
// OUTPUT.shards/ holds run.json, which says what the shards are made of, and 00000.h5 and so on, each a finished store
// of its own. A file that ends in .part is not finished.
#pragma once

#include <array>
#include <functional>
#include <future>
#include <string>
#include <utility>

#include "src/io/store/chart_store.h"
#include "src/pipeline/chain.h"

namespace millrace::render {

class Shards {
 public:
  // Failure(conflict) when the output, or shards of it, were made of other things, or another run is at it.
  Shards(std::string output, const ChartLayout& layout, std::uint64_t charts_each);
  ~Shards();
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  // The output is there, whole, and made of the same.
  bool finished() const { return finished_; }
  std::uint64_t count() const;
  // The charts of shard k: [begin, end).
  std::pair<std::uint64_t, std::uint64_t> range(std::uint64_t k) const;
  bool has(std::uint64_t k) const;
  // Fills shard k. It is synced and gets its name while the next one is written.
  void write(std::uint64_t k, const std::function<void(ChartStore&)>& fill);
  // All shards have their names.
  void settle();

  // All shards as one file, not yet under its name.
  void join(const CancelToken& cancel);
  // The output is synced, has its name, and the shards are gone.
  void finish();
  std::uint64_t output_bytes() const;

 private:
  std::string path(std::uint64_t k) const;
  ChartLayout layout_of(std::uint64_t k) const;
  std::string part() const { return output_ + ".part"; }
  void check_output();
  void check_folder();
  void remove_folder();

  const std::string output_, folder_;
  const ChartLayout layout_;
  const std::uint64_t each_;
  bool finished_ = false;
  int lock_ = -1;  // of the folder
  std::future<void> syncing_;
};

}  // namespace millrace::render
