// Input: the description of an array of a dataset.
// Output: the HDF5 types and datasets that store it.
// Never: opens a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/io/store/dataset.h"
#include "src/io/store/hdf5_handle.h"

namespace millrace::hdf5 {

// Returns the type in a file; on a little-endian machine it is also the type in memory.
Handle number_type(ElementType type);
Handle text_type(std::size_t bytes);
// Returns the type of a row's element: a number, or a text.
Handle type_of(const ArraySpec& spec);

// HDF5 dataset of a file: an array, or the columns of a table.
struct DatasetLayout {
  std::string name;
  std::vector<std::size_t> arrays;  // indices of arrays in the spec; for a table they are its fields
  bool table = false;
  bool compressed = false;
  std::vector<hsize_t> shape;  // shape of a row
  std::size_t row_bytes = 0;
};
std::vector<DatasetLayout> layouts_of(const DatasetSpec& spec);
// Returns the type of a set; a table's is a compound of its fields, one after the other.
Handle type_of(const DatasetLayout& set, const DatasetSpec& spec);
// Fills `out` with rows of a table in the layout of the file. Texts that are too long are cut.
void put_table(const DatasetLayout& set, const DatasetSpec& spec, const RowBlock& block,
               std::vector<std::uint8_t>& out);
// Writes texts `step` bytes apart; texts that are too long are cut.
void put_texts(const ArraySpec& spec, const ArrayRows& rows, std::size_t step, std::uint8_t* out);

}  // namespace millrace::hdf5
