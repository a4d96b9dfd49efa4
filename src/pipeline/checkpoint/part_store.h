// Input: what a dataset is, its output's name, and the folder where its parts are made.
// Output: parts one by one, and in the end the dataset under its name.
// Never: decides whether an output may be made: that is Checkpoint's.
//
// hdf5: the folder holds the file that is being written, and logs of what went into it, for a run that goes on; or,
// where several runs make parts, the parts' rows. hdf5_virtual: 0.h5 and so on, each a finished file of its own, which
// stay, and the output maps them. All others: a folder in it that becomes the output.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "src/base/choice.h"
#include "src/base/error.h"
#include "src/io/file/atomic_file.h"
#include "src/io/store/dataset.h"
#include "src/io/store/part_bytes.h"
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

class PartStore {
 public:
  PartStore() = default;
  virtual ~PartStore() = default;
  PartStore(const PartStore&) = delete;
  PartStore& operator=(const PartStore&) = delete;

  // What a finished output was made of; an error where it is none.
  virtual Outcome<Attributes> made_of(const std::string& output) const = 0;
  // Nothing is missing of an output that is under its name.
  virtual bool whole_output() const { return true; }
  // An output that was made of the same has its name: what a killed run has left beside it goes.
  virtual void tidy() {}
  // The folder stays, or is gone, once the output has its name.
  virtual bool keeps_folder() const = 0;

  // The folder is held: by a run that will make all that is missing, and the output; or by one that makes parts for
  // another.
  virtual void begin(RunFolder::Hold hold) = 0;
  // Whether a part is there, whole. Asked of all parts before the first is written.
  virtual bool has(std::uint64_t k) = 0;
  // Whether it has got its name by now.
  virtual bool named(std::uint64_t k) const = 0;
  // Part by part, from the first on: one that is there is taken, others are opened and filled.
  virtual void take(std::uint64_t /*k*/) {}
  virtual std::unique_ptr<PartWriter> open(std::uint64_t k) = 0;
  // A part as a run in another folder has made it, where it is there. The folder is held.
  virtual bool import(std::uint64_t k, const std::string& from) = 0;
  // Where a part's bytes lie, in the folder or in another run's; none where it is not there.
  virtual PartBytes bytes_of(std::uint64_t k, const std::string& folder) const = 0;
  // Whoever makes it leaves these bytes. Not of logs of rows, which tell how they came.
  virtual bool has_one_form() const { return true; }
  // All parts are there: what the output has beside them. `go_on` is asked now and then, and may throw.
  virtual void assemble(const std::function<void()>& go_on) = 0;
  // On the disk, and under its name, which nothing else has; or only the output of the same that was looked at.
  virtual void publish(const Replaceable& replaces) = 0;
};

// Both must live as long as the store.
std::unique_ptr<PartStore> make_part_store(StoreKind kind, const DatasetSpec& spec, Parts parts, RunFolder& folder);

// Of stores that are folders.
std::unique_ptr<PartStore> make_folder_store(StoreKind kind, const DatasetSpec& spec, Parts parts, RunFolder& folder);

}  // namespace millrace
