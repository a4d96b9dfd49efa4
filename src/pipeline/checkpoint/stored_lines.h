// Input: an output of lines, and a function that makes the line of a row.
// Output: the output, or this run's shards of it: every line complete and in the order of its row.
// Never: ends a shard that lacks a line because the run was cancelled.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/pipeline/chain.h"
#include "src/pipeline/checkpoint/checkpoint.h"
#include "src/pipeline/checkpoint/shard_rows.h"

namespace millrace {

template <typename Item>
struct LineWork {
  const char* progress;  // "hashing"
  const char* stage;     // "decode and hash"
  std::string remedy;    // advice if this stage takes longest
  Bytes memory_cost{};   // memory of an item in flight
  std::function<Item(std::uint64_t row, Span& span)> make;
  // Returns the line of an item. Called in the order of the rows, on one thread. nullopt if making it was interrupted.
  std::function<std::optional<std::string>(const Item&)> line;
  std::function<std::uint64_t(const Item&)> bytes;  // bytes that were read for it
};

struct StoredLines {
  bool before = false;  // it was complete already
  bool published = true;
  std::uint64_t rows = 0, parts = 0, output_bytes = 0;
  std::vector<std::uint64_t> missing;  // missing shards, if it was not published
};

// Publishes the output once all shards of this run are ended.
inline void publish(Checkpoint& checkpoint, RunContext& context, StoredLines& out) {
  checkpoint.wait();
  out.published = checkpoint.publish([&] { context.throw_if_cancelled(); });
  out.parts = checkpoint.parts().count();
  out.missing = checkpoint.missing();
}

template <typename Item>
StoredLines store_lines(CheckpointSpec spec, const LineWork<Item>& work, RunContext& context) {
  spec.check_cancelled = [&context] { context.throw_if_cancelled(); };
  Checkpoint checkpoint(spec);
  StoredLines out;
  out.rows = spec.dataset.rows;
  out.before = checkpoint.finished();
  if (!out.before) {
    Progress progress(context.progress, work.progress, out.rows);
    ShardRows rows(checkpoint);
    struct Made {
      ShardRow row;
      std::optional<Item> item;  // none for a shard that is there
    };
    RowBlock block;
    block.clear(1);
    bool interrupted = false;
    auto stages = chain::source<ShardRow>("list", [&] { return rows.next(); }) |
                  chain::parallel<ShardRow, Made>(
                      work.stage,
                      [&](const ShardRow& row, Span& span) {
                        return row.task.taken ? Made{row, {}} : Made{row, work.make(row.row, span)};
                      },
                      work.remedy) |
                  chain::sink<Made>("write", [&](const Made& made, Span&) {
                    const std::uint64_t k = made.row.task.part, end = checkpoint.parts().end(k);
                    if (!made.item) {
                      checkpoint.take(k);
                      return progress.add(end - checkpoint.parts().begin(k));
                    }
                    // Items after the interrupted one may be made, but their shard lacks its line.
                    const auto line = interrupted ? std::nullopt : work.line(*made.item);
                    interrupted = !line;
                    if (interrupted) return;
                    block.arrays[0].append_text(*line);
                    ++block.rows;
                    const bool last = made.row.row + 1 == end;
                    constexpr std::uint64_t kFlushBytes = 1 << 16;
                    if (last || block.bytes() >= kFlushBytes) {
                      checkpoint.append(k, block);
                      block.clear(1);
                    }
                    if (last) checkpoint.end(k);
                    progress.add(1, work.bytes(*made.item));
                  });
    chain::run(stages, context, chain::MemoryCost::fixed(work.memory_cost));
    context.helpers.end_idle();
    context.throw_if_cancelled();
    publish(checkpoint, context, out);
  }
  out.output_bytes = checkpoint.output_bytes();
  return out;
}

}  // namespace millrace
