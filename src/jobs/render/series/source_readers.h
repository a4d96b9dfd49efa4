// Input: an input file of a known kind.
// Output: its columns.
// Never: depends on other inputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/io/file/file_reader.h"
#include "src/io/store/hdf5_reader.h"
#include "src/jobs/render/series/source.h"

namespace millrace::render {

// Reader of HDF5 inputs, and the reservations for its memory.
struct Hdf5Helper {
  explicit Hdf5Helper(RunContext& context)
      : reader([&context] { return context.cancel.cancelled(); }, context.budget.limit()) {}
  hdf5::DatasetReader reader;
  std::vector<Reservation> reserved;
};

// State that inputs share while they are opened.
struct OpenContext {
  const RenderOptions& options;
  RunContext& run;
  std::shared_ptr<const Reservation> program;
  // Both are made for the first input that needs them.
  std::shared_ptr<RowCache> cache;
  std::shared_ptr<Hdf5Helper> helper;

  void throw_if_cancelled() const;
  // Failure(usage) if an option asks for a property that only a table has.
  void refuse_table_options(const PriceSource& source) const;
  std::shared_ptr<RowCache> rows();
  std::shared_ptr<Hdf5Helper> hdf5();
};

const char* name_of(PriceColumn role);

// Reads all of the file, so that its hash is known at once. Reserves memory for the data from the budget. `file` is the
// input with all that is known of it so far.
std::vector<PriceSource> read_csv(FileReader& reader, OpenContext& context, const PriceSource& file);
// Reads only the header.
void read_npy(OpenContext& context, PriceSource& out);
// Reads only the description of the dataset. If `out` names none, the only one that can be drawn is used and named.
void read_hdf5(const FileReader& file, OpenContext& context, PriceSource& out);

}  // namespace millrace::render
