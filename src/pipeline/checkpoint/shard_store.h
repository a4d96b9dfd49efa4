// Input: the description of a dataset, its output's name, and the folder where its shards are made.
// Output: shards one by one, and in the end the dataset under its name.
// Never: decides whether an output may be made: that is the task of Checkpoint.
//
// hdf5: the folder holds the unfinished file, and logs of its rows for a run that resumes. If several runs make shards,
// it holds the rows of each shard. hdf5_virtual: the folder holds 0.h5 and so on, each a finished file; they are kept,
// and the output maps them. Other kinds: a folder in it becomes the output.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "src/base/choice.h"
#include "src/base/error.h"
#include "src/io/file/atomic_file.h"
#include "src/io/store/dataset.h"
#include "src/io/store/shard_bytes.h"
#include "src/pipeline/checkpoint/run_folder.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace {

enum class StoreKind : std::uint8_t { hdf5, hdf5_virtual, zarr, folder };
constexpr std::array<Choice<StoreKind>, 4> choices_of(StoreKind) {
  return {{{"hdf5", StoreKind::hdf5},
           {"hdf5_virtual", StoreKind::hdf5_virtual},
           {"zarr", StoreKind::zarr},
           {"folder", StoreKind::folder}}};
}

class ShardStore {
 public:
  ShardStore() = default;
  virtual ~ShardStore() = default;
  ShardStore(const ShardStore&) = delete;
  ShardStore& operator=(const ShardStore&) = delete;

  // Returns the provenance of a finished output; an error if it is none.
  virtual Outcome<Attributes> provenance(const std::string& output) const = 0;
  // Returns true if nothing is missing of an output that has its name.
  virtual bool is_output_complete() const { return true; }
  // Removes files that a killed run has left beside an output that has its name and the same provenance.
  virtual void remove_leftovers() {}
  // Returns true if the folder is kept once the output has its name; else it is removed.
  virtual bool keeps_folder() const = 0;

  // Called once the folder is held. Its holder will make all missing shards and the output, or makes shards for another
  // run.
  virtual void begin(RunFolder::Hold hold) = 0;
  // Returns true if a shard is there and complete. Called for all shards before the first is written.
  virtual bool has_shard(std::uint64_t k) = 0;
  // Returns true if a shard has got its name by now.
  virtual bool is_committed(std::uint64_t k) const = 0;
  // Called shard by shard, from the first on: one that is there is taken, others are opened and filled.
  virtual void take(std::uint64_t /*k*/) {}
  virtual std::unique_ptr<ShardWriter> open(std::uint64_t k) = 0;
  // Imports a shard that a run in another folder has made, if it is there. The folder is held.
  virtual bool import(std::uint64_t k, const std::string& from) = 0;
  // Returns where a shard's bytes are, in the folder or in another run's; empty if it is not there.
  virtual ShardBytes bytes_of(std::uint64_t k, const std::string& folder) const = 0;
  // Returns true if every run writes the same bytes for a shard. Logs of rows also record in which blocks the rows
  // came.
  virtual bool is_reproducible() const { return true; }
  // Adds the rest of the output once all shards are there. `check_cancelled` is called now and then, and may throw.
  virtual void assemble(const std::function<void()>& check_cancelled) = 0;
  // Puts the output on the disk under its name. The name must be free, or belong to the output that was examined.
  virtual void publish(const OverwritePolicy& replaces) = 0;
};

// `spec` and `folder` must outlive the store.
std::unique_ptr<ShardStore> make_shard_store(StoreKind kind, const DatasetSpec& spec, ShardLayout parts,
                                             RunFolder& folder);

// Makes the stores that are folders.
std::unique_ptr<ShardStore> make_folder_store(StoreKind kind, const DatasetSpec& spec, ShardLayout parts,
                                              RunFolder& folder);

}  // namespace millrace
