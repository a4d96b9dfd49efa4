#include "src/kernels/contours/contours.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace millrace {

void find_runs(std::span<const std::uint8_t> labels, std::vector<LabelRun>& out) {
  out.clear();
  for (std::size_t j = 0; j < labels.size();) {
    const std::size_t begin = j;
    while (j < labels.size() && labels[j] == labels[begin]) ++j;
    out.push_back({labels[begin], static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(j)});
  }
}

template <typename T>
std::uint32_t ContourTracer::Pool<T>::take() {
  if (!free.empty()) {
    const std::uint32_t k = free.back();
    free.pop_back();
    items[k] = T{};
    return k;
  }
  items.emplace_back();
  return static_cast<std::uint32_t>(items.size() - 1);
}

ContourTracer::ContourTracer(const Labels& outlined, std::size_t max_corners, std::function<void(const Outline&)> emit)
    : emit_(std::move(emit)), max_corners_(max_corners) {
  for (std::size_t label = 0; label < outlined.size(); ++label)
    if (outlined[label]) labels_.push_back(static_cast<std::uint8_t>(label));
}

void ContourTracer::add_row(std::span<const LabelRun> runs) {
  if (is_cut_) cuts_.push_back(row_);
  is_cut_ = false;
  for (const LabelRun& run : runs) below_[run.label].push_back({run.begin, run.end});
  for (const std::uint8_t label : labels_) meet(label);
  for (auto& below : below_) below.clear();
  ++row_;
  if (nodes_.used() <= max_corners_) return;
  for (const std::uint8_t label : labels_) meet(label);
  is_cut_ = true;
}

std::uint64_t ContourTracer::bytes(std::size_t max_corners, std::uint64_t width) {
  // A row brings no more than four corners a pixel. Pools grow by doubling, beside their old memory. A line that is
  // emitted exists once more, and sorted.
  constexpr std::uint64_t kOfCorner = 3 * sizeof(Node) + 2 * sizeof(Corner) + sizeof(std::uint64_t);
  return (max_corners + 4 * width) * kOfCorner;
}

void ContourTracer::finish() {
  for (const std::uint8_t label : labels_) meet(label);
}

// Processes the line between the row above, whose runs have open ends, and the row below.
void ContourTracer::meet(std::uint8_t label) {
  std::vector<Run>&above = above_[label], &below = below_[label];
  if (above.empty() && below.empty()) return;
  find_parts(label);
  points_.clear();
  const auto add = [&](const std::vector<Run>& runs, bool is_below) {
    for (std::uint32_t k = 0; k < runs.size(); ++k) {
      points_.push_back({runs[k].begin, is_below, false, k});
      points_.push_back({runs[k].end, is_below, true, k});
    }
  };
  add(above, false);
  const auto middle = static_cast<std::ptrdiff_t>(points_.size());
  add(below, true);
  // Runs of which one ends where another begins touch at a corner, and stay apart.
  std::inplace_merge(points_.begin(), points_.begin() + middle, points_.end(),
                     [](const Point& a, const Point& b) { return a.x != b.x ? a.x < b.x : a.is_end && !b.is_end; });
  const Point* open = nullptr;
  for (std::size_t k = 0; k < points_.size(); ++k) {
    const Point& point = points_[k];
    if (k + 1 < points_.size() && points_[k + 1].x == point.x && points_[k + 1].is_end == point.is_end) {
      // The line goes straight on: the point of the row above is the first of the two.
      Run &from = above[point.run], &to = below[points_[k + 1].run];
      (point.is_end ? to.right : to.left) = point.is_end ? from.right : from.left;
      ++k;
      continue;
    }
    if (open == nullptr) {
      open = &point;
      continue;
    }
    const bool arrives = open->below != open->is_end;
    join(arrives ? *open : point, arrives ? point : *open, label);
    open = nullptr;
  }
  for (Run& run : below) run.part = root(run.part);
  for (const Run& run : above) {
    const std::uint32_t part = root(run.part);
    if (parts_[part].seen == row_ + 1 || parts_[part].first_ring == kNone) continue;
    emit(part);
    emitted_.push_back(part);
  }
  for (const std::uint32_t part : united_) parts_.give(part);
  for (const std::uint32_t part : emitted_) parts_.give(part);
  united_.clear();
  emitted_.clear();
  above.clear();
  std::swap(above, below);
}

void ContourTracer::find_parts(std::uint8_t label) {
  const std::vector<Run>& above = above_[label];
  std::size_t k = 0;
  for (Run& run : below_[label]) {
    while (k < above.size() && above[k].end <= run.begin) ++k;
    for (std::size_t i = k; i < above.size() && above[i].begin < run.end; ++i) {
      if (run.part == kNone) {
        run.part = root(above[i].part);
      } else {
        unite(root(run.part), root(above[i].part));
      }
    }
    if (run.part == kNone) {
      run.part = parts_.take();
      parts_[run.part].parent = run.part;
      parts_[run.part].label = label;
    }
    parts_[root(run.part)].seen = row_ + 1;
  }
}

std::uint32_t ContourTracer::corner(std::uint32_t x, std::uint32_t next) {
  const std::uint32_t out = nodes_.take();
  nodes_[out] = {{x, row_}, next};
  return out;
}

// Lines have the outlined area on their right: they go up at a run's beginning, and down at its end.
void ContourTracer::join(const Point& arriving, const Point& leaving, std::uint8_t label) {
  std::vector<Run>&above = above_[label], &below = below_[label];
  if (!leaving.below) {
    const std::uint32_t to = above[leaving.run].left;
    const std::uint32_t node = corner(leaving.x, ends_[to].node);
    const std::uint32_t first = corner(arriving.x, node);
    if (arriving.below) {
      ends_[to].node = first;
      below[arriving.run].left = to;
      return;
    }
    const std::uint32_t from = above[arriving.run].right;
    nodes_[ends_[from].node].next = first;
    if (ends_[from].other == to) {
      close_ring(first, root(above[arriving.run].part));
    } else {
      const std::uint32_t begin = ends_[from].other, end = ends_[to].other;
      ends_[begin].other = end;
      ends_[end].other = begin;
    }
    ends_.give(from);
    ends_.give(to);
    return;
  }
  const std::uint32_t last = corner(leaving.x);
  const std::uint32_t node = corner(arriving.x, last);
  if (!arriving.below) {
    const std::uint32_t from = above[arriving.run].right;
    nodes_[ends_[from].node].next = node;
    ends_[from].node = last;
    below[leaving.run].right = from;
    return;
  }
  const std::uint32_t begin = ends_.take(), end = ends_.take();
  ends_[begin] = {node, end};
  ends_[end] = {last, begin};
  below[arriving.run].left = begin;
  below[leaving.run].right = end;
}

std::uint32_t ContourTracer::root(std::uint32_t part) {
  while (parts_[part].parent != part) part = parts_[part].parent = parts_[parts_[part].parent].parent;
  return part;
}

void ContourTracer::unite(std::uint32_t into, std::uint32_t part) {
  if (into == part) return;
  Part &to = parts_[into], &from = parts_[part];
  from.parent = into;
  if (from.first_ring != kNone) {
    if (to.first_ring == kNone) {
      to.first_ring = from.first_ring;
    } else {
      rings_[to.last_ring].next = from.first_ring;
    }
    to.last_ring = from.last_ring;
  }
  united_.push_back(part);
}

void ContourTracer::close_ring(std::uint32_t node, std::uint32_t part) {
  const std::uint32_t ring = rings_.take();
  rings_[ring].node = node;
  Part& of = parts_[part];
  if (of.first_ring == kNone) {
    of.first_ring = ring;
  } else {
    rings_[of.last_ring].next = ring;
  }
  of.last_ring = ring;
}

// A line that comes to the same corner twice is two rings that touch there.
void ContourTracer::add_rings(std::uint32_t node, Outline& out) {
  const auto key = [](const Corner& corner) { return std::uint64_t{corner.y} << 32 | corner.x; };
  std::vector<Corner> line;
  std::uint32_t at = node;
  do {
    line.push_back(nodes_[at].at);
    nodes_.give(std::exchange(at, nodes_[at].next));
  } while (at != node);
  std::vector<std::uint64_t> sorted(line.size());
  std::transform(line.begin(), line.end(), sorted.begin(), key);
  std::sort(sorted.begin(), sorted.end());
  // Positions in the ring of corners that the line comes to twice: where each came first.
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::size_t k = 1; k < sorted.size(); ++k)
    if (sorted[k] == sorted[k - 1]) places.emplace(sorted[k], kNone);
  if (places.empty()) {
    out.rings.push_back(std::move(line));
    return;
  }
  std::vector<Corner> ring;
  for (const Corner& corner : line) {
    const auto place = places.find(key(corner));
    if (place != places.end()) {
      if (place->second != kNone) {
        const auto from = ring.begin() + static_cast<std::ptrdiff_t>(place->second);
        for (auto each = from; each != ring.end(); ++each)
          if (const auto other = places.find(key(*each)); other != places.end()) other->second = kNone;
        out.rings.emplace_back(from, ring.end());
        ring.erase(from, ring.end());
      }
      place->second = ring.size();
    }
    ring.push_back(corner);
  }
  out.rings.push_back(std::move(ring));
}

void ContourTracer::emit(std::uint32_t part) {
  Outline out;
  out.label = parts_[part].label;
  for (std::uint32_t ring = parts_[part].first_ring; ring != kNone;) {
    add_rings(rings_[ring].node, out);
    const std::uint32_t next = rings_[ring].next;
    rings_.give(ring);
    ring = next;
  }
  parts_[part].first_ring = kNone;
  // Holes have the opposite direction.
  const auto is_outside = [](const std::vector<Corner>& ring) {
    std::int64_t twice = 0;
    for (std::size_t k = 0; k < ring.size(); ++k) {
      const Corner &a = ring[k], &b = ring[(k + 1) % ring.size()];
      twice += std::int64_t{a.x} * b.y - std::int64_t{b.x} * a.y;
    }
    return twice > 0;
  };
  std::stable_partition(out.rings.begin(), out.rings.end(), is_outside);
  emit_(out);
}

}  // namespace millrace
