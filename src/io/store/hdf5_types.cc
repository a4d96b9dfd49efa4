#include "src/io/store/hdf5_types.h"

#include <algorithm>
#include <cstring>

namespace millrace::hdf5 {
namespace {

// Returns a float type of two bytes, which the library does not define: sign, exponent and fraction.
Handle small_float(std::size_t exponent_bits, std::size_t exponent_bias) {
  Handle type{H5Tcopy(H5T_IEEE_F32LE), H5Tclose};
  const std::size_t fraction = 15 - exponent_bits;
  H5Tset_fields(type.get(), 15, fraction, exponent_bits, 0, fraction);
  H5Tset_size(type.get(), 2);
  H5Tset_ebias(type.get(), exponent_bias);
  return type;
}

hid_t standard(ElementType type) {
  const bool is_signed = type.code == TypeCode::integer;
  switch (type.bits) {
    case 16:
      return is_signed ? H5T_STD_I16LE : H5T_STD_U16LE;
    case 32:
      return is_signed ? H5T_STD_I32LE : H5T_STD_U32LE;
    case 64:
      return is_signed ? H5T_STD_I64LE : H5T_STD_U64LE;
    default:
      return is_signed ? H5T_STD_I8LE : H5T_STD_U8LE;
  }
}

std::size_t field_bytes(const ArraySpec& spec) {
  return spec.rows == ArraySpec::Rows::texts ? std::max<std::size_t>(1, spec.text_bytes) : spec.row_bytes();
}

// Returns the type that h5py uses for a bool: an enumeration of one byte.
Handle bool_type() {
  Handle type{H5Tenum_create(H5T_STD_I8LE), H5Tclose};
  const std::int8_t no = 0, yes = 1;
  H5Tenum_insert(type.get(), "FALSE", &no);
  H5Tenum_insert(type.get(), "TRUE", &yes);
  return type;
}

}  // namespace

Handle number_type(ElementType type) {
  if (type == kFloat16) return small_float(5, 15);
  if (type == kBfloat16) return small_float(8, 127);
  if (type.code == TypeCode::boolean) return bool_type();
  if (type.code == TypeCode::floating) {
    return {H5Tcopy(type.bits == 64 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE), H5Tclose};
  }
  return {H5Tcopy(standard(type)), H5Tclose};
}

Handle text_type(std::size_t bytes) {
  Handle type{H5Tcopy(H5T_C_S1), H5Tclose};
  H5Tset_size(type.get(), std::max<std::size_t>(1, bytes));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

Handle type_of(const ArraySpec& spec) {
  return spec.rows == ArraySpec::Rows::texts ? text_type(spec.text_bytes) : number_type(spec.type);
}

std::vector<DatasetLayout> layouts_of(const DatasetSpec& spec) {
  std::vector<DatasetLayout> out;
  for (std::size_t i = 0; i < spec.arrays.size(); ++i) {
    const ArraySpec& array = spec.arrays[i];
    const std::string table = array.table();
    const auto same = [&](const DatasetLayout& set) { return set.table && set.name == table; };
    auto set = table.empty() ? out.end() : std::find_if(out.begin(), out.end(), same);
    if (set == out.end()) {
      DatasetLayout made;
      made.name = table.empty() ? array.name : table;
      made.table = !table.empty();
      made.compressed = array.rows == ArraySpec::Rows::compressed;
      if (table.empty()) made.shape.assign(array.shape.begin(), array.shape.end());
      out.push_back(std::move(made));
      set = out.end() - 1;
    }
    set->arrays.push_back(i);
    set->row_bytes += field_bytes(array);
  }
  return out;
}

Handle type_of(const DatasetLayout& set, const DatasetSpec& spec) {
  if (!set.table) return type_of(spec.arrays[set.arrays.front()]);
  Handle type{H5Tcreate(H5T_COMPOUND, set.row_bytes), H5Tclose};
  std::size_t at = 0;
  for (const std::size_t i : set.arrays) {
    const ArraySpec& array = spec.arrays[i];
    H5Tinsert(type.get(), array.name.substr(set.name.size() + 1).c_str(), at, type_of(array).get());
    at += field_bytes(array);
  }
  return type;
}

void put_texts(const ArraySpec& spec, const ArrayRows& rows, std::size_t step, std::uint8_t* out) {
  rows.each([&](std::size_t i, std::span<const std::uint8_t> text) {
    const std::size_t count = std::min<std::size_t>(text.size(), spec.text_bytes);
    if (count > 0) std::memcpy(out + i * step, text.data(), count);
  });
}

void put_table(const DatasetLayout& set, const DatasetSpec& spec, const RowBlock& block,
               std::vector<std::uint8_t>& out) {
  out.assign(block.rows * set.row_bytes, 0);
  std::size_t at = 0;
  for (const std::size_t i : set.arrays) {
    const ArraySpec& array = spec.arrays[i];
    const std::size_t bytes = field_bytes(array);
    if (array.rows == ArraySpec::Rows::texts) {
      put_texts(array, block.arrays[i], set.row_bytes, out.data() + at);
    } else {
      const std::uint8_t* from = block.arrays[i].bytes.data();
      for (std::size_t row = 0; row < block.rows; ++row) {
        std::memcpy(out.data() + row * set.row_bytes + at, from + row * bytes, bytes);
      }
    }
    at += bytes;
  }
}

}  // namespace millrace::hdf5
