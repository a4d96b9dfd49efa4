#include "src/jobs/join/run.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "src/io/tensor/npy.h"
#include "src/kernels/hamming/hamming.h"

namespace millrace::join {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

hamming::Algorithm algorithm_of(const std::string& name) {
  for (const auto algorithm : {hamming::Algorithm::automatic, hamming::Algorithm::brute, hamming::Algorithm::index}) {
    if (name == hamming::name_of(algorithm)) return algorithm;
  }
  throw Failure(ErrorCode::usage, fmt::format("'{}' is not an algorithm", name), "algorithm",
                "use auto, brute or index");
}

// Bits of a code in this file; Failure when it holds no codes.
int bits_of(const npy::Header& header, const std::string& path) {
  if (header.plain()) {
    const npy::Type type = header.fields[0].type;
    const auto& shape = header.shape;
    if (type == npy::Type{'u', 8} && shape.size() == 1) return 64;
    if (type == npy::Type{'u', 1} && shape.size() == 2 && shape[1] == 8) return 64;
    if (type == npy::Type{'u', 1} && shape.size() == 2 && shape[1] == 32) return 256;
  }
  throw Failure(ErrorCode::unsupported, fmt::format("it holds {}, which are not codes", header.words()), path,
                "save codes as uint64 [n], uint8 [n, 8] or uint8 [n, 32]");
}

// The file's bytes as codes: in place where they are aligned, which they are in all files that
// NumPy has written since 2014, else copied.
template <typename Code>
class Codes {
 public:
  Codes(std::span<const std::byte> bytes, Budget& budget) {
    const std::size_t count = bytes.size() / sizeof(Code);
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Code) == 0) {
      codes_ = {reinterpret_cast<const Code*>(bytes.data()), count};
      return;
    }
    memory_ = budget.reserve({bytes.size()}, "codes");
    copy_.resize(count);
    std::memcpy(copy_.data(), bytes.data(), bytes.size());
    codes_ = copy_.span();
  }
  std::span<const Code> span() const { return codes_; }

 private:
  Reservation memory_;
  Buffer<Code> copy_;
  std::span<const Code> codes_;
};

constexpr std::size_t kPairBytes = 9;

const std::vector<npy::Field>& pair_fields() {
  static const std::vector<npy::Field> fields = {{"i", {'u', 4}}, {"j", {'u', 4}}, {"distance", {'u', 1}}};
  return fields;
}

// Pairs in the file's 9 bytes a row.
class PairFile {
 public:
  PairFile(const Output& output, std::uint64_t count) : writer_(output, pair_fields(), {count}) {}

  void append(std::span<const hamming::Pair> pairs) {
    rows_.resize(pairs.size() * kPairBytes);
    std::byte* out = rows_.data();
    for (const hamming::Pair& pair : pairs) {
      std::memcpy(out, &pair.i, 4);
      std::memcpy(out + 4, &pair.j, 4);
      // Only opposite codes of 256 bits are 256 bits apart, and then the radius was 256, which
      // run() refuses.
      out[8] = static_cast<std::byte>(pair.distance);
      out += kPairBytes;
    }
    writer_.append(rows_);
  }
  npy::Writer& writer() { return writer_; }

 private:
  npy::Writer writer_;
  std::vector<std::byte> rows_;
};

void write_collapsed(const hamming::Joined& joined, const Files& files, const Executor& executor, Result& result) {
  const std::span<const std::uint32_t> nodes = joined.nodes.of_row.span();
  npy::Writer node_file(files.nodes, {{"", {'u', 4}}}, {nodes.size()});
  node_file.append(std::as_bytes(nodes));
  PairFile pairs(files.pairs, joined.pairs.list.size());
  const std::span<const hamming::Pair> all = joined.pairs.list.span();
  for (std::size_t at = 0; at < all.size(); at += hamming::kBlock) {
    if (executor.cancelled()) throw Failure(ErrorCode::cancelled, "the join was cancelled");
    pairs.append(all.subspan(at, std::min(hamming::kBlock, all.size() - at)));
  }
  // Both are on disk before either has its name.
  node_file.sync();
  pairs.writer().sync();
  node_file.finish();
  pairs.writer().finish();
  result.nodes_file = files.nodes.path();
}

template <typename Code>
void join_codes(const npy::Mapped& file, const Options& options, const Files& files, const Executor& executor,
                Budget& budget, Result& result) {
  const Codes<Code> codes(file.data(), budget);
  const auto begin = Clock::now();
  const hamming::Joined joined = hamming::self_join(
      codes.span(), {static_cast<int>(options.radius), algorithm_of(options.algorithm)}, executor, budget);
  result.join_seconds = since(begin);
  result.rows = codes.span().size();
  result.nodes = joined.nodes.count;
  result.pairs = joined.expanded;
  result.collapsed_pairs = joined.pairs.list.size();
  result.algorithm = hamming::name_of(joined.used);
  result.why = joined.why;
  const double rows = static_cast<double>(result.rows);
  if (result.join_seconds > 0) {
    result.rows_per_second = rows / result.join_seconds;
    result.pairs_per_second = rows * (rows - 1) / 2 / result.join_seconds;
  }
  if (!files.pairs) return;
  if (options.collapsed) {
    write_collapsed(joined, files, executor, result);
  } else {
    PairFile pairs(files.pairs, joined.expanded);
    hamming::expand(joined, executor, budget, [&](std::span<const hamming::Pair> block) { pairs.append(block); });
    pairs.writer().finish();
  }
  result.pairs_file = files.pairs.path();
}

}  // namespace

std::string nodes_path(const std::string& pairs_path) {
  const std::string_view extension = ".npy";
  std::string stem = pairs_path;
  if (stem.ends_with(extension)) stem.resize(stem.size() - extension.size());
  return stem + ".nodes.npy";
}

Result run(const Options& options, const Files& files, const Executor& executor, Budget& budget) {
  const auto begin = Clock::now();
  if (options.radius < 0) throw Failure(ErrorCode::usage, "it must be given, 0 or more", "--radius", "try --radius 5");
  // A distance is one byte in the file.
  if (options.radius > 255) throw Failure(ErrorCode::usage, "it is at most 255", "--radius");
  const npy::Mapped file = npy::Mapped::open(options.codes).or_throw();
  Result result;
  result.bits = bits_of(file.header(), options.codes);
  if (result.bits == 64) {
    join_codes<std::uint64_t>(file, options, files, executor, budget, result);
  } else {
    join_codes<hamming::Code256>(file, options, files, executor, budget, result);
  }
  result.seconds = since(begin);
  return result;
}

}  // namespace millrace::join
