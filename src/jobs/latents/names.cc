#include "src/jobs/latents/names.h"

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
constexpr std::string_view kFront = "step_", kMetadata = "_metadata.json";

struct StepName {
  long long step = 0;
  std::string_view stem;   // "step_012"
  std::size_t ending = 0;  // index into kEndings; their number for a metadata file
};

// Parses a name such as "step_012.npy"; returns nothing for any other name.
std::optional<StepName> step_name(std::string_view name) {
  if (!name.starts_with(kFront)) return std::nullopt;
  StepName out;
  const char* const last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data() + kFront.size(), last, out.step);
  if (error != std::errc() || out.step < 0 || out.step > kMostStep) return std::nullopt;
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
struct Place {
  std::vector<std::string> folders;  // GROUP, VIDEO; or VIDEO alone
  std::string name;
};
Place place_of(std::string_view below) {
  Place out;
  out.folders = split(below, '/');
  out.name = out.folders.back();
  out.folders.pop_back();
  if (out.folders.size() > 1 && out.folders.front() == "latents") out.folders.erase(out.folders.begin());
  return out;
}

// Tensors that are skipped for one reason.
struct Passed {
  std::size_t count = 0;
  std::string example;

  void add(const std::string& path) {
    if (++count == 1) example = path;
  }
  // Adds the warning "2 tensors are not ..., as PATH: they are not read".
  void tell(const std::string& why, std::vector<std::string>& warnings) const {
    if (count == 0) return;
    warnings.push_back(fmt::format("{} {}, as {}: {} not read",
                                   count == 1 ? "1 tensor is" : grouped(count) + " tensors are", why,
                                   printable(example), count == 1 ? "it is" : "they are"));
  }
};

// Keeps the first of several files of one step.
void take_one_a_step(NamedLatents& out) {
  std::vector<NamedLatent> taken;
  Passed beside;
  for (NamedLatent& latent : out.latents) {
    if (taken.empty() || taken.back().group != latent.group || taken.back().video != latent.video ||
        taken.back().step != latent.step) {
      taken.push_back(std::move(latent));
      continue;
    }
    const auto stem = [](const NamedLatent& of) { return step_name(file_name(of.file.path))->stem; };
    if (stem(taken.back()) == stem(latent) && taken.back().format != latent.format) {
      beside.add(latent.file.path);
      continue;
    }
    // Two names of one step, for example step_1.npy and step_001.npy.
    out.unusable.push_back(
        {ErrorCode::bad_data,
         fmt::format("step {} is {} already", latent.step, printable(file_name(taken.back().file.path))),
         printable(latent.file.path), ""});
  }
  out.latents = std::move(taken);
  beside.tell("of a step that another file is of", out.warnings);
}

}  // namespace

NamedLatents latents_by_name(const Options& options, RunContext& context) {
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
  const std::string above = path_in(path_in(root, ".."), kGroupsFile);
  struct stat info {};
  std::string_view inner = root;
  while (inner.ends_with('/')) inner.remove_suffix(1);
  if (!table && file_name(inner) == "latents" && ::lstat(above.c_str(), &info) == 0)
    out.warnings.push_back(printable(above) + " is not read; name the folder that it lies in");
  std::set<std::string> metadata, without_group, twice;
  std::map<std::pair<std::string, std::string>, std::string> folders;  // folder of each group and video
  Passed beside_names, elsewhere;
  const std::size_t front = root.ends_with('/') ? root.size() : root.size() + 1;
  for (FileEntry& file : found.files) {
    if (file.path.size() <= front) continue;
    const Place place = place_of(std::string_view(file.path).substr(front));
    const auto name = step_name(place.name);
    if (place.folders.empty() || place.folders.size() > 2 || (!table && place.folders.size() != 2)) {
      if (name && name->ending < kEndings.size()) elsewhere.add(file.path);
      continue;
    }
    if (!name) {
      if (tensor_file::format_of(place.name)) beside_names.add(file.path);
      continue;
    }
    if (name->ending == kEndings.size()) {
      metadata.insert(file.path);
      continue;
    }
    if (!options.steps.has(name->step)) continue;
    NamedLatent latent;
    latent.step = name->step;
    latent.format = *tensor_file::format_of(kEndings[name->ending]);
    // Names that are not UTF-8 could look alike in outputs.
    const bool readable =
        std::all_of(place.folders.begin(), place.folders.end(), [](const auto& f) { return is_utf8(f); });
    if (!readable) {
      out.unusable.push_back({ErrorCode::bad_data, "its group or its video has a name that is not UTF-8",
                              printable(file.path), "rename it"});
      continue;
    }
    if (table) {
      latent.video = place.folders.size() == 2 ? place.folders[0] + "/" + place.folders[1] : place.folders[0];
      const auto group = table->group_of(latent.video);
      if (!group) {
        if (without_group.insert(latent.video).second) {
          out.unusable.push_back({ErrorCode::bad_data, "no line of " + printable(table->path()) + " says its group",
                                  printable(latent.video), "add it there"});
        }
        continue;
      }
      latent.group = *group;
    } else {
      latent.group = place.folders[0];
      latent.video = place.folders[1];
    }
    if (!glob_match(options.groups, latent.group)) continue;
    // Two folders of one video, for example DIR/a/v and DIR/latents/a/v.
    const std::string folder = folder_of(file.path);
    const auto [known, fresh] = folders.emplace(std::pair(latent.group, latent.video), folder);
    if (!fresh && known->second != folder) {
      if (twice.insert(folder).second) {
        out.unusable.push_back({ErrorCode::bad_data, "its group and video are those of " + printable(known->second),
                                printable(folder), "rename one, or move what belongs together into one folder"});
      }
      continue;
    }
    latent.file = std::move(file);
    out.latents.push_back(std::move(latent));
  }
  beside_names.tell("not named step_NUMBER", out.warnings);
  elsewhere.tell(table ? "not in a folder VIDEO or GROUP/VIDEO" : "not in a folder GROUP/VIDEO", out.warnings);
  std::erase_if(found.links, [&](const std::string& link) { return table && link == table->path(); });
  if (!found.links.empty()) {
    out.warnings.push_back(
        fmt::format("{} symbolic {} not followed, as {}; {}", found.links.size(),
                    found.links.size() == 1 ? "link is" : "links are", printable(found.links.front()),
                    options.links.follow_symlinks ? "it leads in a circle" : "--follow-symlinks does"));
  }
  std::sort(out.latents.begin(), out.latents.end(), [](const NamedLatent& a, const NamedLatent& b) {
    const std::size_t a_ending = step_name(file_name(a.file.path))->ending,
                      b_ending = step_name(file_name(b.file.path))->ending;
    return std::tie(a.group, a.video, a.step, a_ending, a.file.path) <
           std::tie(b.group, b.video, b.step, b_ending, b.file.path);
  });
  take_one_a_step(out);
  for (NamedLatent& latent : out.latents) {
    std::string beside = path_in(folder_of(latent.file.path), step_name(file_name(latent.file.path))->stem);
    beside += kMetadata;
    if (metadata.contains(beside)) latent.metadata = std::move(beside);
  }
  if (table) {
    if (const auto unused = table->unused(); !unused.empty()) {
      const std::string more = unused.size() > 1 ? fmt::format(" and {} more", grouped(unused.size() - 1)) : "";
      out.warnings.push_back(fmt::format("{} names {}{}, of which there is no latent", printable(table->path()),
                                         printable(unused.front()), more));
    }
  }
  return out;
}

}  // namespace millrace::latents
