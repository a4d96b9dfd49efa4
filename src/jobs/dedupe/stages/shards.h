// Input: an output whose rows are shards of lines, and how the lines of a shard are made.
// Output: the output, or this run's shards of it.
// Never: makes two shards at once: what makes one takes all threads.
#pragma once

#include <functional>
#include <string>

#include "src/pipeline/checkpoint/stored_lines.h"

namespace millrace::dedupe {

// A row of the dataset is a shard, and a part of the output.
StoredLines store_shards(const CheckpointSpec& spec, const std::function<std::string(std::uint64_t)>& lines_of,
                         RunContext& context);

}  // namespace millrace::dedupe
