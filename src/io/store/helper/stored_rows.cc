#include "src/io/store/helper/stored_rows.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "src/io/store/helper/protocol.h"

namespace millrace::hdf5::helper {
namespace {

// Reads the value of a fixed-length text; false if the attribute is something else.
bool read_text_attribute(hid_t object, const char* name, std::string& value) {
  const Handle attribute{H5Aopen(object, name, H5P_DEFAULT), H5Aclose};
  const Handle type{H5Aget_type(attribute.get()), H5Tclose};
  const Handle space{H5Aget_space(attribute.get()), H5Sclose};
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0) return false;
  // Files of other programs have lists of texts, and texts of any length.
  const std::size_t bytes = H5Tget_size(type.get());
  if (H5Sget_simple_extent_type(space.get()) != H5S_SCALAR || bytes > kMaxAttributeText) return false;
  value.assign(bytes, '\0');
  if (H5Aread(attribute.get(), type.get(), value.data()) < 0) return false;
  value.resize(std::min(value.size(), value.find('\0')));  // an empty text is stored as one zero
  return true;
}

[[noreturn]] void refuse(const std::string& what) { throw Failure(ErrorCode::bad_data, what, "", ""); }

}  // namespace

std::string attributes_of(const File& file) {
  const auto read = [](hid_t object, const char* name, const H5A_info_t*, void* out) -> herr_t {
    auto& text = *static_cast<std::string*>(out);
    std::string value;
    if (!read_text_attribute(object, name, value)) return 0;
    if (text.size() + value.size() > kMaxAttributeText) return -1;
    text += name;
    text += '\0';
    text += value;
    text += '\0';
    return 0;
  };
  std::string out;
  hsize_t at = 0;
  if (H5Aiterate2(file.id(), H5_INDEX_NAME, H5_ITER_INC, &at, read, &out) < 0)
    fail("its attributes cannot be read", "");
  return out;
}

StoredRows::StoredRows(const File& file, const std::string& name, const std::string& type, std::uint64_t rows,
                       std::uint64_t row_bytes)
    : row_bytes_(row_bytes) {
  H5L_info_t link{};
  if (H5Lget_info(file.id(), name.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
    refuse("it is missing");
  set_ = {H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose};
  if (!set_) fail("it cannot be opened", "");
  const Handle how{H5Dget_create_plist(set_.get()), H5Pclose};
  if (H5Pget_layout(how.get()) != H5D_CONTIGUOUS || H5Pget_external_count(how.get()) != 0) {
    refuse("it is not stored as a run stores it");
  }
  type_ = {H5Tdecode(type.data()), H5Tclose};
  const Handle there{H5Dget_type(set_.get()), H5Tclose};
  if (!type_ || H5Tequal(type_.get(), there.get()) <= 0) refuse("its values have another type");
  const Handle space{H5Dget_space(set_.get()), H5Sclose};
  const int dimensions = H5Sget_simple_extent_ndims(space.get());
  shape_.resize(static_cast<std::size_t>(std::max(0, dimensions)));
  if (shape_.empty() || H5Sget_simple_extent_dims(space.get(), shape_.data(), nullptr) != dimensions) {
    refuse("it has no rows");
  }
  const std::uint64_t each =
      std::accumulate(shape_.begin() + 1, shape_.end(), std::uint64_t{H5Tget_size(type_.get())}, std::multiplies<>());
  if (shape_.front() != rows || each != row_bytes) refuse("it has another shape");
}

void StoredRows::read(std::uint64_t first, std::uint64_t count, std::vector<std::uint8_t>& out) const {
  if (first > shape_.front() || count > shape_.front() - first || row_bytes_ == 0 ||
      count > kMaxRowBytes / row_bytes_) {
    refuse("more rows were requested than it has");
  }
  std::vector<hsize_t> start(shape_.size(), 0), part(shape_);
  start[0] = first;
  part[0] = count;
  const Handle memory{H5Screate_simple(static_cast<int>(part.size()), part.data(), nullptr), H5Sclose};
  const Handle space{H5Dget_space(set_.get()), H5Sclose};
  out.resize(count * row_bytes_);
  if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, part.data(), nullptr) < 0 ||
      H5Dread(set_.get(), type_.get(), memory.get(), space.get(), H5P_DEFAULT, out.data()) < 0) {
    fail("it cannot be read", "");
  }
}

}  // namespace millrace::hdf5::helper
