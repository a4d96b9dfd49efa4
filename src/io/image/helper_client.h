// Enters: a file in a format whose codec we cannot fuzz clean.
// Leaves: its rows, decoded in a helper process; or the reason, which may be that the helper died of it.
// Never: retries a file that killed a helper.
#pragma once

#include "src/io/image/picture.h"

namespace millrace {

// Decodes in one of this process's helpers, starting one when none is idle. A helper that dies or hangs is replaced at
// the next call; the file's outcome then is Error(crashed).
Outcome<Decoded> decode_in_helper(FileReader& file, ImageFormat format, const DecodeOptions& options, RowSink& sink);

// Memory that each helper started from now on may allocate; 0 sets no limit. A codec that goes over it fails or dies.
void limit_helper_memory(Bytes limit);

// Ends the idle helpers. Called at the end of a job; helpers also end by themselves when this process does.
void stop_helpers();

// In words: CPU time, user and system, of all helpers that have ended.
std::string cost_of_sandbox();

}  // namespace millrace
