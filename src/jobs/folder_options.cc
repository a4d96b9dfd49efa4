#include "src/jobs/folder_options.h"

namespace millrace {

void describe(Settings& settings, LinkOptions& options) {
  settings.add_switch("follow-symlinks", "follow symbolic links inside folders", options.follow_symlinks);
  settings.add_switch("cross-file-systems", "follow symbolic links to other file systems too",
                      options.cross_file_systems);
}

void describe(Settings& settings, FolderOptions& options) {
  settings.add_list("exclude", "GLOB", "skip files and folders that match; repeatable", options.exclude);
  settings.add_switch("hidden", "include files and folders whose names begin with a dot", options.hidden);
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
