#include "src/jobs/hash/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "src/base/json.h"
#include "src/base/log.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/io/image/fingerprint.h"
#include "src/jobs/hash/line_format.h"
#include "src/jobs/inventory_file.h"
#include "src/pipeline/chain.h"

namespace millrace::hash {
namespace {

WalkResult find_inputs(const HashJobOptions& options, const RunContext& context) {
  if (options.inputs.empty() && options.inventory.empty()) {
    throw Failure(ErrorCode::usage, "it is required", "PATH", "name pictures or folders, or use --inventory");
  }
  if (!options.inputs.empty() && !options.inventory.empty()) {
    throw Failure(ErrorCode::usage, "it cannot be combined with PATH", "--inventory", "leave out one of them");
  }
  WalkResult found = options.inventory.empty() ? find_files(options.inputs, options.files, context)
                                               : read_inventory(options.inventory).or_throw();
  // A file that was itself named is always tried; folders also hold files that are not images.
  std::erase_if(found.files, [&](const FileEntry& file) {
    return !is_input(options, file.path) &&
           std::find(options.inputs.begin(), options.inputs.end(), file.path) == options.inputs.end();
  });
  return found;
}

FingerprintOptions make_fingerprint_options(const HashJobOptions& options, RunContext& context) {
  FingerprintOptions wanted;
  wanted.hashes = options.request;
  wanted.upright = options.orientation == PixelOrientation::exif;
  wanted.decode = decode_options(options.files, context);
  if (options.decode == Decoding::fast) {
    wanted.decode.shortest_side = choose_fast_side(options.request);
    const auto& kinds = options.request.kinds;
    wanted.decode.gray = std::find(kinds.begin(), kinds.end(), HashKind::colorhash) == kinds.end();
  }
  return wanted;
}

// Hashes the inputs in the order of the output: first the entries that could not be read, then files sorted by path.
class Hashing {
 public:
  using Item = std::shared_ptr<HashedFile>;

  Hashing(const HashJobOptions& options, RunContext& context)
      : options_(options), context_(context), wanted_(make_fingerprint_options(options, context)) {
    check(options.request);
    found_ = find_inputs(options, context);
  }
  std::size_t count() const { return found_.unreadable.size() + found_.files.size(); }
  const char* remedy() const {
    return options_.decode == Decoding::exact ? "--decode fast, if hashes may differ by a bit or two" : "more threads";
  }

  Item hash(std::size_t number, Span& span) const {
    auto item = std::make_shared<HashedFile>();
    if (number < found_.unreadable.size()) {
      const Error& error = found_.unreadable[number];
      item->path = error.subject;
      item->outcome = Error{error.code, error.what, "", error.remedy};
      return item;
    }
    const FileEntry& file = found_.files[number - found_.unreadable.size()];
    item->path = file.path;
    item->bytes = file.size;
    if (auto reason = check_file_size(file, options_.files.max_size)) {
      item->outcome = Error{ErrorCode::too_large, std::move(*reason), "", ""};
      return item;
    }
    const auto cancelled = [this] { return context_.cancel.cancelled(); };
    auto reader = FileReader::open(file.path, FileReader::Hashing::off);
    if (reader) (*reader)->set_cancelled(cancelled);
    // Other runs, and a later run that resumes these shards, rely on the listed sizes and times.
    if (reader && is_listed() && ((*reader)->size() != file.size || (*reader)->mtime_ns() != file.mtime_ns)) {
      item->outcome = Error{ErrorCode::conflict, "it has changed since it was listed", "", ""};
      return item;
    }
    item->outcome = reader ? compute_fingerprint(**reader, wanted_, context_.budget, cancelled, span) : reader.error();
    if (reader) span.stage().add_bytes((*reader)->bytes_read());
    return item;
  }

  // Counts the item; returns false if it was only interrupted.
  bool add_to_summary(const HashedFile& item, HashSummary& summary) const {
    if (!item.outcome && item.outcome.error().code == ErrorCode::cancelled) return false;
    spdlog::debug("{}: {}", escape_unprintable(item.path), item.outcome ? "hashed" : item.outcome.error().what);
    ++(item.outcome ? summary.pictures : summary.unreadable);
    if (item.outcome && item.outcome->damaged) ++summary.damaged;
    summary.bytes += item.bytes;
    return true;
  }

  CheckpointSpec checkpoint() const {
    CheckpointSpec out;
    out.output = options_.output;
    out.store = StoreKind::folder;
    out.dataset.unit = "pictures";
    out.dataset.rows = count();
    out.dataset.arrays = {{.name = "hashes",
                           .rows = ArraySpec::Rows::texts,
                           .type = kUint8,
                           .extension = choice_name(options_.format),
                           .header = format_header(options_)}};
    out.dataset.attributes = content_attributes(options_);
    out.dataset.attributes.emplace_back("inputs",
                                        Json::array({{{"files", found_.files.size()},
                                                      {"unreadable", found_.unreadable.size()},
                                                      {"identity", identity_of(found_.files, found_.unreadable)}}})
                                            .dump());
    out.each = static_cast<std::uint64_t>(options_.shard);
    out.mark = kMark;
    out.share = options_.share;
    out.input_state = [this](std::uint64_t begin, std::uint64_t end) {
      // Lines of unreadable entries precede those of files.
      const std::uint64_t before = found_.unreadable.size(), first = std::max(begin, before) - before;
      return hash_file_states(std::span(found_.files).subspan(first, std::max(end, before) - before - first));
    };
    return out;
  }

 private:
  bool is_listed() const { return !options_.output.empty() || !options_.inventory.empty(); }

  const HashJobOptions& options_;
  RunContext& context_;
  const FingerprintOptions wanted_;
  WalkResult found_;
};

}  // namespace

bool is_input(const HashJobOptions& options, const std::string& path) {
  return options.all_files || has_picture_extension(path);
}

int choose_fast_side(const HashRequest& request) {
  // The target is eight times the largest size that a hash resizes to. Up to there the drift curve
  // (docs/performance.md, from drift_bench) falls, to 0.14 bits of 64 for ahash and 0.29 for dhash on average; beyond,
  // hardly. PDQ samples 64 pixels per side.
  int target = request.size + 1;
  for (const HashKind kind : request.kinds) {
    if (kind == HashKind::phash) target = std::max(target, 4 * request.size);
    if (kind == HashKind::pdq) target = std::max(target, 64);
  }
  return 8 * target;
}

Plan plan(const HashJobOptions& options, RunContext& context) {
  const WalkResult found = find_inputs(options, context);
  std::uint64_t bytes = 0;
  for (const FileEntry& file : found.files) bytes += file.size;
  const Bytes each = PictureHasher::workspace(options.request, 6000, 4000).host + Bytes{FileReader::kChunk};
  const std::size_t tokens = chain::count_tokens(context, {FileReader::kChunk});
  const auto threads = static_cast<std::uint64_t>(context.executor.threads());
  Plan out;
  out.lines = {{"files", fmt::format("{} ({})", group_digits(found.files.size()), format_bytes(Bytes{bytes}))}};
  out.figures = {{"files", found.files.size()}, {"bytes", bytes}};
  if (!options.output.empty()) {
    const ShardLayout parts{found.unreadable.size() + found.files.size(), static_cast<std::uint64_t>(options.shard)};
    const std::uint64_t own = options.share.count(parts.count());
    out.lines.push_back(
        {"shards", fmt::format("{} of {} pictures, of which this run makes {}", group_digits(parts.count()),
                               group_digits(parts.each), group_digits(own))});
    out.figures["shards"] = parts.count();
    out.figures["part_shards"] = own;
  }
  out.threads = context.executor.threads();
  out.in_flight = tokens;
  out.memory = {{"the program itself", 20_MiB},
                {"pictures of 24 megapixels on every thread", each * threads},
                {"files in flight", Bytes{FileReader::kChunk} * tokens}};
  out.allowed = context.budget.limit();
  return out;
}

HashSummary run(const HashJobOptions& options, RunContext& context,
                const std::function<void(std::string_view)>& write) {
  const Stopwatch watch;
  Hashing hashing(options, context);
  HashSummary summary;
  if (const std::string header = format_header(options); !header.empty()) write(header + "\n");
  Progress progress(context.progress, "hashing", hashing.count());
  std::size_t next = 0;
  auto stages =
      chain::source<std::size_t>("list",
                                 [&]() -> std::optional<std::size_t> {
                                   return next < hashing.count() ? std::optional(next++) : std::nullopt;
                                 }) |
      chain::parallel<std::size_t, Hashing::Item>(
          "decode and hash", [&](std::size_t item, Span& span) { return hashing.hash(item, span); }, hashing.remedy()) |
      chain::sink<Hashing::Item>("write", [&](const Hashing::Item& item, Span&) {
        if (!hashing.add_to_summary(*item, summary)) return;
        write(format_line(options, *item));
        progress.add(1, item->bytes);
      });
  chain::run(stages, context, chain::MemoryCost::fixed({FileReader::kChunk}));
  context.helpers.end_idle();
  if (context.cancel.cancelled()) throw Failure(interrupted("the lines that were printed are complete"));
  summary.seconds = watch.seconds();
  return summary;
}

HashSummary store(const HashJobOptions& asked, RunContext& context) {
  const Stopwatch watch;
  HashJobOptions options = asked;
  if (options.format == LineFormat::table) options.format = LineFormat::csv;
  Hashing hashing(options, context);
  if (hashing.count() == 0)
    throw Failure(ErrorCode::not_found, "no pictures were found", "", "name a folder of pictures");
  HashSummary summary;
  const LineWork<Hashing::Item> work{
      .progress = "hashing",
      .stage = "decode and hash",
      .remedy = hashing.remedy(),
      .memory_cost = {FileReader::kChunk},
      .make = [&](std::uint64_t row, Span& span) { return hashing.hash(row, span); },
      .line = [&](const Hashing::Item& item) -> std::optional<std::string> {
        if (!hashing.add_to_summary(*item, summary)) return std::nullopt;
        return format_line(options, *item);
      },
      .bytes = [](const Hashing::Item& item) { return item->bytes; },
  };
  summary.stored = store_lines(hashing.checkpoint(), work, context);
  summary.seconds = watch.seconds();
  return summary;
}

}  // namespace millrace::hash
