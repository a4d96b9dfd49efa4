// Input: the operation on a file, and the journal's id.
// Output: the names that the operation uses; and whether a journal's record uses exactly these.
// Never: accesses a disk, except in resolve_folder().
//
// A journal is untrusted: every path in it that is acted upon is computed again from the file's old path, and compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/jobs/dedupe/apply/journal.h"

namespace millrace::dedupe {

// True for 16 hexadecimal digits, optionally followed by a dash and the number of a later journal of the same
// decisions.
bool is_journal_id(std::string_view text);
// True for an absolute path without empty, "." or ".." parts and without zero bytes.
bool is_plain_path(std::string_view path);

// Returns the folder's real path. If the folder does not exist, returns the path as it is, without trailing slashes.
std::string resolve_folder(const std::string& folder);
// Returns the hidden folder of a journal beside a file. If another folder has that name, callers append "-2" and so on.
std::string set_aside_folder(const std::string& path, const std::string& id);
// Returns the temporary name of an operation; empty if it needs none.
std::string temporary_name(Action action, const std::string& path, const std::string& to, const std::string& id,
                           std::uint64_t number);

// Return the sidecar beside a kept picture that receives the metadata of removed files, and its temporary name.
std::string merged_sidecar_path(const std::string& picture);
std::string temporary_sidecar_path(const std::string& picture, const std::string& id, std::uint64_t number);

// True for a folder that a run with this journal makes. A move by an earlier version does not record its destination;
// then only folders count into which a file was moved.
bool is_made_by(const std::string& folder, const Journal& journal);

// Returns why this program cannot have written the journal, in words that follow "it"; nullopt if it could have.
std::optional<std::string> explain_foreign_journal(const Journal& journal);

}  // namespace millrace::dedupe
