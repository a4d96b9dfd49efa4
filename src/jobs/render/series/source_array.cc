#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/jobs/render/series/source_readers.h"

namespace millrace::render {
namespace {

bool is_readable(ElementType type) {
  return type == kFloat32 || type == kFloat64 || type.code == TypeCode::integer ||
         type.code == TypeCode::unsigned_integer;
}

// Division of an array: rows, columns of each row, and rows of a ready window.
struct ArrayShape {
  std::uint64_t rows = 0, columns = 1, ready = 0;
};

// Returns nullopt if the shape is neither a series nor windows.
std::optional<ArrayShape> parse_shape(const std::vector<std::uint64_t>& shape) {
  if (shape.empty() || shape.size() > 3) return std::nullopt;
  const std::uint64_t last = shape.back();
  ArrayShape out;
  if (shape.size() == 2) (last == 4 || last == 5 ? out.columns : out.ready) = last;
  if (shape.size() == 3) {
    if (last != 4) return std::nullopt;
    out.columns = last;
    out.ready = shape[1];
  }
  if (shape.size() > 1 && out.columns == 1 && out.ready == 0) return std::nullopt;
  out.rows = shape[0] * std::max<std::uint64_t>(1, out.ready);
  if (shape.size() == 3 && out.ready == 0) out.rows = 0;
  return out;
}

// `types` names the types that a format supports, with a leading ", of".
Failure make_failure(const std::string& words, const std::string& name, const std::string& types = "") {
  return {ErrorCode::bad_data, fmt::format("it contains {}, which is not supported", words), name,
          "expected a series [T], [T, 4] (open, high, low, close) or [T, 5] (with volume), or ready windows [N, n] or "
          "[N, n, 4]" +
              types};
}

// Sets the columns that the style needs, from rows of numbers of one type.
void set_columns(OpenContext& context, const std::shared_ptr<const RowFile>& file, ElementType type,
                 const ArrayShape& shape, const std::string& words, PriceSource& out) {
  const RenderOptions& options = context.options;
  for (const PriceColumn role : price_columns_of(options.spec())) {
    if (shape.columns == 1 && role != kClose && role != kVolume) {
      throw Failure(ErrorCode::bad_data, fmt::format("it contains {}, but no {}", words, name_of(role)), out.name,
                    fmt::format("--style {} needs open, high, low and close; use --style line for closes alone",
                                choice_name(options.style)));
    }
    if (role == kVolume && role >= shape.columns) {
      throw Failure(ErrorCode::bad_data, fmt::format("it contains {}, but no volume", words), out.name,
                    "use --no-volume");
    }
    const std::size_t at = shape.columns == 1 ? 0 : static_cast<std::size_t>(role);
    out.columns[role] = SeriesColumn(file, context.rows(), type, at * type.bytes());
  }
  out.rows = static_cast<std::size_t>(shape.rows);
  out.ready = static_cast<std::size_t>(shape.ready);
}

// Rows of a dataset, as doubles.
class Hdf5Rows : public RowFile {
 public:
  Hdf5Rows(std::shared_ptr<Hdf5Helper> helper, hdf5::DatasetInfo series, const ArrayShape& shape)
      : RowFile(shape.rows, static_cast<std::size_t>(shape.columns) * sizeof(double)),
        helper_(std::move(helper)),
        series_(std::move(series)) {}
  void read(std::uint64_t first, std::size_t count, std::byte* out) const override {
    helper_->reader.read(series_, row_bytes() / sizeof(double), first, count, reinterpret_cast<double*>(out));
  }

 private:
  const std::shared_ptr<Hdf5Helper> helper_;
  const hdf5::DatasetInfo series_;
};

// Returns the only dataset of a file that can be drawn.
hdf5::DatasetInfo find_only_series(OpenContext& context, const FileReader& file) {
  constexpr std::size_t kMaxNamed = 12;
  const std::string& path = file.path();
  hdf5::DatasetReader& reader = context.hdf5()->reader;
  const std::vector<std::string> names = reader.datasets(file).or_throw();
  if (names.size() > hdf5::helper::kMaxListed) {
    throw Failure(ErrorCode::bad_data, fmt::format("it contains more than {} datasets", hdf5::helper::kMaxListed), path,
                  fmt::format("name one, for example {}:/prices", path));
  }
  std::vector<hdf5::DatasetInfo> found;
  std::vector<std::string> descriptions;
  for (const std::string& name : names) {
    context.throw_if_cancelled();
    const auto series = reader.describe(file, name);
    const ErrorCode code = series ? ErrorCode::internal : series.error().code;
    if (code == ErrorCode::cancelled || code == ErrorCode::crashed || code == ErrorCode::timed_out ||
        code == ErrorCode::unavailable) {
      throw Failure(series.error());
    }
    const bool fits = series && parse_shape(series->shape);
    descriptions.push_back(escape_unprintable(name) + ", " +
                           (series ? series->words + (fits ? "" : ", which is not a series") : series.error().what));
    if (fits) found.push_back(*series);
  }
  if (found.size() == 1) return found[0];
  // A dataset of 4 or 5 columns is the likeliest to hold prices; one of a single column may be dates or row numbers.
  const auto table = std::find_if(found.begin(), found.end(), [](const hdf5::DatasetInfo& series) {
    return series.shape.size() == 2 && (series.shape[1] == 4 || series.shape[1] == 5);
  });
  if (descriptions.size() > kMaxNamed) {
    descriptions.resize(kMaxNamed);
    descriptions.emplace_back("and more");
  }
  throw Failure(ErrorCode::bad_data,
                names.empty()
                    ? "it contains no dataset"
                    : fmt::format("it contains {} datasets that can be drawn: {}",
                                  found.empty() ? "no" : std::to_string(found.size()), fmt::join(descriptions, "; ")),
                path,
                found.empty() ? "expected a series [T], [T, 4] or [T, 5], or ready windows [N, n] or [N, n, 4]"
                              : fmt::format("name one, for example {}:{}", path,
                                            escape_unprintable((table == found.end() ? found.front() : *table).name)));
}

}  // namespace

void read_hdf5(const FileReader& file, OpenContext& context, PriceSource& out) {
  const std::shared_ptr<Hdf5Helper> helper = context.hdf5();
  const hdf5::DatasetInfo series =
      out.dataset.empty() ? find_only_series(context, file) : helper->reader.describe(file, out.dataset).or_throw();
  out.dataset = series.name;
  const auto shape = parse_shape(series.shape);
  if (!shape) throw make_failure(series.words, out.name);
  Bytes reserved;
  for (const Reservation& part : helper->reserved) reserved += part.size();
  if (reserved < series.memory) {
    try {
      helper->reserved.push_back(context.run.budget.reserve(series.memory - reserved, "reading HDF5 by chunks"));
    } catch (const OutOfMemory& refused) {
      Error error = refused.error();
      error.subject = out.name;
      throw OutOfMemory(error);
    }
  }
  const auto rows = std::make_shared<Hdf5Rows>(helper, series, *shape);
  set_columns(context, rows, kFloat64, *shape, series.words, out);
}

void read_npy(OpenContext& context, PriceSource& out) {
  const npy::Header header = npy::read_header(out.path).or_throw();
  const auto shape = parse_shape(header.shape);
  if (!header.is_plain() || !is_readable(header.fields[0].type) || !shape)
    throw make_failure(header.words(), out.name, ", of float32, float64 or integers");
  const ElementType type = header.fields[0].type;
  const auto file =
      std::make_shared<PlainRowFile>(out.path, header.data_offset, shape->rows, shape->columns * type.bytes());
  set_columns(context, file, type, *shape, header.words(), out);
}

}  // namespace millrace::render
