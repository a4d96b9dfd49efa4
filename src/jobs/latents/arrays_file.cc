#include "src/jobs/latents/arrays_file.h"

#include <algorithm>

#include "src/base/text.h"
#include "src/io/store/dataset.h"

namespace millrace::latents {
namespace {

std::uint64_t elements_of(const std::vector<std::uint64_t>& shape) {
  std::uint64_t out = 1;
  for (const std::uint64_t side : shape) out *= side;
  return out;
}

}  // namespace

ArraysFile::ArraysFile(const std::string& path, std::uint64_t rows, RunContext& context)
    : path_(path),
      rows_(rows),
      reader_([&context] { return context.cancel.cancelled(); }),
      file_(FileReader::open(path, FileReader::Hashing::off).or_throw()) {}

hdf5::DatasetInfo ArraysFile::describe(const std::string& name, const std::vector<std::uint64_t>& shape) {
  hdf5::DatasetInfo series = reader_.describe(*file_, name).or_throw();
  if (series.shape != prepend_count(rows_, shape)) {
    throw Failure(ErrorCode::conflict, "it has changed since it was written", escape_unprintable(path_),
                  "remove it, and run the same command again");
  }
  return series;
}

std::vector<double> ArraysFile::read(const std::string& name, const std::vector<std::uint64_t>& shape) {
  const hdf5::DatasetInfo series = describe(name, shape);
  const std::uint64_t each = elements_of(shape);
  std::vector<double> out(rows_ * each);
  reader_.read(series, each, 0, rows_, out.data());
  return out;
}

void ArraysFile::visit_rows(const std::string& name, const std::vector<std::uint64_t>& shape,
                            const std::function<void(std::uint64_t, std::span<const double>)>& visit) {
  constexpr std::uint64_t kAtOnce = 256;
  const hdf5::DatasetInfo series = describe(name, shape);
  const std::uint64_t each = elements_of(shape);
  std::vector<double> values(std::min(kAtOnce, rows_) * each);
  for (std::uint64_t begin = 0; begin < rows_; begin += kAtOnce) {
    const std::uint64_t count = std::min(kAtOnce, rows_ - begin);
    reader_.read(series, each, begin, count, values.data());
    for (std::uint64_t i = 0; i < count; ++i) visit(begin + i, std::span(values).subspan(i * each, each));
  }
}

}  // namespace millrace::latents
