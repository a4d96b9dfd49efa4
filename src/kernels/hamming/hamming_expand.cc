// Rows are expanded in order; for each, the rows after it in its node and in the nodes near it, sorted. Rows are taken
// in windows of bounded size, processed in parallel and passed to the sink in order.
#include <algorithm>
#include <optional>

#include "src/kernels/hamming/hamming_nodes.h"

namespace millrace::hamming {
namespace {

// Entries that the rows of a window may have together before it is passed on (8 bytes each). A single row of a dense
// group may have more and makes a window by itself.
constexpr std::size_t kWindow = std::size_t{1} << 18;

struct Near {
  std::uint32_t node, distance;
};

struct Partner {
  std::uint32_t row, distance;
};

// Expands rows with themselves; or, where `first_rows` is the number of rows of side a, those with the others behind
// them. Then no node is on both sides, and rows of one node are no pairs.
class Expansion {
 public:
  Expansion(const CodeNodes& nodes, const Buffer<HammingPair>& pairs, const Executor& executor, Budget& budget,
            std::size_t first_rows = 0)
      : nodes_(nodes),
        pairs_(pairs),
        executor_(executor),
        self_(first_rows == 0),
        end_(self_ ? nodes.of_row.size() : first_rows) {
    memory_ =
        budget.reserve(expand_bytes(nodes_.of_row.size(), nodes_.count, pairs_.size()), "expanding nodes to rows");
    group_rows();
    link_nodes();
  }

  void run(const PairSink& sink) {
    const std::size_t rows = end_;
    std::vector<std::uint64_t> ends;
    for (std::size_t row = 0; row < rows;) {
      std::size_t end = row;
      std::uint64_t most = 0;
      ends.clear();
      // A window is rows whose lists fit together; lists of one node differ only in where they begin.
      do {
        most += entries_[nodes_.of_row[end]];
        ends.push_back(most);
        ++end;
      } while (end < rows && most + entries_[nodes_.of_row[end]] <= kWindow);
      if (most > 0) window(row, ends, sink);
      row = end;
      throw_if_cancelled(executor_);
    }
    flush(sink);
  }

 private:
  void group_rows() {
    const std::size_t rows = nodes_.of_row.size();
    row_starts_.resize(std::size_t{nodes_.count} + 2);
    rows_.resize(rows);
    std::fill(row_starts_.begin(), row_starts_.end(), 0);
    for (const std::uint32_t node : nodes_.of_row.span()) ++row_starts_[node + 2];
    for (std::size_t node = 2; node < row_starts_.size(); ++node) row_starts_[node] += row_starts_[node - 1];
    for (std::size_t row = 0; row < rows; ++row) {
      rows_[row_starts_[nodes_.of_row[row] + 1]++] = static_cast<std::uint32_t>(row);
    }
  }

  void link_nodes() {
    near_starts_.resize(std::size_t{nodes_.count} + 2);
    near_.resize(2 * pairs_.size());
    std::fill(near_starts_.begin(), near_starts_.end(), 0);
    for (const HammingPair& pair : pairs_.span()) {
      ++near_starts_[pair.i + 2];
      ++near_starts_[pair.j + 2];
    }
    for (std::size_t node = 2; node < near_starts_.size(); ++node) near_starts_[node] += near_starts_[node - 1];
    for (const HammingPair& pair : pairs_.span()) {
      near_[near_starts_[pair.i + 1]++] = {pair.j, pair.distance};
      near_[near_starts_[pair.j + 1]++] = {pair.i, pair.distance};
    }
    entries_.resize(nodes_.count);
    for (std::uint32_t node = 0; node < nodes_.count; ++node) {
      std::uint32_t total = self_ ? node_size(node) - 1 : 0;
      for (std::size_t at = near_starts_[node]; at < near_starts_[node + 1]; ++at) total += node_size(near_[at].node);
      entries_[node] = total;
    }
  }

  std::uint32_t node_size(std::uint32_t node) const { return row_starts_[node + 1] - row_starts_[node]; }

  // Lists the rows behind `after` of a node and of the nodes near it, sorted by row.
  void list(std::uint32_t node, std::uint32_t after, std::vector<Partner>& out) const {
    out.clear();
    const auto add = [&](std::uint32_t member, std::uint32_t distance) {
      const std::uint32_t* const begin = rows_.data() + row_starts_[member];
      const std::uint32_t* const end = rows_.data() + row_starts_[member + 1];
      for (const std::uint32_t* at = std::upper_bound(begin, end, after); at != end; ++at) {
        out.push_back({*at, distance});
      }
    };
    if (self_) add(node, 0);
    for (std::size_t at = near_starts_[node]; at < near_starts_[node + 1]; ++at)
      add(near_[at].node, near_[at].distance);
    if (near_starts_[node] == near_starts_[node + 1]) return;
    std::sort(out.begin(), out.end(), [](const Partner& x, const Partner& y) { return x.row < y.row; });
  }

  void window(std::size_t first, std::span<const std::uint64_t> ends, const PairSink& sink) {
    // Large lists are kept for the next row of the same node, because dense groups of equal codes spend most time on
    // them.
    constexpr std::uint32_t kLarge = 1024;
    if (ends.size() == 1 || ends.back() < 4096) {
      for (std::size_t at = 0; at < ends.size(); ++at) row_alone(static_cast<std::uint32_t>(first + at), sink);
      return;
    }
    partners_.resize(kWindow);
    found_.resize(ends.size());
    executor_.parallel_for(
        ends.size(), std::max<std::size_t>(1, ends.size() / 32), [&](std::size_t from, std::size_t to) {
          std::vector<Partner> partners;
          std::uint32_t kept = ~std::uint32_t{0};
          for (std::size_t at = from; at < to; ++at) {
            const auto row = static_cast<std::uint32_t>(first + at);
            const std::uint32_t node = nodes_.of_row[row];
            if (node != kept || entries_[node] < kLarge) list(node, row, partners);
            kept = node;
            const auto begin = std::upper_bound(partners.begin(), partners.end(), row,
                                                [](std::uint32_t r, const Partner& p) { return r < p.row; });
            std::copy(begin, partners.end(), partners_.begin() + (at == 0 ? 0 : ends[at - 1]));
            found_[at] = static_cast<std::uint32_t>(partners.end() - begin);
          }
        });
    throw_if_cancelled(executor_);
    for (std::size_t at = 0; at < ends.size(); ++at) {
      const Partner* const begin = partners_.begin() + (at == 0 ? 0 : ends[at - 1]);
      emit(static_cast<std::uint32_t>(first + at), {begin, found_[at]}, sink);
    }
  }

  void row_alone(std::uint32_t row, const PairSink& sink) {
    const std::uint32_t node = nodes_.of_row[row];
    if (entries_[node] == 0) return;
    if (node != alone_node_) list(node, row, alone_);
    alone_node_ = node;
    const auto begin = std::upper_bound(alone_.begin(), alone_.end(), row,
                                        [](std::uint32_t r, const Partner& p) { return r < p.row; });
    emit(row, {begin, alone_.end()}, sink);
  }

  void emit(std::uint32_t row, std::span<const Partner> partners, const PairSink& sink) {
    for (const Partner& partner : partners) {
      block_.push_back({row, partner.row, partner.distance});
      if (block_.size() == kBlock) flush(sink);
    }
  }

  void flush(const PairSink& sink) {
    if (!block_.empty()) sink(block_);
    block_.clear();
  }

  const CodeNodes& nodes_;
  const Buffer<HammingPair>& pairs_;
  const Executor& executor_;
  const bool self_;
  const std::size_t end_;  // rows before it are first rows of pairs
  Reservation memory_;
  Buffer<std::uint32_t> row_starts_, rows_;
  Buffer<std::uint64_t> near_starts_;
  Buffer<Near> near_;
  Buffer<std::uint32_t> entries_;
  Buffer<Partner> partners_;
  Buffer<std::uint32_t> found_;
  std::vector<Partner> alone_;
  std::uint32_t alone_node_ = ~std::uint32_t{0};
  std::vector<HammingPair> block_;
};

constexpr std::uint32_t kNone = ~std::uint32_t{0}, kOnce = kNone - 1, kMet = kNone - 2;

// Rows of one side whose node has pairs, and their nodes, numbered anew from `first` on in the order they had.
struct Few {
  // `numbers` holds kMet for the nodes that have pairs; afterwards it holds their numbers.
  Few(const CodeNodes& nodes, std::span<std::uint32_t> numbers, std::uint32_t first, Budget& budget) {
    std::uint32_t next = first;
    for (std::uint32_t& one : numbers) one = one == kMet ? next++ : kNone;
    count = next - first;
    std::size_t met = 0;
    for (const std::uint32_t node : nodes.of_row.span()) met += numbers[node] != kNone ? 1 : 0;
    memory = budget.reserve({8 * std::uint64_t{met}}, "rows that have pairs");
    rows.resize(met);
    of_row.resize(met);
    std::size_t at = 0;
    for (std::size_t row = 0; row < nodes.of_row.size(); ++row) {
      const std::uint32_t node = numbers[nodes.of_row[row]];
      if (node == kNone) continue;
      rows[at] = static_cast<std::uint32_t>(row);
      of_row[at++] = node;
    }
  }
  Reservation memory;
  Buffer<std::uint32_t> rows, of_row;
  std::uint32_t count = 0;
};

void mark_large_nodes(const CodeNodes& nodes, std::span<std::uint32_t> numbers) {
  for (const std::uint32_t node : nodes.of_row.span()) numbers[node] = numbers[node] == kNone ? kOnce : kMet;
}

}  // namespace

Bytes expand_bytes(std::uint64_t rows, std::uint64_t nodes, std::uint64_t pairs) {
  return {4 * rows + 20 * nodes + 16 * pairs + 16 * (kWindow + rows)};
}

void expand(const JoinResult& joined, const Executor& executor, Budget& budget, const PairSink& sink) {
  Expansion(joined.nodes, joined.pairs.list, executor, budget).run(sink);
}

void expand_few(const CodeNodes& a, const CodeNodes* b, HammingPairs pairs, std::span<std::uint32_t> numbers_of_a,
                std::span<std::uint32_t> numbers_of_b, const Executor& executor, Budget& budget, const PairSink& sink) {
  const std::span<HammingPair> all = pairs.list.span();
  const bool self = b == nullptr;
  const std::span<std::uint32_t> of_i = numbers_of_a.first(a.count), of_j = self ? of_i : numbers_of_b.first(b->count);
  std::fill(of_i.begin(), of_i.end(), kNone);
  std::fill(of_j.begin(), of_j.end(), kNone);
  if (self) mark_large_nodes(a, of_i);
  for (const HammingPair& pair : all) of_i[pair.i] = of_j[pair.j] = kMet;
  const Few few_a(a, of_i, 0, budget);
  std::optional<Few> few_b;
  if (!self) few_b.emplace(*b, of_j, few_a.count, budget);
  for (HammingPair& pair : all) {
    pair.i = of_i[pair.i];
    pair.j = of_j[pair.j];
  }
  const std::size_t first_rows = few_a.rows.size(), second_rows = self ? 0 : few_b->rows.size();
  if (first_rows == 0) return;
  CodeNodes both;
  both.count = few_a.count + (self ? 0 : few_b->count);
  both.memory = budget.reserve({4 * std::uint64_t{first_rows + second_rows}}, "nodes of rows that have pairs");
  both.of_row.resize(first_rows + second_rows);
  std::copy_n(few_a.of_row.data(), first_rows, both.of_row.data());
  if (!self) std::copy_n(few_b->of_row.data(), second_rows, both.of_row.data() + first_rows);
  std::vector<HammingPair> rows;
  Expansion(both, pairs.list, executor, budget, self ? 0 : first_rows).run([&](std::span<const HammingPair> block) {
    rows.assign(block.begin(), block.end());
    for (HammingPair& pair : rows) {
      pair.i = few_a.rows[pair.i];
      pair.j = self ? few_a.rows[pair.j] : few_b->rows[pair.j - first_rows];
    }
    sink(rows);
  });
}

}  // namespace millrace::hamming
