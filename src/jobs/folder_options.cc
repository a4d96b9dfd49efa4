#include "src/jobs/folder_options.h"

namespace millrace {

void describe(Settings& settings, LinkOptions& options) {
  settings.add_switch("follow-symlinks", "also what symbolic links inside a folder point to", options.follow_symlinks);
  settings.add_switch("cross-file-systems", "follow symbolic links to other file systems than those of the folders too",
                      options.cross_file_systems);
}

void describe(Settings& settings, FolderOptions& options) {
  settings.add_list("exclude", "GLOB", "leave out files and folders that match", options.exclude);
  settings.add_switch("hidden", "also files and folders whose name begins with a dot", options.hidden);
  describe(settings, options.links);
}

WalkResult find_files(const std::vector<std::string>& roots, const FolderOptions& options, const RunContext& context) {
  WalkOptions walking;
  walking.exclude = options.exclude;
  walking.exclude.emplace_back(".millrace-*");
  walking.hidden = options.hidden;
  options.links.put_into(walking);
  walking.cancelled = [&] { return context.cancel.cancelled(); };
  return walk(roots, walking);
}

}  // namespace millrace
