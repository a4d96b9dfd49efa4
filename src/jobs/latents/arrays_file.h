// Input: the file arrays.h5.
// Output: its arrays, as float64.
// Never: returns an array with another shape than this run would have given it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/io/file/file_reader.h"
#include "src/io/store/hdf5_reader.h"
#include "src/pipeline/run_context.h"

namespace millrace::latents {

class ArraysFile {
 public:
  // Throws Failure(not_found, io).
  ArraysFile(const std::string& path, std::uint64_t rows, RunContext& context);

  // Returns all rows, each of `shape`, which is empty for a number. Throws Failure(conflict) if rows have another
  // shape.
  std::vector<double> read(const std::string& name, const std::vector<std::uint64_t>& shape);
  // Calls visit(row, its elements), row after row; only some rows are in memory at once.
  void visit_rows(const std::string& name, const std::vector<std::uint64_t>& shape,
                  const std::function<void(std::uint64_t, std::span<const double>)>& visit);

 private:
  hdf5::DatasetInfo describe(const std::string& name, const std::vector<std::uint64_t>& shape);

  const std::string path_;
  const std::uint64_t rows_;
  hdf5::DatasetReader reader_;
  const std::unique_ptr<FileReader> file_;
};

}  // namespace millrace::latents
