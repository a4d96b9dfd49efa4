#include "src/jobs/join/code_file.h"

#include <fmt/format.h>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "src/base/text.h"
#include "src/io/file/at_offset.h"
#include "src/io/file/reader.h"
#include "src/io/file/relocate.h"

namespace millrace::join {

int code_bits(ElementType type, std::size_t axes, std::uint64_t last) {
  if (type == kUint64 && axes == 1) return 64;
  if (type == kUint8 && axes == 2 && (last == 8 || last == 32)) return static_cast<int>(8 * last);
  return 0;
}

CodeFile::CodeFile(std::string path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  // What it cannot be opened for is told by what reads the header.
  header_ = npy::read_header(path_).or_throw();
  const auto state = state_of_descriptor(file_.get());
  if (!state) throw Failure(system_error("it cannot be read", path_, errno));
  state_ = *state;
  if (header_.plain()) {
    bits_ = code_bits(header_.fields[0].type, header_.shape.size(), header_.shape.empty() ? 0 : header_.shape.back());
  }
  if (bits_ == 0) {
    throw Failure(ErrorCode::unsupported, fmt::format("it holds {}, which are not codes", header_.words()), path_,
                  "save codes as uint64 [n], uint8 [n, 8] or uint8 [n, 32]");
  }
  rows_ = header_.shape.front();
}

npy::Array CodeFile::read(RunContext& context) const {
  const Span span(context.trace.stage("read"));
  return npy::Array::read(path_, context.budget, [&] { return context.cancel.cancelled(); });
}

template <typename Code>
void CodeFile::read(std::uint64_t begin, std::span<Code> out, RunContext& context) const {
  std::atomic<int> failed{-1};
  constexpr std::size_t kAtOnce = (std::size_t{16} << 20) / sizeof(Code);
  context.executor.parallel_for(out.size(), kAtOnce, [&](std::size_t from, std::size_t to) {
    if (context.cancel.cancelled() || failed >= 0) return;
    errno = 0;
    const auto bytes = std::as_writable_bytes(out.subspan(from, to - from));
    if (read_at(file_.get(), header_.data_offset + (begin + from) * sizeof(Code), bytes) != bytes.size())
      failed = errno;
  });
  context.throw_if_cancelled();
  if (failed > 0) throw Failure(system_error("it cannot be read", path_, failed));
  throw_if_changed();
}

void CodeFile::throw_if_changed() const {
  const auto now = state_of(path_);
  if (now && now->same_inode(state_) && now->same_size_and_time(state_)) return;
  throw Failure(ErrorCode::conflict, "it was changed while it was worked at", path_,
                "run the same command again; where there is an OUTPUT.shards, remove that first");
}

template <typename Code>
PaidBuffer<Code> CodeFile::sample(std::uint64_t most, RunContext& context) const {
  PaidBuffer<Code> out(context.budget, std::min(most, rows_), "a sample of the codes");
  if (rows_ <= most) {
    read(0, out.span(), context);
    return out;
  }
  // What a page of the file holds is read with one row of it: so the file passes in pieces.
  const std::uint64_t bytes = std::min(std::uint64_t{16} << 20, context.budget.limit().count / 8);
  const std::uint64_t piece = std::max<std::uint64_t>(1, bytes / sizeof(Code));
  PaidBuffer<Code> rows(context.budget, std::min(piece, rows_), "codes to take a sample of");
  std::uint64_t taken = 0;
  const auto row_of = [&](std::uint64_t k) {
    return static_cast<std::uint64_t>(static_cast<double>(k) * static_cast<double>(rows_) / static_cast<double>(most));
  };
  for (std::uint64_t begin = 0; begin < rows_ && taken < most; begin += piece) {
    const std::uint64_t end = std::min(rows_, begin + piece);
    if (row_of(taken) >= end) continue;
    read(begin, rows.span().first(end - begin), context);
    for (; taken < most && row_of(taken) < end; ++taken) out.data()[taken] = rows.data()[row_of(taken) - begin];
  }
  return out;
}

std::string CodeFile::identity(RunContext& context) const {
  const Span span(context.trace.stage("read", 1, "a faster disk"));
  const ContentHash hash = hash_file(path_, Links::followed, [&] { return context.cancel.cancelled(); }).or_throw();
  throw_if_changed();
  return hex_of_bytes(hash);
}

template void CodeFile::read(std::uint64_t, std::span<std::uint64_t>, RunContext&) const;
template void CodeFile::read(std::uint64_t, std::span<hamming::Code256>, RunContext&) const;
template PaidBuffer<std::uint64_t> CodeFile::sample(std::uint64_t, RunContext&) const;
template PaidBuffer<hamming::Code256> CodeFile::sample(std::uint64_t, RunContext&) const;

}  // namespace millrace::join
