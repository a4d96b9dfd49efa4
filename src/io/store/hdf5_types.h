// Input: what an array of a dataset is.
// Output: what the HDF5 library calls it.
// Never: knows a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/io/store/dataset.h"
#include "src/io/store/hdf5_handle.h"

namespace millrace::hdf5 {

// In a file and, on a little-endian machine, in memory.
Handle number_type(ElementType type);
Handle text_type(std::size_t bytes);
// Of a row's element: a number, or a text.
Handle type_of(const ArraySpec& spec);

// One dataset of a file: an array of a dataset, or the columns of a table.
struct Set {
  std::string name;
  std::vector<std::size_t> arrays;  // of the spec; more than one, or one with a table's name: fields
  bool table = false;
  bool compressed = false;
  std::vector<hsize_t> shape;  // of a row
  std::size_t row_bytes = 0;
};
std::vector<Set> sets_of(const DatasetSpec& spec);
// A table's: its fields one behind the other.
Handle type_of(const Set& set, const DatasetSpec& spec);
// The rows of a table as they lie in the file. Texts that are longer than they may be are cut.
void put_table(const Set& set, const DatasetSpec& spec, const RowBlock& block, std::vector<std::uint8_t>& out);
// Texts as they lie in a set of their own.
void put_texts(const ArraySpec& spec, const ArrayRows& rows, std::size_t step, std::uint8_t* out);

}  // namespace millrace::hdf5
