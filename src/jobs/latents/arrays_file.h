// Input: arrays.h5.
// Output: its arrays, as float64.
// Never: takes one that is not as this run would have made it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/io/file/reader.h"
#include "src/io/store/hdf5_reader.h"
#include "src/pipeline/run_context.h"

namespace millrace::latents {

class ArraysFile {
 public:
  // Failure(not_found, io).
  ArraysFile(const std::string& path, std::uint64_t rows, RunContext& context);

  // All rows, each of this shape, which is empty for a number. Failure(conflict) where it is another.
  std::vector<double> read(const std::string& name, const std::vector<std::uint64_t>& shape);
  // visit(row, its elements), row after row; some rows are in memory at once.
  void each_row(const std::string& name, const std::vector<std::uint64_t>& shape,
                const std::function<void(std::uint64_t, std::span<const double>)>& visit);

 private:
  hdf5::Series describe(const std::string& name, const std::vector<std::uint64_t>& shape);

  const std::string path_;
  const std::uint64_t rows_;
  hdf5::Reader reader_;
  const std::unique_ptr<FileReader> file_;
};

}  // namespace millrace::latents
