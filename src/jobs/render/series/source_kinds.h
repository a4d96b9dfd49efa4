// Input: an input whose kind is known.
// Output: its columns.
// Never: says anything about other inputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/io/file/reader.h"
#include "src/io/store/hdf5_reader.h"
#include "src/jobs/render/series/source.h"

namespace millrace::render {

// The reader of HDF5 inputs, and what its memory was paid with.
struct Hdf5Helper {
  explicit Hdf5Helper(RunContext& context)
      : reader([&context] { return context.cancel.cancelled(); }, context.budget.limit()) {}
  hdf5::Reader reader;
  std::vector<Reservation> paid;
};

// What inputs share while they are opened.
struct OpenContext {
  const Options& options;
  RunContext& run;
  std::shared_ptr<const Reservation> program;
  // Neither is there before the first input that needs it.
  std::shared_ptr<RowCache> cache;
  std::shared_ptr<Hdf5Helper> helper;

  void throw_if_cancelled() const;
  // Failure(usage) where an option asks for what only a table has.
  void refuse_table_options(const Source& source) const;
  std::shared_ptr<RowCache> rows();
  std::shared_ptr<Hdf5Helper> hdf5();
};

const char* name_of(Role role);

// Reads all of the file, so that its hash is known at once. What it holds is paid for from the budget. `file` says what
// is known of the input so far.
std::vector<Source> read_csv(FileReader& reader, OpenContext& context, const Source& file);
// Looks at the header alone.
void read_npy(OpenContext& context, Source& out);
// Looks at what it is alone. Where `out` names no dataset, the one that can be drawn is taken and named.
void read_hdf5(const FileReader& file, OpenContext& context, Source& out);

}  // namespace millrace::render
