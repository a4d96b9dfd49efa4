#include "src/jobs/segment/inputs.h"

#include <algorithm>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/jobs/segment/record.h"
#include "src/jobs/segment/work_folder.h"

namespace millrace::segment {
namespace {

// Returns the names of images whose results would have this name: "a.png.mask.zarr" is a result of "a.png".
std::vector<std::string> inputs_of_result(const std::string& folder) {
  std::vector<std::string> out;
  for (const char* kind : {".mask.", ".probability.", ".overlay.", ".contours.", ".segment."})
    if (const std::size_t at = folder.rfind(kind); at != std::string::npos) {
      out.push_back(folder.substr(0, at));
      // Results of networks with several outputs also have the output's name: "a.png.vessels.mask.zarr".
      if (const std::size_t dot = out.back().rfind('.'); dot != std::string::npos)
        out.push_back(out.back().substr(0, dot));
    }
  return out;
}

// True if the file is a result of another image: that image has a record beside it.
bool is_result(const std::string& path) {
  const std::vector<std::string> of = inputs_of_result(path);
  return std::any_of(of.begin(), of.end(), [](const std::string& name) { return is_record(name + ".segment.json"); });
}

// Returns a converter for medical volumes, which are recognized by their names.
std::optional<std::string> converter_of(const std::string& path) {
  const std::string name = lower_ascii(file_name(path));
  if (name.ends_with(".dcm")) return "convert it to PNG, for example with DCMTK's dcm2img";
  if (name.ends_with(".nii") || name.ends_with(".nii.gz"))
    return "it is a volume: save its slices as PNG, for example with nibabel";
  return std::nullopt;
}

}  // namespace

bool is_input(const Options&, const std::string& path) { return has_picture_extension(path); }

SegmentInputs find_inputs(const Options& options, const RunContext& context) {
  if (options.inputs.empty())
    throw Failure(ErrorCode::usage, "no pictures were named", "PATH", "name picture files or folders");
  InputRules rules;
  rules.argument = "PATH";
  const auto output = real_path(options.output);
  // Results in the results folder itself are reported, not skipped silently.
  const auto is_of_another_run = [&output](const std::string& path) {
    if (!is_result(path)) return false;
    const auto real = real_path(path);
    return !output || !real || !is_inside(*real, *output);
  };
  rules.accepts = [&options, &is_of_another_run](const FileEntry& file) {
    return (is_input(options, file.path) && !is_of_another_run(file.path)) || converter_of(file.path).has_value();
  };
  rules.reserved = {kWorkFolderName, RunFolder::kRunFile, kTableFile, kPointsFile, kValuesFile, kReportFile};
  rules.inputs_of_result = inputs_of_result;
  NamedInputs found = millrace::find_inputs(options.inputs, options.output, options.files, rules, context);
  SegmentInputs out;
  out.unreadable = std::move(found.unreadable);
  for (SegmentInput& input : found.inputs) {
    if (auto remedy = converter_of(input.file.path)) {
      out.unreadable.push_back({ErrorCode::unsupported, "this format is not supported", input.file.path, *remedy});
    } else {
      out.pictures.push_back(std::move(input));
    }
  }
  if (const auto roi = real_path(options.roi); roi && output && is_inside(*roi, *output)) {
    throw Failure(ErrorCode::usage, "this lies in the results folder, where results may overwrite it", "--roi",
                  "move it to another folder");
  }
  return out;
}

}  // namespace millrace::segment
