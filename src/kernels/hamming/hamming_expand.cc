// Rows in order; for each, the rows after it in its node and in the nodes near it, sorted. Rows are
// taken in windows of bounded size, worked out in parallel and handed to the sink in order.
#include <algorithm>
#include <numeric>

#include "src/kernels/hamming/hamming_nodes.h"

namespace millrace::hamming {
namespace {

// Entries that the rows of a window may have together before it is handed out (8 bytes each); a
// single row of a crowd may have more and makes a window by itself.
constexpr std::size_t kWindow = std::size_t{1} << 18;

struct Near {
  std::uint32_t node, distance;
};

struct Partner {
  std::uint32_t row, distance;
};

class Expansion {
 public:
  Expansion(const Joined& joined, const Executor& executor, Budget& budget)
      : nodes_(joined.nodes), pairs_(joined.pairs.list), executor_(executor) {
    const std::uint64_t rows = nodes_.of_row.size(), count = nodes_.count;
    memory_ =
        budget.reserve({4 * rows + 20 * count + 16 * pairs_.size() + 16 * (kWindow + rows)}, "expanding nodes to rows");
    group_rows();
    link_nodes();
  }

  void run(const PairSink& sink) {
    const std::size_t rows = nodes_.of_row.size();
    std::vector<std::uint64_t> ends;
    for (std::size_t row = 0; row < rows;) {
      std::size_t end = row;
      std::uint64_t most = 0;
      ends.clear();
      // A window is rows whose lists fit together; lists of one node are the same up to where they
      // begin.
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
    for (const Pair& pair : pairs_.span()) {
      ++near_starts_[pair.i + 2];
      ++near_starts_[pair.j + 2];
    }
    for (std::size_t node = 2; node < near_starts_.size(); ++node) near_starts_[node] += near_starts_[node - 1];
    for (const Pair& pair : pairs_.span()) {
      near_[near_starts_[pair.i + 1]++] = {pair.j, pair.distance};
      near_[near_starts_[pair.j + 1]++] = {pair.i, pair.distance};
    }
    entries_.resize(nodes_.count);
    for (std::uint32_t node = 0; node < nodes_.count; ++node) {
      std::uint32_t total = node_size(node);
      for (std::size_t at = near_starts_[node]; at < near_starts_[node + 1]; ++at) total += node_size(near_[at].node);
      entries_[node] = total - 1;
    }
  }

  std::uint32_t node_size(std::uint32_t node) const { return row_starts_[node + 1] - row_starts_[node]; }

  // The rows of a node and of those near it, sorted by row.
  void list(std::uint32_t node, std::uint32_t after, std::vector<Partner>& out) const {
    out.clear();
    const auto add = [&](std::uint32_t member, std::uint32_t distance) {
      const std::uint32_t* const begin = rows_.data() + row_starts_[member];
      const std::uint32_t* const end = rows_.data() + row_starts_[member + 1];
      for (const std::uint32_t* at = std::upper_bound(begin, end, after); at != end; ++at) {
        out.push_back({*at, distance});
      }
    };
    add(node, 0);
    for (std::size_t at = near_starts_[node]; at < near_starts_[node + 1]; ++at)
      add(near_[at].node, near_[at].distance);
    if (near_starts_[node] == near_starts_[node + 1]) return;
    std::sort(out.begin(), out.end(), [](const Partner& x, const Partner& y) { return x.row < y.row; });
  }

  void window(std::size_t first, std::span<const std::uint64_t> ends, const PairSink& sink) {
    // Large lists are kept for the next row of the same node, which is where crowds of equal codes
    // spend their time.
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

  const Nodes& nodes_;
  const Buffer<Pair>& pairs_;
  const Executor& executor_;
  Reservation memory_;
  Buffer<std::uint32_t> row_starts_, rows_;
  Buffer<std::uint64_t> near_starts_;
  Buffer<Near> near_;
  Buffer<std::uint32_t> entries_;
  Buffer<Partner> partners_;
  Buffer<std::uint32_t> found_;
  std::vector<Partner> alone_;
  std::uint32_t alone_node_ = ~std::uint32_t{0};
  std::vector<Pair> block_;
};

}  // namespace

void expand(const Joined& joined, const Executor& executor, Budget& budget, const PairSink& sink) {
  Expansion(joined, executor, budget).run(sink);
}

}  // namespace millrace::hamming
