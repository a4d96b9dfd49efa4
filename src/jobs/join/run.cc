#include "src/jobs/join/run.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "src/base/mutex.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/io/store/pair_lists.h"
#include "src/io/tensor/npy.h"
#include "src/kernels/hamming/hamming.h"

namespace millrace::join {
namespace {

// File of pairs, 9 bytes per row.
class PairFile {
 public:
  PairFile(const OutputTarget& output, std::uint64_t count) : writer_(output, pair_fields(), {count}) {}

  void append(std::span<const hamming::HammingPair> pairs) {
    rows_.clear();
    append_pair_rows(pairs, rows_);
    writer_.append(std::as_bytes(std::span(rows_)));
  }
  npy::NpyWriter& writer() { return writer_; }

 private:
  npy::NpyWriter writer_;
  std::vector<std::uint8_t> rows_;
};

// Returns the approximate size of a file with these rows.
Bytes file_bytes(std::uint64_t rows, std::size_t row_bytes) { return {rows * row_bytes + 256}; }

// Checks the size of the output. Each pair of equal codes counts, so a small file of codes can give more pairs than a
// disk holds.
void check_disk_space(const JoinOutputs& files, const Options& options, Bytes bytes, std::uint64_t pairs) {
  if (bytes.count > options.max_output.count) {
    throw Failure(ErrorCode::too_large,
                  fmt::format("{} pairs would need {}; the limit is {}", group_digits(pairs), format_bytes(bytes),
                              format_bytes(options.max_output)),
                  escape_unprintable(files.pairs.path()),
                  options.collapsed
                      ? "allow more with --max-output, or use a smaller --radius"
                      : "write pairs of different codes with --collapsed, or allow more with --max-output");
  }
  files.pairs.require_free_space(bytes);
}

void write_collapsed(const hamming::JoinResult& joined, const Options& options, const JoinOutputs& files,
                     RunContext& context, JoinSummary& result) {
  const std::span<const std::uint32_t> nodes = joined.nodes.of_row.span();
  check_disk_space(files, options, file_bytes(joined.collapsed, kPairRowBytes) + file_bytes(nodes.size(), 4),
                   joined.collapsed);
  npy::NpyWriter node_file(files.nodes, {{"", kUint32}}, {nodes.size()});
  node_file.append(std::as_bytes(nodes));
  PairFile pairs(files.pairs, joined.pairs.list.size());
  Progress progress(context.progress, "writing pairs", joined.collapsed);
  const std::span<const hamming::HammingPair> all = joined.pairs.list.span();
  for (std::size_t at = 0; at < all.size(); at += hamming::kBlock) {
    context.throw_if_cancelled();
    const auto block = all.subspan(at, std::min(hamming::kBlock, all.size() - at));
    pairs.append(block);
    progress.add(block.size(), block.size() * kPairRowBytes);
  }
  // Both files are on disk before either has its name.
  node_file.sync();
  pairs.writer().sync();
  node_file.finish();
  pairs.writer().finish();
  result.nodes_file = files.nodes.path();
}

void write_rows(const hamming::JoinResult& joined, const Options& options, const JoinOutputs& files,
                RunContext& context) {
  check_disk_space(files, options, file_bytes(joined.expanded, kPairRowBytes), joined.expanded);
  PairFile pairs(files.pairs, joined.expanded);
  Progress progress(context.progress, "writing pairs", joined.expanded);
  hamming::expand(joined, context.executor, context.budget, [&](std::span<const hamming::HammingPair> block) {
    pairs.append(block);
    progress.add(block.size(), block.size() * kPairRowBytes);
  });
  pairs.writer().finish();
}

// Joins the codes. If the pairs do not fit into memory, the error gives their number, which says more than where memory
// ended.
template <typename Code>
hamming::JoinResult join_all(std::span<const Code> codes, const hamming::Options& wanted, RunContext& context) {
  return self_join(
      codes, wanted, context.engines(), context.budget,
      "use a smaller --radius, more --memory, or --block auto, which writes pairs as they are found; without -o they "
      "are only counted, which needs no memory for them");
}

template <typename Code>
void join_codes(std::span<const Code> codes, const Options& options, const JoinOutputs& files, RunContext& context,
                JoinSummary& result) {
  const Stopwatch watch;
  hamming::Options wanted = make_hamming_options(options);
  hamming::JoinResult joined;
  {
    // The number of comparisons is known only when the join begins.
    Mutex mutex;
    std::optional<Progress> progress;
    wanted.progress = [&](std::uint64_t more, std::uint64_t all) {
      const MutexLock lock(mutex);
      if (!progress) progress.emplace(context.progress, "comparing codes", all);
      progress->add(more);
    };
    const Span span(context.trace.stage("join", 1, "a smaller --radius, or more threads"));
    joined = files.pairs ? join_all(codes, wanted, context)
                         : hamming::count(codes, wanted, context.engines(), context.budget);
  }
  result.join_seconds = watch.seconds();
  result.rows = codes.size();
  result.nodes = joined.nodes.count;
  result.pairs = joined.expanded;
  result.collapsed_pairs = joined.collapsed;
  result.algorithm = hamming::name_of(joined.used);
  result.why = joined.why;
  const double rows = static_cast<double>(result.rows);
  if (result.join_seconds > 0) {
    result.rows_per_second = rows / result.join_seconds;
    result.pairs_per_second = rows * (rows - 1) / 2 / result.join_seconds;
  }
  if (!files.pairs) return;
  const Span span(context.trace.stage("write", 1, "--collapsed, or a faster disk"));
  if (options.collapsed) {
    write_collapsed(joined, options, files, context, result);
  } else {
    write_rows(joined, options, files, context);
  }
  result.pairs_file = files.pairs.path();
}

}  // namespace

template <typename Code>
hamming::JoinResult self_join(std::span<const Code> codes, const hamming::Options& wanted, const Engines& engines,
                              Budget& budget, const char* remedy) {
  try {
    return hamming::self_join(codes, wanted, engines, budget);
  } catch (const OutOfMemory&) {
    const hamming::JoinEstimate estimate = hamming::estimate(codes, wanted, true, {engines.executor}, budget);
    // The pairs alone did not fill the memory.
    if (estimate.memory < Bytes{budget.limit().count / 4}) throw;
    throw OutOfMemory(
        ErrorCode::out_of_memory,
        fmt::format("{} pairs of different codes would need {} of memory for sorting; the limit is {}",
                    describe_count(estimate.collapsed), format_bytes(estimate.memory), format_bytes(budget.limit())),
        {}, remedy);
  }
}
template hamming::JoinResult self_join(std::span<const std::uint64_t>, const hamming::Options&, const Engines&, Budget&,
                                       const char*);
template hamming::JoinResult self_join(std::span<const hamming::Code256>, const hamming::Options&, const Engines&,
                                       Budget&, const char*);

void check_radius(const Options& options) {
  if (options.radius < 0) {
    throw Failure(ErrorCode::usage, "it is required, 0 or more", "--radius", "for example --radius 5");
  }
  // The file stores a distance in one byte.
  if (options.radius > 255) throw Failure(ErrorCode::usage, "it is too large; the limit is 255", "--radius");
}

hamming::Options make_hamming_options(const Options& options) {
  return {static_cast<int>(options.radius), options.algorithm, {}};
}

std::uint64_t round_count(double count) { return static_cast<std::uint64_t>(std::llround(std::max(0.0, count))); }

std::string describe_count(double count) {
  return count < 0.5 ? "almost no" : "about " + group_digits(round_count(count));
}

void append_pair_rows(std::span<const hamming::HammingPair> pairs, std::vector<std::uint8_t>& rows) {
  const std::size_t before = rows.size();
  rows.resize(before + pairs.size() * kPairRowBytes);
  std::uint8_t* out = rows.data() + before;
  for (const hamming::HammingPair& pair : pairs) {
    std::memcpy(out, &pair.i, 4);
    std::memcpy(out + 4, &pair.j, 4);
    // A distance of 256 cannot occur: only opposite codes of 256 bits have it, and a radius of 256 is refused.
    out[8] = static_cast<std::uint8_t>(pair.distance);
    out += kPairRowBytes;
  }
}

std::string nodes_path(const std::string& pairs_path) {
  const std::string_view extension = ".npy";
  std::string stem = pairs_path;
  if (stem.ends_with(extension)) stem.resize(stem.size() - extension.size());
  return stem + ".nodes.npy";
}

JoinSummary run(const Options& options, const JoinOutputs& files, RunContext& context) {
  const Stopwatch watch;
  check_radius(options);
  const CodeFile codes(options.codes);
  const npy::Array file = codes.read(context);
  JoinSummary result;
  result.bits = codes.bits();
  dispatch_code_type(result.bits,
                     [&]<typename Code>(Code) { join_codes(codes_of<Code>(file), options, files, context, result); });
  result.seconds = watch.seconds();
  return result;
}

namespace {

// Returns the memory for comparing codes or for writing pairs of rows, whichever is larger: one follows the other.
std::vector<Plan::Need> estimate_memory(const hamming::JoinEstimate& estimate, std::uint64_t rows, bool kept,
                                        const Options& options, const Budget& budget) {
  const std::uint64_t pairs = round_count(estimate.collapsed);
  Plan comparing, writing;
  comparing.memory = {
      {"the program itself", 16_MiB}, {"codes", budget.peak()}, {"pairs", kept ? estimate.memory : Bytes{}}};
  writing.memory = {{"the program itself", 16_MiB},
                    {"codes", budget.used()},
                    {"their nodes and pairs", Bytes{4 * rows + sizeof(hamming::HammingPair) * pairs}},
                    {"pairs of rows", hamming::expand_bytes(rows, estimate.nodes, pairs)}};
  const bool rows_are_written = kept && !options.collapsed;
  return (rows_are_written && writing.total_memory() > comparing.total_memory() ? writing : comparing).memory;
}

}  // namespace

Plan plan(const Options& options, const JoinOutputs& files, RunContext& context) {
  check_radius(options);
  const CodeFile codes(options.codes);
  const npy::Array file = codes.read(context);
  const int bits = codes.bits();
  const hamming::JoinEstimate estimate = dispatch_code_type(bits, [&]<typename Code>(Code) {
    return hamming::estimate(codes_of<Code>(file), make_hamming_options(options), static_cast<bool>(files.pairs),
                             context.engines(), context.budget);
  });
  // Bytes per second, measured on an ordinary disk.
  constexpr double kWriteBytesPerSecond = 500e6;
  const bool kept = static_cast<bool>(files.pairs);
  const std::uint64_t rows = codes.rows();
  const double pairs = options.collapsed ? estimate.collapsed : estimate.expanded;
  Plan out;
  out.lines = {
      {"codes", fmt::format("{} of {} bits ({} different)", group_digits(rows), bits, group_digits(estimate.nodes))},
      {"pairs", fmt::format("{} within {} bits, {} of different codes", describe_count(estimate.expanded),
                            options.radius, describe_count(estimate.collapsed))},
      {"method", estimate.why}};
  out.figures = {{"codes", rows},
                 {"bits", bits},
                 {"nodes", estimate.nodes},
                 {"pairs", round_count(estimate.expanded)},
                 {"collapsed_pairs", round_count(estimate.collapsed)},
                 {"why", estimate.why}};
  if (!estimate.where.empty()) {
    out.lines.push_back({"device", estimate.where});
    out.figures["where"] = estimate.where;
  }
  if (kept) {
    const Bytes written = file_bytes(round_count(pairs), kPairRowBytes);
    out.lines.push_back({"output", "about " + format_bytes(written)});
    out.figures["output_bytes"] = written.count;
  }
  out.threads = context.executor.threads();
  out.memory = estimate_memory(estimate, rows, kept, options, context.budget);
  out.allowed = context.budget.limit();
  if (estimate.seconds) {
    out.seconds = *estimate.seconds + (kept ? pairs * static_cast<double>(kPairRowBytes) / kWriteBytesPerSecond : 0);
  }
  return out;
}

}  // namespace millrace::join
