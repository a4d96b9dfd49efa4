#include "src/jobs/latents/latent_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/latents/group_table.h"

namespace millrace::latents {
namespace {

// Endings of a step's file name, in order of preference.
constexpr std::array<std::string_view, 6> kEndings = {".npy", ".npy.gz", ".pt", ".pt.gz", ".npz", ".safetensors"};
constexpr std::string_view kStepPrefix = "step_", kMetadata = "_metadata.json";

struct StepName {
  long long step = 0;
  std::string_view stem;   // "step_012"
  std::size_t ending = 0;  // index into kEndings; their number for a metadata file
};

// Parses a name such as "step_012.npy"; returns nothing for any other name.
std::optional<StepName> parse_step_name(std::string_view name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  StepName out;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + kStepPrefix.size(), last, out.step);
  if (error != std::errc() || out.step < 0 || out.step > kMaxStep) return std::nullopt;
  out.stem = name.substr(0, static_cast<std::size_t>(end - name.data()));
  const std::string_view rest = name.substr(out.stem.size());
  if (rest == kMetadata) {
    out.ending = kEndings.size();
    return out;
  }
  const auto found = std::find(kEndings.begin(), kEndings.end(), lower_ascii(rest));
  if (found == kEndings.end()) return std::nullopt;
  out.ending = static_cast<std::size_t>(found - kEndings.begin());
  return out;
}

// Folders and name of a file, from its path below the input folder. groups.csv may give another group.
struct LatentPath {
  std::vector<std::string> folders;  // GROUP, VIDEO; or VIDEO alone
  std::string name;
};
LatentPath parse_latent_path(std::string_view below) {
  LatentPath out;
  out.folders = split(below, '/');
  out.name = out.folders.back();
  out.folders.pop_back();
  if (out.folders.size() > 1 && out.folders.front() == "latents") out.folders.erase(out.folders.begin());
  return out;
}

// Tensors that are skipped for one reason.
struct SkippedFiles {
  std::size_t count = 0;
  std::string example;

  void add(const std::string& path) {
    if (++count == 1) example = path;
  }
  // Adds the warning "skipped 2 tensors not ..., for example PATH".
  void add_warning(const std::string& why, std::vector<std::string>& warnings) const {
    if (count == 0) return;
    warnings.push_back(fmt::format("skipped {} {}, for example {}",
                                   count == 1 ? "1 tensor" : group_digits(count) + " tensors", why,
                                   escape_unprintable(example)));
  }
};

// Keeps the first of several files of one step.
void keep_one_per_step(NamedLatents& out) {
  std::vector<NamedLatent> taken;
  SkippedFiles beside;
  for (NamedLatent& latent : out.latents) {
    if (taken.empty() || taken.back().group != latent.group || taken.back().video != latent.video ||
        taken.back().step != latent.step) {
      taken.push_back(std::move(latent));
      continue;
    }
    const auto stem = [](const NamedLatent& of) { return parse_step_name(file_name(of.file.path))->stem; };
    if (stem(taken.back()) == stem(latent) && taken.back().format != latent.format) {
      beside.add(latent.file.path);
      continue;
    }
    // Two names of one step, for example step_1.npy and step_001.npy.
    out.unusable.push_back({ErrorCode::bad_data,
                            fmt::format("step {} was already found in {}", latent.step,
                                        escape_unprintable(file_name(taken.back().file.path))),
                            escape_unprintable(latent.file.path), ""});
  }
  out.latents = std::move(taken);
  beside.add_warning("repeating a step in another format", out.warnings);
}

}  // namespace

NamedLatents list_latent_files(const LatentsJobOptions& options, RunContext& context) {
  const std::string& root = options.inputs.at(0);
  std::optional<GroupTable> table = GroupTable::find(root);
  WalkOptions how;
  how.cancelled = [&context] { return context.cancel.cancelled(); };
  options.links.put_into(how);
  how.each_link = true;
  WalkResult found = walk({root}, how);
  context.throw_if_cancelled();
  NamedLatents out;
  out.unusable = std::move(found.unreadable);
  // A user who names the inner folder may expect its parent's groups.csv to be read.
  const std::string above = join_path(join_path(root, ".."), kGroupsFile);
  struct stat info {};
  std::string_view inner = root;
  while (inner.ends_with('/')) inner.remove_suffix(1);
  if (!table && file_name(inner) == "latents" && ::lstat(above.c_str(), &info) == 0)
    out.warnings.push_back(escape_unprintable(above) + " is ignored; to use it, name the folder that contains it");
  std::set<std::string> metadata, without_group, twice;
  std::map<std::pair<std::string, std::string>, std::string> folders;  // folder of each group and video
  SkippedFiles beside_names, elsewhere;
  const std::size_t front = root.ends_with('/') ? root.size() : root.size() + 1;
  for (FileEntry& file : found.files) {
    if (file.path.size() <= front) continue;
    const LatentPath location = parse_latent_path(std::string_view(file.path).substr(front));
    const auto name = parse_step_name(location.name);
    if (location.folders.empty() || location.folders.size() > 2 || (!table && location.folders.size() != 2)) {
      if (name && name->ending < kEndings.size()) elsewhere.add(file.path);
      continue;
    }
    if (!name) {
      if (tensor_file::format_of(location.name)) beside_names.add(file.path);
      continue;
    }
    if (name->ending == kEndings.size()) {
      metadata.insert(file.path);
      continue;
    }
    if (!options.steps.contains(name->step)) continue;
    NamedLatent latent;
    latent.step = name->step;
    latent.format = *tensor_file::format_of(kEndings[name->ending]);
    // Names that are not UTF-8 could look alike in outputs.
    const bool readable =
        std::all_of(location.folders.begin(), location.folders.end(), [](const auto& f) { return is_utf8(f); });
    if (!readable) {
      out.unusable.push_back({ErrorCode::bad_data, "the name of its group or video is not UTF-8",
                              escape_unprintable(file.path), "rename it"});
      continue;
    }
    if (table) {
      latent.video =
          location.folders.size() == 2 ? location.folders[0] + "/" + location.folders[1] : location.folders[0];
      const auto group = table->group_of(latent.video);
      if (!group) {
        if (without_group.insert(latent.video).second) {
          out.unusable.push_back({ErrorCode::bad_data,
                                  "no line of " + escape_unprintable(table->path()) + " lists its group",
                                  escape_unprintable(latent.video), "add a line for it"});
        }
        continue;
      }
      latent.group = *group;
    } else {
      latent.group = location.folders[0];
      latent.video = location.folders[1];
    }
    if (!glob_match(options.groups, latent.group)) continue;
    // Two folders of one video, for example DIR/a/v and DIR/latents/a/v.
    const std::string folder = folder_of(file.path);
    const auto [known, fresh] = folders.emplace(std::pair(latent.group, latent.video), folder);
    if (!fresh && known->second != folder) {
      if (twice.insert(folder).second) {
        out.unusable.push_back({ErrorCode::bad_data,
                                "it has the same group and video as " + escape_unprintable(known->second),
                                escape_unprintable(folder), "rename one of them, or move their files into one folder"});
      }
      continue;
    }
    latent.file = std::move(file);
    out.latents.push_back(std::move(latent));
  }
  beside_names.add_warning("not named step_NUMBER", out.warnings);
  elsewhere.add_warning(table ? "not in a folder VIDEO or GROUP/VIDEO" : "not in a folder GROUP/VIDEO", out.warnings);
  std::erase_if(found.links, [&](const std::string& link) { return table && link == table->path(); });
  if (!found.links.empty()) {
    out.warnings.push_back(
        fmt::format("{} symbolic {} not followed, for example {}; {}", found.links.size(),
                    found.links.size() == 1 ? "link is" : "links are", escape_unprintable(found.links.front()),
                    options.links.follow_symlinks ? "it forms a loop" : "use --follow-symlinks to follow links"));
  }
  std::sort(out.latents.begin(), out.latents.end(), [](const NamedLatent& a, const NamedLatent& b) {
    const std::size_t a_ending = parse_step_name(file_name(a.file.path))->ending,
                      b_ending = parse_step_name(file_name(b.file.path))->ending;
    return std::tie(a.group, a.video, a.step, a_ending, a.file.path) <
           std::tie(b.group, b.video, b.step, b_ending, b.file.path);
  });
  keep_one_per_step(out);
  for (NamedLatent& latent : out.latents) {
    std::string beside = join_path(folder_of(latent.file.path), parse_step_name(file_name(latent.file.path))->stem);
    beside += kMetadata;
    if (metadata.contains(beside)) latent.metadata = std::move(beside);
  }
  if (table) {
    if (const auto unused = table->unused(); !unused.empty()) {
      const std::string more = unused.size() > 1 ? fmt::format(" and {} more", group_digits(unused.size() - 1)) : "";
      out.warnings.push_back(fmt::format("{} lists {}{}, for which no latents were found",
                                         escape_unprintable(table->path()), escape_unprintable(unused.front()), more));
    }
  }
  return out;
}

}  // namespace millrace::latents
