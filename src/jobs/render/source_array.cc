#include <fmt/format.h>

#include "src/jobs/render/source_kinds.h"

namespace millrace::render {
namespace {

bool readable(npy::Type type) {
  return (type.kind == 'f' && (type.bytes == 4 || type.bytes == 8)) || type.kind == 'i' || type.kind == 'u';
}

// How an array is read: its rows, each of so many columns.
struct Rows {
  std::uint64_t rows = 0, columns = 1, ready = 0;
};

// Nothing where it is neither a series nor windows.
std::optional<Rows> rows_of(const std::vector<std::uint64_t>& shape) {
  if (shape.empty() || shape.size() > 3) return std::nullopt;
  const std::uint64_t last = shape.back();
  Rows out;
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

Failure refuse(const std::string& words, const std::string& name) {
  return {ErrorCode::bad_data, fmt::format("it holds {}", words), name,
          "a series is [T], [T, 4] (open, high, low, close) or [T, 5] (with volume); ready windows are [N, n] or "
          "[N, n, 4]; numbers of any width"};
}

// The columns that the style needs, of rows of numbers of one type.
void take_columns(Opening& opening, const std::shared_ptr<const RowFile>& file, npy::Type type, const Rows& shape,
                  const std::string& words, Source& out) {
  const Options& options = opening.options;
  for (const Role role : roles_of(options)) {
    if (shape.columns == 1 && role != kClose) {
      throw Failure(ErrorCode::bad_data, fmt::format("it holds {}, and no {}", words, name_of(role)), out.name,
                    fmt::format("--style {} needs open, high, low and close; --style line does not", options.style));
    }
    if (role >= shape.columns && shape.columns > 1) {
      throw Failure(ErrorCode::bad_data, fmt::format("it holds {}, and no volume", words), out.name,
                    "draw without: --no-volume");
    }
    const std::size_t at = shape.columns == 1 ? 0 : static_cast<std::size_t>(role);
    out.columns[role] = Column(file, opening.rows(), type, at * static_cast<std::size_t>(type.bytes));
  }
  out.rows = static_cast<std::size_t>(shape.rows);
  out.ready = static_cast<std::size_t>(shape.ready);
}

}  // namespace

void read_npy(Opening& opening, Source& out) {
  const npy::Header header = npy::read_header(out.path).or_throw();
  const auto shape = rows_of(header.shape);
  if (!header.plain() || !readable(header.fields[0].type) || !shape) throw refuse(header.words(), out.name);
  const npy::Type type = header.fields[0].type;
  const auto file = std::make_shared<PlainRows>(out.path, header.data_offset, shape->rows,
                                                shape->columns * static_cast<std::size_t>(type.bytes));
  take_columns(opening, file, type, *shape, header.words(), out);
}

}  // namespace millrace::render
