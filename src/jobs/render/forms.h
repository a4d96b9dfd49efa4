// Enters: what a store holds, its name, and the folder where its shards are made.
// Leaves: shards one by one, and in the end the store under its name.
// Never: decides whether a store may be made: that is Shards'.
//
// hdf5: the folder holds the file that is being written, and logs of what went into it, for a run that goes on. With
// --virtual it holds 0.h5 and so on, each a finished store of its own, which stay, and the output maps them. All
// others: the folder itself becomes the output.
#pragma once

#include <memory>
#include <string>

#include "src/base/error.h"
#include "src/io/store/chart_block.h"
#include "src/jobs/render/plan.h"
#include "src/jobs/render/shard_folder.h"

namespace millrace::render {

// How many charts a shard has, and which.
struct Cut {
  std::uint64_t charts, each;
  std::uint64_t count() const { return (charts + each - 1) / each; }
  std::uint64_t begin(std::uint64_t k) const { return k * each; }
  std::uint64_t end(std::uint64_t k) const { return std::min(charts, (k + 1) * each); }
};

// What run.json holds.
std::string json_of(const Attributes& attributes);
// The texts in a JSON file, or in one member of it; an error where there are none.
Outcome<Attributes> attributes_in_json(const std::string& path, const char* member = nullptr);
// "--size was 400x300, is 800x500", for all that differ; empty where nothing does.
std::string differences(const Attributes& then, const Attributes& now);
// They are those of a store of charts, whatever it was made of.
bool tells_of_charts(const Attributes& attributes);

class Form {
 public:
  virtual ~Form() = default;

  // What a finished output was made of; an error where it is none.
  virtual Outcome<Attributes> made_of(const std::string& output) const = 0;
  // Nothing is missing of an output that is under its name.
  virtual bool whole_output() const { return true; }
  // An output that was made of the same has its name: what a killed run has left in it goes.
  virtual void tidy() {}
  // The folder stays, or is gone, once the output has its name.
  virtual bool keeps_folder() const = 0;

  // The folder is held.
  virtual void begin() {}
  // Shard by shard, from the first on: one that is there is taken, others are opened and filled.
  virtual bool has(std::uint64_t k) = 0;
  virtual void take(std::uint64_t k) = 0;
  virtual std::unique_ptr<ChartSink> open(std::uint64_t k) = 0;
  // All shards are there: what the output has beside them.
  virtual void assemble(const CancelToken& cancel) = 0;
  // On the disk, and under its name, which nothing else has; or only an output of the same, where `over` is set.
  virtual void publish(bool over) = 0;
};

std::unique_ptr<Form> make_form(const Plan& plan, const Options& options, ShardFolder& folder);

// Failure(cancelled) when the job was told to stop.
void throw_if(const CancelToken& cancel);

// The forms of stores that are folders.
std::unique_ptr<Form> make_folder_form(const Plan& plan, const Options& options, ShardFolder& folder);

}  // namespace millrace::render
