#include "src/jobs/join/block_join.h"

#include <fmt/format.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "src/base/json.h"
#include "src/base/mutex.h"
#include "src/base/parse_values.h"
#include "src/base/paths.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/kernels/hamming/hamming_blocks.h"
#include "src/pipeline/checkpoint/checkpoint.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::join {
namespace {

constexpr const char* kBlockAttribute = "block";
constexpr const char* kOutOfMemoryRemedy =
    "use a smaller --block (give another output, or remove its OUTPUT.shards), a smaller --radius, or more --memory";

// Returns the rows per block of an existing or unfinished output; nothing if there is no such output.
std::optional<std::uint64_t> read_block_size(const std::string& output) {
  for (const std::string& file :
       {RunFolder(output).path(RunFolder::kRunFile), join_path(output, RunFolder::kRunFile)}) {
    const auto there = read_json_attributes(file);
    const auto is_mark = [](const auto& entry) { return entry.first == kMark; };
    if (!there || std::none_of(there->begin(), there->end(), is_mark)) continue;
    for (const auto& [name, value] : *there) {
      std::uint64_t rows = 0;
      if (name == kBlockAttribute && read_number(value, rows) && rows > 0) return rows;
    }
  }
  return std::nullopt;
}

// Sizes of the samples of codes. A sample must show how codes are joined and, roughly, how near they are to each other.
constexpr std::uint64_t kSample = std::uint64_t{1} << 18, kPlanSample = std::uint64_t{1} << 22;

// Returns the size of a sample, smaller if memory is short: the sample is itself joined.
template <typename Code>
std::uint64_t choose_sample_size(std::uint64_t rows, const RunContext& context) {
  return std::clamp<std::uint64_t>(context.budget.limit().count / (32 * sizeof(Code)), 64, rows);
}

// Density of pairs, estimated from a sample.
struct Density {
  double collapsed = 0, expanded = 0;  // matching pairs of nodes or rows, as fractions of all pairs of rows
};
template <typename Code>
Density estimate_density(std::span<const Code> sample, const Options& options, RunContext& context) {
  const double n = static_cast<double>(sample.size()), all = n * (n - 1) / 2;
  if (sample.size() < 2) return {};
  const hamming::Options wanted = make_hamming_options(options);
  // Joins that would take longer are estimated instead of counted.
  constexpr double kCountedSeconds = 2;
  const hamming::JoinEstimate current = hamming::estimate(sample, wanted, false, {context.executor}, context.budget);
  if (current.seconds.value_or(0) > kCountedSeconds) return {current.collapsed / all, current.expanded / all};
  const hamming::JoinResult found = hamming::count(sample, wanted, {context.executor}, context.budget);
  return {static_cast<double>(found.collapsed) / all, static_cast<double>(found.expanded) / all};
}

// Returns the memory for the pairs of two blocks while they are expanded to rows: 12 bytes per pair, and 60 for its
// output.
Bytes estimate_pair_bytes(const Density& density, std::uint64_t each) {
  return {round_count(72 * density.collapsed * static_cast<double>(each) * static_cast<double>(each))};
}

// Chooses the requested block size, else that of an existing output. Else there are as few blocks as fit into memory,
// and enough tasks for all runs that share them.
template <typename Code>
BlockLayout choose_blocks(const CodeFile& codes, const Options& options, RunContext& context) {
  BlockLayout out{codes.rows(), std::max<std::uint64_t>(1, options.block.value_or(0))};
  if (options.block.value_or(0) > 0) return out;
  if (!options.output.empty()) {
    if (const auto there = read_block_size(options.output)) {
      out.each = *there;
      return out;
    }
  }
  const ReservedBuffer<Code> sample = codes.template sample<Code>(choose_sample_size<Code>(kSample, context), context);
  const Density density = estimate_density<Code>(sample.span(), options, context);
  const std::uint64_t limit = context.budget.limit().count;
  for (std::uint64_t count = 1;; ++count) {
    out.each = std::max<std::uint64_t>(1, (codes.rows() + count - 1) / count);
    if (out.each == 1) return out;
    if (options.share && out.tasks() < 2 * options.share.of) continue;
    const Bytes blocks =
        hamming::block_cost(sample.span(), out.each, make_hamming_options(options), context.executor).memory;
    const Bytes pairs = options.output.empty() ? Bytes{} : estimate_pair_bytes(density, out.each);
    const std::uint64_t room = limit - limit / 64, needed = blocks.count + pairs.count;
    if (needed <= room) return out;
    // Skips numbers of blocks that cannot fit: the memory falls at most with the square of their number.
    const double fewest =
        static_cast<double>(count) * std::sqrt(static_cast<double>(needed) / static_cast<double>(room));
    count = std::max(count, static_cast<std::uint64_t>(fewest) - 1);
  }
}

BlockLayout choose_valid_blocks(const CodeFile& codes, const Options& options, RunContext& context) {
  if (codes.rows() >= 0xFFFFFFFFu) {
    throw Failure(ErrorCode::too_large,
                  fmt::format("too many codes ({}; the limit is 4,294,967,294)", group_digits(codes.rows())),
                  codes.path(), "split the file");
  }
  const BlockLayout out = dispatch_code_type(
      codes.bits(), [&]<typename Code>(Code) { return choose_blocks<Code>(codes, options, context); });
  if (out.tasks() > kMaxShards) {
    throw Failure(
        ErrorCode::usage,
        fmt::format("too many blocks ({} blocks of {} rows)", group_digits(out.count()), group_digits(out.each)),
        "--block", options.block.value_or(0) > 0 ? "use a larger --block" : "allow more --memory");
  }
  return out;
}

// Progress of one task, weighted by its comparisons: its rows times how often they are compared.
class TaskProgress {
 public:
  TaskProgress(Progress& progress, std::uint64_t weight) : progress_(progress), weight_(weight) {}
  void add_comparisons(std::uint64_t more, std::uint64_t all) {
    const MutexLock lock(mutex_);
    seen_ += more;
    report_share(std::min(1.0, static_cast<double>(seen_) / static_cast<double>(std::max<std::uint64_t>(1, all))));
  }
  void end() {
    const MutexLock lock(mutex_);
    report_share(1);
  }

 private:
  void report_share(double share) MILLRACE_REQUIRES(mutex_) {
    const auto now = static_cast<std::uint64_t>(static_cast<double>(weight_) * share);
    if (now > reported_) progress_.add(now - reported_);
    reported_ = std::max(reported_, now);
  }
  Progress& progress_;
  const std::uint64_t weight_;
  Mutex mutex_;
  std::uint64_t seen_ MILLRACE_GUARDED_BY(mutex_) = 0, reported_ MILLRACE_GUARDED_BY(mutex_) = 0;
};

std::uint64_t weight_of(const BlockLayout& blocks, std::uint64_t k) {
  const auto [a, b] = blocks.task(k);
  return (blocks.end(a) - blocks.begin(a)) * (a == b ? 1 : 2);
}

template <typename Code>
class BlockJoin {
 public:
  BlockJoin(const CodeFile& codes, const BlockLayout& blocks, const Options& options, RunContext& context)
      : codes_(codes),
        blocks_(blocks),
        wanted_(make_hamming_options(options)),
        context_(context),
        pair_(context.engines(), context.budget) {}

  // Joins the blocks of a task. Passes pairs of rows of the file, sorted, to `sink`, unless it is null. Returns their
  // number.
  std::uint64_t task(std::uint64_t k, Progress& progress, const hamming::PairSink& sink) {
    const auto [a, b] = blocks_.task(k);
    TaskProgress current(progress, weight_of(blocks_, k));
    wanted_.progress = [&](std::uint64_t more, std::uint64_t all) { current.add_comparisons(more, all); };
    hamming::BlockJoinResult joined;
    try {
      if (held_ != a) pair_.set_first(size(a), make_block_reader(a));
      held_ = a;
      if (a != b) pair_.set_second(size(b), make_block_reader(b));
      const Span span(context_.trace.stage("join", 1, "a smaller --radius, or more threads"));
      const hamming::PairSink to = sink ? make_offset_sink(a, b, sink) : hamming::PairSink();
      joined = a == b ? pair_.join_first(wanted_, to) : pair_.join_both(wanted_, to);
    } catch (const OutOfMemory& failure) {
      const Error& error = failure.error();
      throw OutOfMemory(error.code, error.what, error.subject,
                        fmt::format("{}; --block is {} rows now", kOutOfMemoryRemedy, group_digits(blocks_.each)));
    }
    current.end();
#ifdef __GLIBC__
    // The lists of pairs lie in the heaps of all threads, and malloc keeps freed memory there.
    ::malloc_trim(0);
#endif
    last_ = std::move(joined);
    return last_.pairs;
  }
  // Returns how the last task was joined.
  const hamming::BlockJoinResult& last_result() const { return last_; }

 private:
  typename hamming::BlockPair<Code>::Read make_block_reader(std::uint64_t block) const {
    return [this, block](std::span<Code> rows) {
      const Span span(context_.trace.stage("read", 1, "a faster disk"));
      codes_.read(blocks_.begin(block), rows, context_);
    };
  }
  std::uint64_t size(std::uint64_t block) const { return blocks_.end(block) - blocks_.begin(block); }
  // Returns a sink that converts row numbers in two blocks to row numbers of the file.
  hamming::PairSink make_offset_sink(std::uint64_t a, std::uint64_t b, const hamming::PairSink& sink) {
    return [this, &sink, i = static_cast<std::uint32_t>(blocks_.begin(a)),
            j = static_cast<std::uint32_t>(blocks_.begin(b))](std::span<const hamming::HammingPair> pairs) {
      rows_.assign(pairs.begin(), pairs.end());
      for (hamming::HammingPair& pair : rows_) {
        pair.i += i;
        pair.j += j;
      }
      sink(rows_);
    };
  }

  const CodeFile& codes_;
  const BlockLayout blocks_;
  hamming::Options wanted_;
  RunContext& context_;
  hamming::BlockPair<Code> pair_;
  std::optional<std::uint64_t> held_;  // the block loaded as the first side; consecutive tasks share it
  std::vector<hamming::HammingPair> rows_;
  hamming::BlockJoinResult last_;
};

CheckpointSpec make_checkpoint_spec(const CodeFile& codes, const BlockLayout& blocks, const Options& options,
                                    RunContext& context) {
  CheckpointSpec out;
  out.check_cancelled = [&context] { context.throw_if_cancelled(); };
  out.output = options.output;
  out.store = StoreKind::folder;
  out.dataset.unit = "tasks";
  out.dataset.rows = blocks.tasks();
  out.dataset.arrays = {{.name = "pairs", .rows = ArraySpec::Rows::texts, .type = kUint8, .extension = "pairs"}};
  out.dataset.attributes = {{kMark, "1"},
                            {"radius", std::to_string(options.radius)},
                            {kBlockAttribute, std::to_string(blocks.each)},
                            {"inputs", Json::array({{{"path", replace_invalid_utf8(codes.path())},
                                                     {"codes", codes.rows()},
                                                     {"bits", codes.bits()},
                                                     {"contents", codes.identity(context)}}})
                                           .dump()}};
  out.each = 1;
  out.mark = kMark;
  out.share = options.share;
  return out;
}

template <typename Code>
std::uint64_t store(BlockJoin<Code>& join, const BlockLayout& blocks, Checkpoint& checkpoint, Progress& progress,
                    RunContext& context) {
  std::uint64_t tasks = 0;
  while (const auto task = checkpoint.next()) {
    const std::uint64_t k = task->part;
    context.throw_if_cancelled();
    if (task->taken) {
      checkpoint.take(k);
      progress.add(weight_of(blocks, k));
      continue;
    }
    RowBlock block;
    block.clear(1);
    // Creates the file even if the task has no pairs.
    checkpoint.append(k, block);
    join.task(k, progress, [&](std::span<const hamming::HammingPair> pairs) {
      context.throw_if_cancelled();
      block.clear(1);
      append_pair_rows(pairs, block.arrays[0].bytes);
      checkpoint.append(k, block);
    });
    checkpoint.end(k);
    ++tasks;
  }
  checkpoint.wait();
  return tasks;
}

std::uint64_t count_pairs(const std::string& output) {
  return npy::read_header(join_path(output, "pairs.npy")).or_throw().items();
}

}  // namespace

std::pair<std::uint64_t, std::uint64_t> BlockLayout::task(std::uint64_t k) const {
  std::uint64_t a = 0;
  for (std::uint64_t in_row = count(); k >= in_row; --in_row, ++a) k -= in_row;
  return {a, a + k};
}

JoinSummary run_block_join(const Options& options, RunContext& context) {
  const Stopwatch watch;
  check_radius(options);
  const CodeFile codes(options.codes);
  const BlockLayout blocks = choose_valid_blocks(codes, options, context);
  JoinSummary result;
  result.rows = codes.rows();
  result.bits = codes.bits();
  result.block = blocks.each;
  result.blocks = blocks.count();
  result.tasks = blocks.tasks();
  std::optional<Checkpoint> checkpoint;
  if (!options.output.empty()) checkpoint.emplace(make_checkpoint_spec(codes, blocks, options, context));
  result.already_complete = checkpoint && checkpoint->finished();
  const Stopwatch join_watch;
  if (!result.already_complete) {
    std::uint64_t all = 0;
    for (std::uint64_t k = 0; k < blocks.tasks(); ++k) all += options.share.has_shard(k) ? weight_of(blocks, k) : 0;
    Progress progress(context.progress, "joining blocks", all);
    dispatch_code_type(codes.bits(), [&]<typename Code>(Code) {
      BlockJoin<Code> join(codes, blocks, options, context);
      if (checkpoint) {
        result.tasks_done = store(join, blocks, *checkpoint, progress, context);
      } else {
        for (std::uint64_t k = 0; k < blocks.tasks(); ++k) {
          context.throw_if_cancelled();
          result.pairs += join.task(k, progress, {});
          ++result.tasks_done;
        }
      }
      if (result.tasks_done > 0) {
        result.algorithm = hamming::name_of(join.last_result().used);
        result.why = join.last_result().why;
      }
    });
  }
  result.join_seconds = join_watch.seconds();
  if (checkpoint) {
    if (!result.already_complete) {
      const Span span(context.trace.stage("merge", 1, "a faster disk"));
      result.published = checkpoint->publish([&] { context.throw_if_cancelled(); });
      result.missing = checkpoint->missing();
    }
    if (result.published) result.pairs = count_pairs(options.output);
  }
  result.seconds = watch.seconds();
  return result;
}

Plan plan_block_join(const Options& options, RunContext& context) {
  check_radius(options);
  const CodeFile codes(options.codes);
  const BlockLayout blocks = choose_valid_blocks(codes, options, context);
  std::uint64_t own = 0, own_selfs = 0;
  for (std::uint64_t k = 0; k < blocks.tasks(); ++k) {
    if (!options.share.has_shard(k)) continue;
    ++own;
    const auto [a, b] = blocks.task(k);
    own_selfs += a == b ? 1 : 0;
  }
  hamming::BlockCost cost;
  Density density;
  dispatch_code_type(codes.bits(), [&]<typename Code>(Code) {
    const ReservedBuffer<Code> sample =
        codes.template sample<Code>(choose_sample_size<Code>(kPlanSample, context), context);
    cost = hamming::block_cost(sample.span(), std::min(blocks.each, codes.rows()), make_hamming_options(options),
                               context.executor);
    density = estimate_density<Code>(sample.span(), options, context);
  });
  const double rows = static_cast<double>(codes.rows()), pairs = density.expanded * rows * (rows - 1) / 2;
  constexpr double kReadBytesPerSecond = 1e9;
  const double share = static_cast<double>(own) / static_cast<double>(std::max<std::uint64_t>(1, blocks.tasks()));
  Plan out;
  out.lines = {
      {"codes", fmt::format("{} of {} bits", group_digits(codes.rows()), codes.bits())},
      {"pairs", fmt::format("{} within {} bits", describe_count(pairs), options.radius)},
      {"blocks", fmt::format("{} of {} rows", group_digits(blocks.count()), group_digits(blocks.each))},
      {"tasks", fmt::format("{}, of which this run makes {}", group_digits(blocks.tasks()), group_digits(own))}};
  out.figures = {{"codes", codes.rows()}, {"bits", codes.bits()},     {"pairs", round_count(pairs)},
                 {"block", blocks.each},  {"blocks", blocks.count()}, {"tasks", blocks.tasks()},
                 {"part_tasks", own}};
  if (!options.output.empty()) {
    const Bytes written{round_count(pairs * 9)};
    out.lines.push_back(
        {"output", fmt::format("about {}, and twice that until the shards are merged", format_bytes(written))});
    out.figures["output_bytes"] = written.count;
  }
  out.threads = context.executor.threads();
  out.memory = {
      {"the program itself", 16_MiB},
      {"two blocks", cost.memory},
      {"pairs", options.output.empty() ? Bytes{} : estimate_pair_bytes(density, std::min(blocks.each, codes.rows()))}};
  out.allowed = context.budget.limit();
  const double bytes = codes.bits() * 0.125 * static_cast<double>(std::min(blocks.each, codes.rows()));
  // Overhead of a task: reading, collapsing, and a file that is written under one name and renamed.
  constexpr double kTaskSeconds = 5e-3;
  out.seconds = static_cast<double>(own_selfs) * cost.first_seconds +
                static_cast<double>(own - own_selfs) * cost.both_seconds +
                (static_cast<double>(own) + share * static_cast<double>(blocks.count())) * bytes / kReadBytesPerSecond +
                static_cast<double>(own) * kTaskSeconds + share * pairs * 100e-9 / context.executor.threads();
  return out;
}

}  // namespace millrace::join
