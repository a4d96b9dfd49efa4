#include "src/jobs/hash/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "src/base/json.h"
#include "src/base/log.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/io/image/fingerprint.h"
#include "src/jobs/hash/lines.h"
#include "src/jobs/inventory_file.h"
#include "src/pipeline/chain.h"

namespace millrace::hash {
namespace {

WalkResult find_inputs(const Options& options, const RunContext& context) {
  if (options.inputs.empty() && options.inventory.empty()) {
    throw Failure(ErrorCode::usage, "it is missing", "PATH", "name pictures or folders, or --inventory");
  }
  if (!options.inputs.empty() && !options.inventory.empty()) {
    throw Failure(ErrorCode::usage, "it says which files, and PATH does", "--inventory", "leave out one of them");
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

FingerprintOptions fingerprint_options(const Options& options, RunContext& context) {
  FingerprintOptions wanted;
  wanted.hashes = options.request;
  wanted.upright = options.orientation == Pixels::exif;
  wanted.decode = decode_options(options.files, context);
  if (options.decode == Decoding::fast) {
    wanted.decode.shortest_side = fast_shortest_side(options.request);
    const auto& kinds = options.request.kinds;
    wanted.decode.gray = std::find(kinds.begin(), kinds.end(), HashKind::colorhash) == kinds.end();
  }
  return wanted;
}

// Hashes the inputs in the order of the output: first the entries that could not be read, then files sorted by path.
class Hashing {
 public:
  using Item = std::shared_ptr<Hashed>;

  Hashing(const Options& options, RunContext& context)
      : options_(options), context_(context), wanted_(fingerprint_options(options, context)) {
    check(options.request);
    found_ = find_inputs(options, context);
  }
  std::size_t count() const { return found_.unreadable.size() + found_.files.size(); }
  const char* remedy() const {
    return options_.decode == Decoding::exact ? "--decode fast, if hashes may differ by a bit or two" : "more threads";
  }

  Item hash(std::size_t number, Span& span) const {
    auto item = std::make_shared<Hashed>();
    if (number < found_.unreadable.size()) {
      const Error& error = found_.unreadable[number];
      item->path = error.subject;
      item->outcome = Error{error.code, error.what, "", error.remedy};
      return item;
    }
    const FileEntry& file = found_.files[number - found_.unreadable.size()];
    item->path = file.path;
    item->bytes = file.size;
    if (auto reason = too_large_to_read(file, options_.files.max_size)) {
      item->outcome = Error{ErrorCode::too_large, std::move(*reason), "", ""};
      return item;
    }
    const auto cancelled = [this] { return context_.cancel.cancelled(); };
    auto reader = FileReader::open(file.path, FileReader::Hashing::off);
    if (reader) (*reader)->stop_when(cancelled);
    // Other runs, and a later run that resumes these shards, rely on the listed sizes and times.
    if (reader && listed() && ((*reader)->size() != file.size || (*reader)->mtime_ns() != file.mtime_ns)) {
      item->outcome = Error{ErrorCode::conflict, "it has changed since it was listed", "", ""};
      return item;
    }
    item->outcome = reader ? fingerprint(**reader, wanted_, context_.budget, cancelled, span) : reader.error();
    if (reader) span.stage().add_bytes((*reader)->bytes_read());
    return item;
  }

  // Counts the item; returns false if it was only interrupted.
  bool told(const Hashed& item, Summary& summary) const {
    if (!item.outcome && item.outcome.error().code == ErrorCode::cancelled) return false;
    spdlog::debug("{}: {}", printable(item.path), item.outcome ? "hashed" : item.outcome.error().what);
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
                           .header = header_of(options_)}};
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
      return state_hash(std::span(found_.files).subspan(first, std::max(end, before) - before - first));
    };
    return out;
  }

 private:
  bool listed() const { return !options_.output.empty() || !options_.inventory.empty(); }

  const Options& options_;
  RunContext& context_;
  const FingerprintOptions wanted_;
  WalkResult found_;
};

}  // namespace

bool is_input(const Options& options, const std::string& path) {
  return options.all_files || has_picture_extension(path);
}

int fast_shortest_side(const HashRequest& request) {
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

Plan plan(const Options& options, RunContext& context) {
  const WalkResult found = find_inputs(options, context);
  std::uint64_t bytes = 0;
  for (const FileEntry& file : found.files) bytes += file.size;
  const Bytes each = PictureHasher::workspace(options.request, 6000, 4000).host + Bytes{FileReader::kChunk};
  const std::size_t tokens = chain::tokens_for(context, {FileReader::kChunk});
  const auto threads = static_cast<std::uint64_t>(context.executor.threads());
  Plan out;
  out.lines = {{"files", fmt::format("{} ({})", grouped(found.files.size()), to_text(Bytes{bytes}))}};
  out.figures = {{"files", found.files.size()}, {"bytes", bytes}};
  if (!options.output.empty()) {
    const Parts parts{found.unreadable.size() + found.files.size(), static_cast<std::uint64_t>(options.shard)};
    const std::uint64_t own = options.share.count(parts.count());
    out.lines.push_back({"shards", fmt::format("{} of {} pictures, of which {} are this run's", grouped(parts.count()),
                                               grouped(parts.each), grouped(own))});
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

Summary run(const Options& options, RunContext& context, const std::function<void(std::string_view)>& write) {
  const Stopwatch watch;
  Hashing hashing(options, context);
  Summary summary;
  if (const std::string header = header_of(options); !header.empty()) write(header + "\n");
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
        if (!hashing.told(*item, summary)) return;
        write(line_of(options, *item));
        progress.add(1, item->bytes);
      });
  chain::run(stages, context, chain::Price::fixed({FileReader::kChunk}));
  context.helpers.end_idle();
  if (context.cancel.cancelled()) throw Failure(interrupted("what was printed is right"));
  summary.seconds = watch.seconds();
  return summary;
}

Summary store(const Options& asked, RunContext& context) {
  const Stopwatch watch;
  Options options = asked;
  if (options.format == Lines::table) options.format = Lines::csv;
  Hashing hashing(options, context);
  if (hashing.count() == 0)
    throw Failure(ErrorCode::not_found, "there is no picture in what was named", "", "name a folder of pictures");
  Summary summary;
  const LineWork<Hashing::Item> work{
      .progress = "hashing",
      .stage = "decode and hash",
      .remedy = hashing.remedy(),
      .price = {FileReader::kChunk},
      .make = [&](std::uint64_t row, Span& span) { return hashing.hash(row, span); },
      .line = [&](const Hashing::Item& item) -> std::optional<std::string> {
        if (!hashing.told(*item, summary)) return std::nullopt;
        return line_of(options, *item);
      },
      .bytes = [](const Hashing::Item& item) { return item->bytes; },
  };
  summary.stored = store_lines(hashing.checkpoint(), work, context);
  summary.seconds = watch.seconds();
  return summary;
}

}  // namespace millrace::hash
