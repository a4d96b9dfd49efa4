#include "src/jobs/dedupe/apply/known.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/relocate.h"
#include "src/jobs/dedupe/library.h"

namespace millrace::dedupe {

KnownFiles::KnownFiles(const std::string& catalog, Trust trust, std::vector<std::string> within,
                       const RunContext& context)
    : path_(catalog), within_(std::move(within)) {
  if (!exists(path_)) return;
  catalog_ = std::make_unique<Catalog>(path_, catalog_key(), access_for(context, trust));
}

bool KnownFiles::knows(const std::string& path, const Decision& decision) const {
  if (!catalog_) return false;
  const auto file = catalog_->file(path);
  return file && !file->failed && file->size == decision.size && file->mtime_ns == decision.mtime_ns &&
         file->content == decision.hash;
}

bool KnownFiles::is_within(const std::string& path) const {
  return std::any_of(within_.begin(), within_.end(), [&](const std::string& folder) { return inside(path, folder); });
}

std::string KnownFiles::reason() const {
  return fmt::format("the catalogue {} {}: name the search's own with --catalog, or the folder with --within",
                     printable(path_), catalog_ ? "does not know it as the decision has it" : "is not there");
}

}  // namespace millrace::dedupe
