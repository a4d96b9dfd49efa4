#include "src/pipeline/checkpoint/finish.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/store/end_line.h"
#include "src/io/store/hdf5_reader.h"
#include "src/pipeline/checkpoint/checkpoint.h"
#include "src/pipeline/checkpoint/part_record.h"

namespace millrace {
namespace {

constexpr std::size_t kNamed = 20;

// Reads a run's description of the output; nullopt if the folder does not exist.
std::optional<PartsFile> read_parts(const std::string& folder) {
  RunFolder held = RunFolder::of_parts(folder);
  try {
    held.hold(RunFolder::Hold::alone, RunFolder::Missing::refuse);
    auto out = parts_in_json(held.path(kPartsFile));
    if (!out) throw Failure(out.error());
    held.abandon();
    return *out;
  } catch (const Failure& failure) {
    const Error error = held.in_words(failure.error());
    held.abandon();
    if (error.code == ErrorCode::not_found) return std::nullopt;
    throw Failure(error);
  }
}

CheckpointSpec spec_of(const std::string& output, const PartsFile& file) {
  CheckpointSpec out;
  out.output = output;
  out.mark = file.mark;
  out.dataset = file.spec;
  out.each = file.parts.each;
  for (const auto& choice : choices_of(StoreKind{})) {
    if (file.store == choice.name) out.store = choice.value;
  }
  return out;
}

std::string names_of(const std::vector<std::uint64_t>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size() && i < kNamed; ++i) out += fmt::format("{}{}", i == 0 ? "" : ", ", parts[i]);
  return parts.size() > kNamed ? out + " ..." : out;
}

// Returns the number of runs that share the shards; nullopt if no run has recorded it.
std::optional<std::uint64_t> runs_of(const std::string& output, const std::vector<std::string>& from) {
  std::vector<std::string> folders = {output};
  folders.insert(folders.end(), from.begin(), from.end());
  for (const std::string& folder : folders) {
    if (const auto runs = runs_in_json(RunFolder::of_parts(folder).path(kRunsFile))) return runs->of;
  }
  return std::nullopt;
}

// Returns true for an output under its name, with nothing beside it that a run would resume from.
bool is_whole(const std::string& output) {
  std::error_code error;
  if (!std::filesystem::exists(output, error) || read_parts(output)) return false;
  const auto is_output = [](const Outcome<Attributes>& said) {
    const auto inputs = [](const auto& entry) { return entry.first == "inputs"; };
    return said && std::any_of(said->begin(), said->end(), inputs);
  };
  if (!std::filesystem::is_directory(output, error)) {
    hdf5::Reader reader;
    return is_output(hdf5::attributes_of(reader, output));
  }
  return is_output(attributes_in_json(output + "/zarr.json", "attributes")) ||
         is_output(attributes_in_json(output + "/run.json"));
}

// Returns the description in the output's folder, or in the first of the other folders that has one.
PartsFile parts_of(const std::string& output, const std::vector<std::string>& from) {
  std::optional<PartsFile> file = read_parts(output);
  for (std::size_t i = 0; i < from.size() && !file; ++i) file = read_parts(from[i]);
  if (file) return *std::move(file);
  throw Failure(ErrorCode::not_found, "no run has left parts of it", output,
                "name the OUTPUT that runs with --part were given");
}

// Reads the records beside the files of a folder that fills file by file.
std::vector<ToldChecksums> checksums_beside(const std::string& folder, const std::function<void()>& go_on) {
  std::vector<ToldChecksums> out;
  std::error_code error;
  for (auto entry = std::filesystem::recursive_directory_iterator(folder, error);
       !error && entry != std::filesystem::end(entry); entry.increment(error)) {
    if (entry->path().extension() != ".json" || !entry->is_regular_file(error)) continue;
    go_on();
    auto told = checksums_in_json(entry->path());
    if (!told) continue;
    const std::filesystem::path in = std::filesystem::relative(entry->path().parent_path(), folder, error);
    const auto name_of = [&](const std::string& name) { return in == "." ? name : (in / name).string(); };
    out.emplace_back(name_of(entry->path().filename()), std::move(*told));
    for (FileDigest& file : out.back().second) file.name = name_of(file.name);
  }
  return out;
}

// Checks an HDF5 file, and the files that it maps.
Checked check_file(const std::string& output, const std::function<void()>& go_on) {
  const std::string file = real_path(output).value_or(output);
  const auto line = read_end_line(file);
  if (::access(file.c_str(), R_OK) != 0) throw Failure(system_error("it cannot be read", output, errno));
  if (!line || line->parts > kMostParts) {
    throw Failure(ErrorCode::not_found, "it has no checksums", output,
                  "if this version made it as HDF5, it is damaged, or another program has changed it: make it again. "
                  "CSV and JSON lines have none: compare them with sha256sum");
  }
  Checked out;
  const auto check = [&](const std::string& name, const std::optional<EndLine>& told) {
    const std::string path = path_in(folder_of(file), name);
    ++out.files;
    if (told) out.bytes += told->bytes;
    if (!told || !is_as_told(path, *told, go_on)) out.damaged.push_back(name);
  };
  check(std::string(file_name(file)), line);
  if (!out.damaged.empty()) return out;
  const std::string shards = std::string(file_name(RunFolder::of_parts(file).name()));
  EndLine::Parts parts;
  for (std::uint64_t k = 0; k < line->parts; ++k) {
    go_on();
    const std::string name = fmt::format("{}/{}.h5", shards, k), path = path_in(folder_of(file), name);
    const auto told = read_end_line(path);
    if (!told && ::access(path.c_str(), R_OK) != 0 && errno != ENOENT)
      throw Failure(system_error("it cannot be read", path, errno));
    check(name, told);
    parts.add(told.value_or(EndLine()));
  }
  // Each mapped file is intact. They must also be the files that were there, and there must be no further one, which a
  // reader would use.
  if (line->parts > 0 && out.damaged.empty() && parts.hash() != line->hash_of_parts) out.damaged.push_back(shards);
  const std::string more = fmt::format("{}/{}.h5", shards, line->parts);
  if (line->parts > 0 && ::access(path_in(folder_of(file), more).c_str(), F_OK) == 0) out.damaged.push_back(more);
  return out;
}

}  // namespace

Findings look_for_parts(const std::string& output, const std::vector<std::string>& from) {
  const PartsFile file = parts_of(output, from);
  const CheckpointSpec spec = spec_of(output, file);
  std::vector<bool> there(file.parts.count());
  std::vector<std::string> folders = from;
  folders.push_back(output);
  for (const std::string& folder : folders) {
    if (!read_parts(folder)) continue;
    RunFolder held = RunFolder::of_parts(folder);
    held.hold(RunFolder::Hold::alone, RunFolder::Missing::refuse);
    const auto store = make_part_store(spec.store, spec.dataset, file.parts, held);
    for (std::uint64_t k = 0; k < there.size(); ++k) {
      if (!there[k] && store->named(k))
        there[k] = is_as_recorded(store->bytes_of(k, held.path()), held.path(), k, 0, [] {});
    }
    held.abandon();
  }
  Findings out{file.spec.unit, file.parts.rows, file.parts.count(), {}, {}};
  for (std::uint64_t k = 0; k < there.size(); ++k) {
    if (!there[k]) out.missing.push_back(k);
  }
  if (const auto of = runs_of(output, from)) out.array = array_of(out.missing, *of);
  return out;
}

Finished finish(const std::string& output, const std::vector<std::string>& from, const std::function<void()>& go_on) {
  if (from.empty() && is_whole(output)) {
    Finished out;
    out.before = true;
    return out;
  }
  const PartsFile file = parts_of(output, from);
  CheckpointSpec spec = spec_of(RunFolder::of_parts(output).output(), file);
  spec.go_on = go_on;
  Checkpoint checkpoint(std::move(spec));
  Finished out;
  out.unit = file.spec.unit;
  out.rows = file.parts.rows;
  out.parts = file.parts.count();
  out.before = checkpoint.finished();
  if (!out.before) {
    const std::size_t missing = checkpoint.not_made().size();
    for (const std::string& folder : from) {
      go_on();
      checkpoint.import(folder, go_on);
    }
    const std::vector<std::uint64_t> left = checkpoint.not_made();
    out.imported = missing - left.size();
    if (!left.empty()) {
      const auto of = runs_of(output, from);
      throw Failure(
          ErrorCode::conflict,
          fmt::format("{} of {} shards are missing: {} (counted from 0){}", grouped(left.size()), grouped(out.parts),
                      names_of(left),
                      of ? fmt::format("; the parts of {} that make them: {}", *of, array_of(left, *of)) : ""),
          output,
          of ? fmt::format("submit those again (sbatch --array={}), or name the folders they are in with "
                           "--from",
                           array_of(left, *of))
             : "run what makes it, with --part or without, or name the folders they are in with --from");
    }
    while (const auto task = checkpoint.next()) {
      go_on();
      checkpoint.take(task->part);
    }
    checkpoint.publish(go_on);
  }
  out.bytes = checkpoint.output_bytes();
  return out;
}

Checked check_output(const std::string& output, const std::function<void()>& go_on) {
  std::error_code error;
  if (!std::filesystem::exists(output, error)) throw Failure(ErrorCode::not_found, "it is not there", output);
  if (!std::filesystem::is_directory(output, error)) return check_file(output, go_on);
  const auto of_store = checksums_of_store(output);
  const std::vector<ToldChecksums> records = of_store ? std::vector{*of_store} : checksums_beside(output, go_on);
  std::vector<FileDigest> files;
  for (const auto& [name, told] : records) files.insert(files.end(), told.begin(), told.end());
  if (files.empty()) {
    throw Failure(
        ErrorCode::not_found, "it has no checksums", output,
        "name a finished output as a whole: a store of render, hash, join or dedupe, the arrays.h5 of latents, a "
        "folder of segment or fundus. One of an earlier version has none");
  }
  Checked out = check_files(output, files, go_on);
  for (const auto& [name, told] : records) {
    const auto text = read_text(path_in(output, name)).or_throw();
    if (has_own_checksum(text).value_or(true)) continue;
    out.damaged.push_back(name);
  }
  out.files += records.size();
  return out;
}

}  // namespace millrace
