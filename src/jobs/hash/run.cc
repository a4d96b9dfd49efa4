#include "src/jobs/hash/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/base/log.h"
#include "src/base/text.h"
#include "src/io/file/walk.h"
#include "src/io/image/fingerprint.h"
#include "src/pipeline/chain.h"
#include "src/report/json_path.h"

namespace millrace::hash {
namespace {

struct Hashed {
  std::string path;
  std::uint64_t bytes = 0;
  Outcome<Fingerprint> outcome = Error{};
};

WalkResult find_inputs(const Options& options, const RunContext& context) {
  WalkResult found = find_files(options.inputs, options.files, context);
  // A file that was named itself is always tried; folders hold much that is not a picture.
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

// Of the picture as it was hashed.
std::pair<int, int> sides_of(const Fingerprint& print) {
  const bool swapped = print.turned && swaps_sides(print.info.exif.orientation);
  return swapped ? std::pair(print.info.full_height, print.info.full_width)
                 : std::pair(print.info.full_width, print.info.full_height);
}

std::string jsonl_line(const Options& options, const Hashed& hashed) {
  nlohmann::ordered_json line;
  add_path(line, hashed.path);
  if (!hashed.outcome) {
    const Error& error = hashed.outcome.error();
    line["error"] = error.what + (error.remedy.empty() ? "" : "; " + error.remedy);
    return line.dump() + "\n";
  }
  const Fingerprint& print = *hashed.outcome;
  const auto [width, height] = sides_of(print);
  line["width"] = width;
  line["height"] = height;
  line["bytes"] = hashed.bytes;
  line["quality"] = print.hashes.quality;
  line["exact"] = print.info.exact && options.orientation == Pixels::stored;
  if (options.decode != Decoding::exact) line["decode"] = choice_name(options.decode);
  if (print.damaged) line["damaged"] = print.damage;
  for (std::size_t i = 0; i < options.request.kinds.size(); ++i) {
    line[name_of(options.request.kinds[i])] = hex_of_bits(print.hashes.bits[i]);
  }
  return line.dump() + "\n";
}

std::string csv_header(const Options& options) {
  std::string line = "path,width,height,bytes,quality,exact";
  for (const HashKind kind : options.request.kinds) line += std::string(",") + name_of(kind);
  return line + ",error\n";
}

std::string csv_line(const Options& options, const Hashed& hashed) {
  std::string line = csv_field(utf8_for_display(hashed.path));
  if (!hashed.outcome) {
    return line + ",,,,," + std::string(options.request.kinds.size() + 1, ',') +
           csv_field(hashed.outcome.error().what) + "\n";
  }
  const Fingerprint& print = *hashed.outcome;
  const auto [width, height] = sides_of(print);
  line += fmt::format(",{},{},{},{},{}", width, height, hashed.bytes, print.hashes.quality,
                      print.info.exact && options.orientation == Pixels::stored);
  for (const HashBits& bits : print.hashes.bits) line += "," + hex_of_bits(bits);
  return line + ",\n";
}

std::string table_line(const Options&, const Hashed& hashed) {
  if (!hashed.outcome) return fmt::format("-  {}: {}\n", printable(hashed.path), hashed.outcome.error().what);
  std::string line;
  for (const HashBits& bits : hashed.outcome->hashes.bits) line += hex_of_bits(bits) + "  ";
  return line + printable(hashed.path) + (hashed.outcome->damaged ? "  (damaged)" : "") + "\n";
}

}  // namespace

bool is_input(const Options& options, const std::string& path) {
  return options.all_files || has_picture_extension(path);
}

int fast_shortest_side(const HashRequest& request) {
  // Eight times the largest target that a hash resizes to. The drift curve (docs/performance.md, from drift_bench)
  // falls until there, to 0.14 bits of 64 for ahash and 0.29 for dhash on average, and hardly beyond. PDQ samples 64 a
  // side.
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
  out.threads = context.executor.threads();
  out.in_flight = tokens;
  out.memory = {{"the program itself", 20_MiB},
                {"pictures of 24 megapixels on every thread", each * threads},
                {"files in flight", Bytes{FileReader::kChunk} * tokens}};
  out.allowed = context.budget.limit();
  return out;
}

Summary run(const Options& options, RunContext& context, const std::function<void(std::string_view)>& write) {
  check(options.request);
  const auto start = Clock::now();
  const WalkResult found = find_inputs(options, context);
  const FingerprintOptions wanted = fingerprint_options(options, context);

  Summary summary;
  const auto line_of = options.format == Lines::jsonl ? jsonl_line
                       : options.format == Lines::csv ? csv_line
                                                      : table_line;
  if (options.format == Lines::csv) write(csv_header(options));
  for (const Error& error : found.unreadable) {
    ++summary.unreadable;
    Hashed folder;
    folder.path = error.subject;
    folder.outcome = Error{error.code, error.what, "", error.remedy};
    write(line_of(options, folder));
  }

  Progress progress(context.progress, "hashing", found.files.size());
  std::size_t next = 0;
  const auto cancelled = [&] { return context.cancel.cancelled(); };
  using Item = std::shared_ptr<Hashed>;

  auto stages =
      chain::source<std::size_t>("list",
                                 [&]() -> std::optional<std::size_t> {
                                   return next < found.files.size() ? std::optional(next++) : std::nullopt;
                                 }) |
      chain::parallel<std::size_t, Item>(
          "decode and hash",
          [&](std::size_t index, Span& span) {
            const FileEntry& file = found.files[index];
            auto item = std::make_shared<Hashed>();
            item->path = file.path;
            item->bytes = file.size;
            if (auto reason = too_large_to_read(file, options.files.max_size)) {
              item->outcome = Error{ErrorCode::too_large, std::move(*reason), "", ""};
              return item;
            }
            auto reader = FileReader::open(file.path, FileReader::Hashing::off);
            if (reader) (*reader)->stop_when(cancelled);
            item->outcome = reader ? fingerprint(**reader, wanted, context.budget, cancelled, span) : reader.error();
            if (reader) span.stage().add_bytes((*reader)->bytes_read());
            return item;
          },
          options.decode == Decoding::exact ? "--decode fast, if hashes may differ by a bit or two" : "more threads") |
      chain::sink<Item>("write", [&](const Item& item, Span&) {
        if (!item->outcome && item->outcome.error().code == ErrorCode::cancelled) return;
        spdlog::debug("{}: {}", printable(item->path), item->outcome ? "hashed" : item->outcome.error().what);
        ++(item->outcome ? summary.pictures : summary.unreadable);
        if (item->outcome && item->outcome->damaged) ++summary.damaged;
        summary.bytes += item->bytes;
        write(line_of(options, *item));
        progress.add(1, item->bytes);
      });
  chain::run(stages, context, chain::Price::fixed({FileReader::kChunk}));
  context.helpers.end_idle();
  if (context.cancel.cancelled()) throw Failure(interrupted("what was printed is right"));
  summary.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return summary;
}

}  // namespace millrace::hash
