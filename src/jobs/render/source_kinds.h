// Enters: an input whose kind is known.
// Leaves: its columns.
// Never: says anything about other inputs.
#pragma once

#include <memory>
#include <string>

#include "src/io/file/reader.h"
#include "src/jobs/render/source.h"

namespace millrace::render {

// What inputs share while they are opened.
struct Opening {
  const Options& options;
  RunContext& context;
  std::shared_ptr<const Reservation> program;
  std::shared_ptr<RowCache> cache;  // none before the first input that needs it

  void throw_if_cancelled() const;
  std::shared_ptr<RowCache> rows();
};

const char* name_of(Role role);

// Reads all of the file, so that its hash is known at once. What it holds is paid for from the budget.
void read_csv(FileReader& file, Opening& opening, Source& out);
// Looks at the header alone.
void read_npy(Opening& opening, Source& out);

}  // namespace millrace::render
