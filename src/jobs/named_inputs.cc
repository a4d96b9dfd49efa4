#include "src/jobs/named_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "src/base/paths.h"
#include "src/base/text.h"

namespace millrace {
namespace {

std::filesystem::path normal_form(const std::string& path) { return std::filesystem::path(path).lexically_normal(); }

// Returns the named paths in a form that can be compared: normalized, and without a trailing slash.
std::set<std::string> roots_of(const std::vector<std::string>& named) {
  std::set<std::string> out;
  for (const std::string& each : named) {
    std::string normal = normal_form(each).string();
    while (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
    out.insert(std::move(normal));
  }
  return out;
}

std::string make_relative_path(const std::string& path, const std::set<std::string>& roots) {
  const std::filesystem::path normal = normal_form(path);
  for (std::filesystem::path folder = normal.parent_path();; folder = folder.parent_path()) {
    if (roots.contains(folder.empty() ? "." : folder.string())) {
      std::string relative_path = normal.lexically_relative(folder.empty() ? "." : folder).string();
      if (!relative_path.starts_with("..")) return relative_path;
    }
    if (folder.empty() || folder == folder.parent_path()) return normal.filename().string();
  }
}

// Refuses an input whose folder has the name of another input's results: "a.mp4.shards/b.mp4" beside "a.mp4".
void refuse_folders_named_as_results(const std::map<std::string, std::string>& names, const InputRules& rules) {
  for (const auto& [name, path] : names) {
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      for (const std::string& of : rules.inputs_of_result(name.substr(0, slash))) {
        const auto other = names.find(of);
        if (other == names.end()) continue;
        throw Failure(
            ErrorCode::usage,
            fmt::format("its folder has the same name as the results of '{}'", escape_unprintable(other->second)),
            escape_unprintable(path), "give each its own output");
      }
    }
  }
}

}  // namespace

NamedInputs find_inputs(const std::vector<std::string>& named, const std::string& output, const FolderOptions& options,
                        const InputRules& rules, const RunContext& context) {
  WalkResult found = find_files(named, options, context);
  NamedInputs out;
  out.unreadable = std::move(found.unreadable);
  out.links = found.links.size();
  const auto top = real_path(output);
  const std::set<std::string> roots = roots_of(named), by_name(named.begin(), named.end());
  std::map<std::string, std::string> names;
  bool are_results = false;
  for (FileEntry& file : found.files) {
    const bool was_named = by_name.contains(file.path);
    if (!was_named && !rules.accepts(file)) continue;
    if (const auto real = real_path(file.path); top && real && is_inside(*real, *top)) {
      are_results = true;
      if (was_named)
        out.unreadable.push_back(
            {ErrorCode::conflict, "it is inside the results folder", file.path, "use another results folder"});
      continue;
    }
    NamedInput one;
    one.relative_path = make_relative_path(file.path, roots);
    one.name = rules.name ? rules.name(one.relative_path) : one.relative_path;
    if (std::any_of(rules.reserved.begin(), rules.reserved.end(),
                    [&](const std::string& own) { return one.name.starts_with(own + "/"); })) {
      out.unreadable.push_back({ErrorCode::conflict, "its results would be mixed with this job's own files", file.path,
                                "rename its folder"});
      continue;
    }
    const auto [at, fresh] = names.emplace(one.name, file.path);
    if (!fresh) {
      throw Failure(ErrorCode::usage,
                    fmt::format("the results of '{}' and '{}' would have the same name", escape_unprintable(at->second),
                                escape_unprintable(file.path)),
                    rules.argument, "name a folder that contains both, or give each its own output");
    }
    one.file = std::move(file);
    out.inputs.push_back(std::move(one));
  }
  if (are_results && out.inputs.empty() && out.unreadable.empty()) {
    throw Failure(ErrorCode::conflict, "all inputs are inside the results folder", output,
                  "use another results folder");
  }
  if (rules.inputs_of_result) refuse_folders_named_as_results(names, rules);
  return out;
}

}  // namespace millrace
