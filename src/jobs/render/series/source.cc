#include "src/jobs/render/series/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <tuple>

#include "src/base/text.h"
#include "src/io/file/file_reader.h"
#include "src/jobs/render/series/source_readers.h"

namespace millrace::render {
namespace {

void scan_prices(const OpenContext& context, PriceSource& out) {
  // A logarithmic scale cannot show a value of 0 or less.
  const bool logarithms = context.options.scale == PriceScaling::log;
  std::vector<double> values;
  std::vector<std::uint8_t> missing;
  bool any = false;
  for (std::size_t at = 0; at < out.rows; at += values.size()) {
    context.throw_if_cancelled();
    values.resize(std::min<std::size_t>(out.rows - at, 1 << 12));
    missing.assign(values.size(), 0);
    for (const PriceColumn role : price_columns_of(context.options.spec())) {
      if (role == kVolume) continue;
      out.columns[role].read(at, values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double v = values[i];
        if (std::isnan(v) || (logarithms && v <= 0)) missing[i] = 1;
        if (std::isnan(v)) continue;
        out.lowest = any ? std::min(out.lowest, v) : v;
        out.highest = any ? std::max(out.highest, v) : v;
        any = true;
      }
    }
    out.gaps += static_cast<std::uint64_t>(std::count(missing.begin(), missing.end(), 1));
  }
}

// Splits "prices.h5:/close" into a file and a dataset, unless a file has all of that as its name.
std::pair<std::string, std::string> split_input(const std::string& input) {
  const auto is_file = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
  };
  if (is_file(input)) return {input, ""};
  for (std::size_t at = input.find(':'); at != std::string::npos; at = input.find(':', at + 1)) {
    const std::string path = input.substr(0, at), dataset = input.substr(at + 1);
    const bool named = extension(path) == "h5" || extension(path) == "hdf5";
    if (dataset.empty() || !(named || is_file(path))) continue;
    return {path, dataset.starts_with("/") ? dataset : "/" + dataset};
  }
  return {input, ""};
}

bool is_hdf5(const std::string& path, FileReader& file) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  if (extension(path) == "h5" || extension(path) == "hdf5") return true;
  const auto front = file.peek();
  return front.size() >= kSignature.size() &&
         std::equal(kSignature.begin(), kSignature.end(), front.begin(),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

}  // namespace

std::string input_file(const std::string& input) { return split_input(input).first; }

const char* name_of(PriceColumn role) {
  constexpr std::array<const char*, 5> kNames = {"open", "high", "low", "close", "volume"};
  return kNames[role];
}

std::size_t PriceSource::window_length(const RenderOptions& options) const {
  return ready > 0 ? ready : static_cast<std::size_t>(options.window);
}

std::size_t PriceSource::windows(const RenderOptions& options) const {
  if (ready > 0) return rows / ready;
  const std::size_t window_length = static_cast<std::size_t>(options.window);
  return rows < window_length ? 0 : (rows - window_length) / static_cast<std::size_t>(options.stride) + 1;
}

std::size_t PriceSource::row_of(const RenderOptions& options, std::size_t window) const {
  return window * (ready > 0 ? ready : static_cast<std::size_t>(options.stride));
}

void PriceSource::throw_if_changed() const {
  const auto now = FileReader::open(path, FileReader::Hashing::off);
  if (now && (*now)->size() == bytes && (*now)->mtime_ns() == mtime_ns) return;
  throw Failure(ErrorCode::conflict, "it changed while it was read", path,
                "restore the old file, or remove OUTPUT.shards if it exists; then run the same command again");
}

void throw_if_changed(const std::vector<PriceSource>& sources) {
  const PriceSource* before = nullptr;
  for (const PriceSource& source : sources) {
    if (before == nullptr || before->input != source.input) source.throw_if_changed();
    before = &source;
  }
}

void OpenContext::throw_if_cancelled() const {
  if (run.cancel.cancelled()) throw Failure(interrupted("nothing was drawn yet"));
}

void OpenContext::refuse_table_options(const PriceSource& source) const {
  const auto refuse = [&](const char* option, const std::string& value) {
    throw Failure(ErrorCode::usage,
                  fmt::format("arrays have no column names and no dates, which {} {} needs", option, value),
                  source.name, "leave the option out, or draw arrays in a separate run");
  };
  if (!options.by.empty() && options.by != kOneSeries) refuse("--by", options.by);
  if (options.sort == SortOrder::date) refuse("--sort", choice_name(options.sort));
}

std::shared_ptr<RowCache> OpenContext::rows() {
  struct ReservedCache {
    RowCache rows;
    Reservation reservation;
  };
  if (!cache) {
    const auto shared = std::make_shared<ReservedCache>();
    shared->reservation = run.budget.reserve(RowCache::memory(), "inputs");
    cache = std::shared_ptr<RowCache>(shared, &shared->rows);
  }
  return cache;
}

std::shared_ptr<Hdf5Helper> OpenContext::hdf5() {
  if (!helper) helper = std::make_shared<Hdf5Helper>(run);
  return helper;
}

struct SourceOpener::State : OpenContext {};

SourceOpener::SourceOpener(const RenderOptions& options, RunContext& context)
    : state_(new State{{options, context, nullptr, nullptr, nullptr}}) {
  // Memory of the program with its libraries, before it reads anything: 17 MB were measured.
  Budget& budget = context.budget;
  const Bytes own{std::min((24_MiB).count, budget.limit().count / 4)};
  state_->program = std::make_shared<Reservation>(budget.reserve(own, "the program itself"));
}
SourceOpener::~SourceOpener() = default;

std::vector<PriceSource> SourceOpener::open(const std::string& input) {
  OpenContext& context = *state_;
  PriceSource out;
  out.name = input;
  out.program = context.program;
  std::tie(out.path, out.dataset) = split_input(input);
  auto file = FileReader::open(out.path).or_throw();
  out.bytes = file->size();
  out.mtime_ns = file->mtime_ns();
  const bool hdf5 = !out.dataset.empty() || is_hdf5(out.path, *file);
  std::vector<PriceSource> series;
  if (hdf5 || extension(out.path) == "npy") {
    context.refuse_table_options(out);
    hdf5 ? read_hdf5(*file, context, out) : read_npy(context, out);
    series.push_back(std::move(out));
  } else {
    series = read_csv(*file, context, out);
  }
  while (!file->next().empty()) context.throw_if_cancelled();
  const std::string content = hex_of_bytes(file->finish_hash().or_throw());
  for (PriceSource& one : series) {
    one.content = content;
    scan_prices(context, one);
  }
  series.front().throw_if_changed();
  return series;
}

}  // namespace millrace::render
