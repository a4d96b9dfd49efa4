#include "src/jobs/join/code_file.h"

#include <fmt/format.h>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "src/base/text.h"
#include "src/io/file/file_reader.h"
#include "src/io/file/positional_io.h"

namespace millrace::join {

int code_bits(ElementType type, std::size_t axes, std::uint64_t last) {
  if (type == kUint64 && axes == 1) return 64;
  if (type == kUint8 && axes == 2 && (last == 8 || last == 32)) return static_cast<int>(8 * last);
  return 0;
}

namespace {

Descriptor open_file(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

}  // namespace

CodeFile::CodeFile(std::string path) : path_(std::move(path)), file_(open_file(path_)) {
  // If the file cannot be opened, reading the header throws the reason.
  header_ = npy::read_header(path_).or_throw();
  const auto state = state_of_descriptor(file_.get()), now = state_of_descriptor(open_file(path_).get());
  if (!state || !now || !now->same(*state)) {
    throw Failure(ErrorCode::conflict, "it was changed while it was opened", path_, "run the same command again");
  }
  state_ = *state;
  if (header_.is_plain()) {
    bits_ = code_bits(header_.fields[0].type, header_.shape.size(), header_.shape.empty() ? 0 : header_.shape.back());
  }
  if (bits_ == 0) {
    throw Failure(ErrorCode::unsupported, fmt::format("it contains {}, which are not codes", header_.words()), path_,
                  "save codes as uint64 [n], uint8 [n, 8] or uint8 [n, 32]");
  }
  rows_ = header_.shape.front();
}

npy::Array CodeFile::read(RunContext& context) const {
  const Span span(context.trace.stage("read"));
  return npy::Array::read(path_, context.budget, [&] { return context.cancel.cancelled(); });
}

// Reads `piece` codes at a time; `position_of(k)` is the first row of the kth such range.
template <typename Code, typename Position>
void CodeFile::read_ranges(std::span<Code> out, std::size_t piece, std::size_t grain, const Position& position_of,
                           RunContext& context) const {
  std::atomic<int> failed{-1};
  context.executor.parallel_for((out.size() + piece - 1) / piece, grain, [&](std::size_t from, std::size_t to) {
    for (std::size_t k = from; k < to && failed < 0 && !context.cancel.cancelled(); ++k) {
      const std::size_t at = k * piece;
      const auto bytes = std::as_writable_bytes(out.subspan(at, std::min(piece, out.size() - at)));
      errno = 0;
      if (read_at(file_.get(), header_.data_offset + position_of(k) * sizeof(Code), bytes) != bytes.size())
        failed = errno;
    }
  });
  context.throw_if_cancelled();
  if (failed > 0) throw Failure(system_error("it cannot be read", path_, failed));
  throw_if_changed();
}

template <typename Code>
void CodeFile::read(std::uint64_t begin, std::span<Code> out, RunContext& context) const {
  constexpr std::size_t kAtOnce = (std::size_t{16} << 20) / sizeof(Code);
  read_ranges(
      out, kAtOnce, 1, [&](std::size_t k) { return begin + k * kAtOnce; }, context);
}

void CodeFile::throw_if_changed() const {
  const auto now = state_of_descriptor(file_.get());
  if (now && now->has_same_size_and_time(state_)) return;
  throw Failure(ErrorCode::conflict, "it was changed during the run", path_,
                "remove OUTPUT.shards if there is one, and run the same command again");
}

template <typename Code>
ReservedBuffer<Code> CodeFile::sample(std::uint64_t most, RunContext& context) const {
  ReservedBuffer<Code> out(context.budget, std::min(most, rows_), "a sample of the codes");
  const double step = static_cast<double>(rows_) / static_cast<double>(std::max<std::size_t>(1, out.size()));
  constexpr std::size_t kReadsPerTask = 4096;
  read_ranges(
      out.span(), 1, kReadsPerTask,
      [&](std::size_t k) { return static_cast<std::uint64_t>(static_cast<double>(k) * step); }, context);
  return out;
}

std::string CodeFile::identity(RunContext& context) const {
  const Span span(context.trace.stage("read", 1, "a faster disk"));
  // Hashes the very file that is open, by a duplicate descriptor. All other reads use offsets, and do not move its
  // position.
  const auto file = FileReader::make(Descriptor(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0)), path_).or_throw();
  file->set_cancelled([&] { return context.cancel.cancelled(); });
  const ContentHash hash = file->finish_hash().or_throw();
  throw_if_changed();
  return hex_of_bytes(hash);
}

template void CodeFile::read(std::uint64_t, std::span<std::uint64_t>, RunContext&) const;
template void CodeFile::read(std::uint64_t, std::span<hamming::Code256>, RunContext&) const;
template ReservedBuffer<std::uint64_t> CodeFile::sample(std::uint64_t, RunContext&) const;
template ReservedBuffer<hamming::Code256> CodeFile::sample(std::uint64_t, RunContext&) const;

}  // namespace millrace::join
