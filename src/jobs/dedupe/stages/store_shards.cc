#include "src/jobs/dedupe/stages/store_shards.h"

namespace millrace::dedupe {

StoredLines store_shards(const CheckpointSpec& spec, const std::function<std::string(std::uint64_t)>& lines_of,
                         RunContext& context) {
  Checkpoint checkpoint(spec);
  StoredLines out;
  out.rows = spec.dataset.rows;
  out.before = checkpoint.finished();
  RowBlock block;
  while (const auto task = out.before ? std::nullopt : checkpoint.next()) {
    context.throw_if_cancelled();
    if (task->taken) {
      checkpoint.take(task->part);
      continue;
    }
    const std::string lines = lines_of(task->part);
    context.throw_if_cancelled();  // the shard lacks what the work skipped
    block.clear(1);
    block.arrays[0].append_text(lines);
    block.rows = 1;
    checkpoint.append(task->part, block);
    checkpoint.end(task->part);
  }
  if (!out.before) publish(checkpoint, context, out);
  out.output_bytes = checkpoint.output_bytes();
  return out;
}

}  // namespace millrace::dedupe
