// Implements include/millrace/hamming.h with the same functions as the program.
#include <fmt/format.h>

#include <cstring>

#include "include/millrace/hamming.h"
#include "src/device/cpu/machine.h"
#include "src/jobs/join/options.h"
#include "src/jobs/join/run.h"

namespace millrace {
namespace {

struct CallersCodes {
  int bits = 0;
  std::size_t rows = 0;
  const void* data = nullptr;
  Buffer<std::uint64_t> aligned_copy;  // aligned copy, if the caller's codes are not aligned
  Reservation reservation;             // for the copy

  template <typename Code>
  std::span<const Code> as() const {
    return {static_cast<const Code*>(data), rows};
  }
};

CallersCodes check_codes(const ArrayView& view, const char* name, Budget& budget) {
  CallersCodes out;
  out.bits = join::code_bits(view.type, view.shape.size(),
                             view.shape.empty() ? 0 : static_cast<std::uint64_t>(view.shape.back()));
  if (out.bits == 0 || view.shape[0] < 0 || !view.contiguous() || view.memory == MemoryKind::device ||
      (view.data == nullptr && view.shape[0] > 0)) {
    throw Failure(
        ErrorCode::usage,
        fmt::format("found {} [{}]; expected uint64 [n], uint8 [n, 8] or uint8 [n, 32], contiguous and in host memory",
                    name_of(view.type), fmt::join(view.shape, ", ")),
        name, "");
  }
  out.rows = static_cast<std::size_t>(view.shape[0]);
  out.data = view.data;
  if (reinterpret_cast<std::uintptr_t>(view.data) % alignof(std::uint64_t) != 0) {
    const std::size_t bytes = out.rows * static_cast<std::size_t>(out.bits) / 8;
    out.reservation = budget.reserve(Bytes{bytes}, "an aligned copy of the codes");
    out.aligned_copy.resize(bytes / sizeof(std::uint64_t));
    std::memcpy(out.aligned_copy.data(), view.data, bytes);
    out.data = out.aligned_copy.data();
  }
  return out;
}

hamming::Options parse_join_options(const JoinOptions& options, int bits) {
  if (options.radius < 0 || options.radius >= bits) {
    throw Failure(ErrorCode::usage, fmt::format("expected 0 to {}, less than the bits of a code", bits - 1),
                  fmt::format("radius, {}", options.radius), "");
  }
  for (const auto& choice : hamming::choices_of(hamming::Algorithm{})) {
    if (options.algorithm == choice.name) return {options.radius, choice.value, {}};
  }
  throw Failure(ErrorCode::usage, "expected auto, brute or index", fmt::format("algorithm, '{}'", options.algorithm),
                "");
}

Budget make_budget(const JoinOptions& options) {
  return Budget(options.memory > 0 ? Bytes{options.memory} : default_memory_limit(describe_machine()));
}

void send_pairs(std::span<const hamming::HammingPair> pairs, std::uint64_t all, const CodePairSink& sink) {
  static_assert(sizeof(hamming::HammingPair) == sizeof(CodePair));
  sink({reinterpret_cast<const CodePair*>(pairs.data()), pairs.size()}, all);
}

}  // namespace

void join_codes(const ArrayView& codes, const JoinOptions& options, const CodePairSink& sink) {
  Budget budget = make_budget(options);
  const CallersCodes held = check_codes(codes, "codes", budget);
  const hamming::Options wanted = parse_join_options(options, held.bits);
  const Executor executor(options.threads, options.cancel);
  join::dispatch_code_type(held.bits, [&]<typename Code>(Code) {
    const hamming::JoinResult joined =
        join::self_join(held.as<Code>(), wanted, {executor}, budget, "use a smaller radius, or allow more memory");
    if (joined.expanded == 0) return send_pairs({}, 0, sink);
    hamming::expand(joined, executor, budget,
                    [&](std::span<const hamming::HammingPair> block) { send_pairs(block, joined.expanded, sink); });
  });
  executor.throw_if_cancelled("nothing was kept");
}

void search_codes(const ArrayView& queries, const ArrayView& base, const JoinOptions& options,
                  const CodePairSink& sink) {
  Budget budget = make_budget(options);
  const CallersCodes wanted = check_codes(queries, "queries", budget), held = check_codes(base, "base", budget);
  if (wanted.bits != held.bits) {
    throw Failure(ErrorCode::usage, "codes of equal length are expected",
                  fmt::format("queries of {} and base of {} bits", wanted.bits, held.bits), "");
  }
  const hamming::Options how = parse_join_options(options, held.bits);
  const Executor executor(options.threads, options.cancel);
  join::dispatch_code_type(held.bits, [&]<typename Code>(Code) {
    const hamming::CodeSearchResult found =
        hamming::search(wanted.as<Code>(), held.as<Code>(), how, {executor}, budget);
    const auto pairs = found.pairs.list.span();
    send_pairs({pairs.data(), pairs.size()}, pairs.size(), sink);
  });
  executor.throw_if_cancelled("nothing was kept");
}

}  // namespace millrace
