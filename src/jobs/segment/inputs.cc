#include "src/jobs/segment/inputs.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/names_below.h"
#include "src/jobs/segment/unfinished.h"

namespace millrace::segment {
namespace {

// A picture in a folder that has the name of another one's results: "a.png.mask.zarr/b.png" beside "a.png".
void refuse_folders_named_as_results(const std::map<std::string, std::string>& names) {
  for (const auto& [name, path] : names) {
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      const std::string folder = name.substr(0, slash);
      for (const char* kind : {".mask.", ".probability.", ".overlay.", ".contours.", ".segment."}) {
        const std::size_t at = folder.rfind(kind);
        const auto other = at == std::string::npos ? names.end() : names.find(folder.substr(0, at));
        if (other == names.end()) continue;
        throw Failure(ErrorCode::usage,
                      fmt::format("its folder has the name of results of '{}'", printable(other->second)),
                      printable(path), "give each an output of its own");
      }
    }
  }
}

// What makes pictures of medical volumes, of which a name tells.
std::optional<std::string> converter_of(const std::string& path) {
  const std::string name = lower_ascii(file_name(path));
  if (name.ends_with(".dcm")) return "DCMTK's dcm2img makes a PNG of DICOM";
  if (name.ends_with(".nii") || name.ends_with(".nii.gz"))
    return "NIfTI is a volume: nibabel reads it, save its slices as PNG";
  return std::nullopt;
}

}  // namespace

bool is_input(const Options&, const std::string& path) { return has_picture_extension(path); }

Inputs find_inputs(const Options& options, const RunContext& context) {
  if (options.inputs.empty()) throw Failure(ErrorCode::usage, "pictures are needed", "PATH", "name files or folders");
  WalkResult found = find_files(options.inputs, options.files, context);
  const auto output = real_path(options.output);
  const NamesBelow names_below(options.inputs);
  const std::set<std::string> named(options.inputs.begin(), options.inputs.end());
  Inputs out;
  out.unreadable = std::move(found.unreadable);
  std::map<std::string, std::string> names;
  for (FileEntry& file : found.files) {
    if (auto remedy = converter_of(file.path)) {
      out.unreadable.push_back({ErrorCode::unsupported, "this format is not read", file.path, *remedy});
      continue;
    }
    if (!named.contains(file.path) && !is_input(options, file.path)) continue;
    // Results of an earlier run are no pictures of this one.
    if (const auto real = real_path(file.path); output && real && inside(*real, *output)) continue;
    std::string name = names_below.of(file.path);
    if (name.starts_with(std::string(kUnfinishedFolder) + "/")) {
      throw Failure(ErrorCode::usage, "its results would lie where unfinished ones do", printable(file.path),
                    "give the folder of pictures another name");
    }
    const auto [at, fresh] = names.emplace(name, file.path);
    if (!fresh) {
      throw Failure(
          ErrorCode::usage,
          fmt::format("'{}' and '{}' would have results of one name", printable(at->second), printable(file.path)),
          "PATH", "name a folder above both, or give each an output of its own");
    }
    out.pictures.push_back({std::move(file), std::move(name)});
  }
  refuse_folders_named_as_results(names);
  if (const auto roi = real_path(options.roi); roi && output && inside(*roi, *output)) {
    throw Failure(ErrorCode::usage, "it lies in the folder of results, which are written over it", "--roi",
                  "keep it elsewhere");
  }
  return out;
}

}  // namespace millrace::segment
