// Input: an output whose rows are shards of lines, and a function that makes the lines of a shard.
// Output: the whole output, or this run's shards of it.
// Never: makes two shards at once: each one uses all threads.
#pragma once

#include <functional>
#include <string>

#include "src/pipeline/checkpoint/stored_lines.h"

namespace millrace::dedupe {

// Stores the shards; each row of the dataset is one shard of the output.
StoredLines store_shards(const CheckpointSpec& spec, const std::function<std::string(std::uint64_t)>& lines_of,
                         RunContext& context);

}  // namespace millrace::dedupe
