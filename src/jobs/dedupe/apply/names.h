// Input: what is done with a file, and the journal's id.
// Output: the names that the operation uses; and whether a journal's record uses just these.
// Never: looks at a disk, but for canonical().
//
// A journal is data: every path in it that is acted upon is made again from where the file was, and compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/jobs/dedupe/apply/journal.h"

namespace millrace::dedupe {

// 16 hexadecimal digits, and behind a dash the number of a later journal of the same decisions.
bool is_journal_id(std::string_view text);
// Absolute, with no empty, "." or ".." part and no byte 0.
bool is_plain_path(std::string_view path);

// The folder's real path; the path as it is, without slashes at its end, when the folder is not there.
std::string canonical(const std::string& folder);
// The hidden folder of a journal beside a file; another one of that name makes it "-2" and so on.
std::string set_aside_folder(const std::string& path, const std::string& id);
// The name that an operation uses in between; empty where it needs none.
std::string temporary_name(Action action, const std::string& path, const std::string& to, const std::string& id,
                           std::uint64_t number);

// The sidecar in which the knowledge of what goes is written down beside what stays, and its name while it is written.
std::string merged_sidecar(const std::string& picture);
std::string temporary_sidecar(const std::string& picture, const std::string& id, std::uint64_t number);

// A folder that a run with this journal makes. Of a move by an earlier version, whose journal does not tell where to,
// only one that a file went into.
bool is_made_by(const std::string& folder, const Journal& journal);

// What this program did not write: why, in words that follow "it". Nothing for a journal that it could have written.
std::optional<std::string> why_not_ours(const Journal& journal);

}  // namespace millrace::dedupe
