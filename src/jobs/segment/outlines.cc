#include "src/jobs/segment/outlines.h"

#include <fmt/format.h>

#include <iterator>

#include "src/base/json.h"
#include "src/base/parse_values.h"
#include "src/base/text.h"

namespace millrace::segment {
namespace {

constexpr std::size_t kMaxCorners = 1 << 20;
constexpr std::size_t kPending = 256 << 10;
constexpr long long kMaxBytes = 1LL << 50;

// Appends a number as LEB128: seven bits per byte, lowest first.
void put(std::uint64_t value, std::vector<std::byte>& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

class RunReader {
 public:
  explicit RunReader(const ResumableFile& file) : file_(file) {}
  bool at_end() const { return at_ == file_.size() && next_ == bytes_.size(); }
  std::uint64_t number() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(take());
      out |= (byte & 0x7F) << shift;
      if (byte < 0x80) return out;
    }
    throw Failure(ErrorCode::bad_data, "the stored contour rows are damaged");
  }

 private:
  std::byte take() {
    if (next_ == bytes_.size()) {
      bytes_.resize(std::min<std::uint64_t>(kPending, file_.size() - at_));
      if (bytes_.empty()) throw Failure(ErrorCode::bad_data, "the stored contour rows end too early");
      file_.read_at(at_, bytes_);
      at_ += bytes_.size();
      next_ = 0;
    }
    return bytes_[next_++];
  }

  const ResumableFile& file_;
  std::vector<std::byte> bytes_;
  std::size_t next_ = 0;
  std::uint64_t at_ = 0;
};

}  // namespace

Outlines::Outlines(std::vector<model::Head::Label> labels, std::size_t width, std::size_t height,
                   const std::string& file, const std::string& resume_state)
    : labels_(std::move(labels)),
      width_(width),
      height_(height),
      runs_(resume_state.empty()
                ? ResumableFile(file)
                : ResumableFile(file, static_cast<std::uint64_t>(parse_whole_number(resume_state, 0, kMaxBytes)))) {}

void Outlines::append(std::span<const std::uint8_t> labels) {
  find_runs(labels, row_);
  put(row_.size(), pending_);
  for (const LabelRun& run : row_) {
    put(run.label, pending_);
    put(run.end - run.begin, pending_);
  }
  if (pending_.size() < kPending) return;
  runs_.append(pending_);
  pending_.clear();
}

std::string Outlines::save() {
  runs_.append(pending_);
  pending_.clear();
  runs_.sync();
  return std::to_string(runs_.size());
}

std::vector<std::uint32_t> Outlines::write(const std::string& path) const {
  ResumableFile out(path);
  std::string text = "{\"type\": \"FeatureCollection\", \"features\": [";
  bool first = true;
  const auto flush = [&] {
    if (text.size() < kPending) return;
    out.append(text);
    text.clear();
  };
  ContourTracer::Labels outlined{};
  std::vector<std::string> properties(labels_.size());
  for (std::size_t k = 0; k < labels_.size(); ++k) {
    const model::Head::Label& label = labels_[k];
    outlined[k] = label.drawn;
    const Json classification = {{"name", replace_invalid_utf8(label.name)},
                                 {"color", {label.color[0], label.color[1], label.color[2]}}};
    properties[k] = Json({{"objectType", "annotation"}, {"classification", classification}}).dump();
  }
  ContourTracer contours(outlined, kMaxCorners, [&](const Outline& outline) {
    text += first ? "\n" : ",\n";
    first = false;
    text += R"({"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [)";
    for (std::size_t r = 0; r < outline.rings.size(); ++r) {
      const auto& ring = outline.rings[r];
      text += r == 0 ? "[" : ", [";
      for (const Corner& corner : ring) {
        fmt::format_to(std::back_inserter(text), "[{},{}],", corner.x, corner.y);
        flush();
      }
      text += fmt::format("[{},{}]]", ring.front().x, ring.front().y);
    }
    text += "]}, \"properties\": " + properties[outline.label] + "}";
    flush();
  });
  RunReader reader(runs_);
  const auto refuse = [] { throw Failure(ErrorCode::bad_data, "the stored contour rows are damaged"); };
  std::vector<LabelRun> row;
  std::size_t rows = 0;
  for (; !reader.at_end(); ++rows) {
    const std::uint64_t count = reader.number();
    if (count > width_ || rows == height_) refuse();
    row.resize(count);
    std::uint64_t at = 0;
    for (LabelRun& run : row) {
      run.label = static_cast<std::uint8_t>(reader.number());
      run.begin = static_cast<std::uint32_t>(at);
      const std::uint64_t length = reader.number();
      if (run.label >= labels_.size() || length > width_ - at) refuse();
      at += length;
      run.end = static_cast<std::uint32_t>(at);
    }
    if (at != width_) refuse();
    contours.add_row(row);
  }
  if (rows != height_) refuse();
  contours.finish();
  text += "\n]}\n";
  out.append(text);
  out.finish();
  return contours.cuts();
}

std::uint64_t Outlines::bytes(std::uint64_t width) { return ContourTracer::bytes(kMaxCorners, width) + 4 * kPending; }

}  // namespace millrace::segment
