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
#include "src/pipeline/checkpoint/shard_record.h"

namespace millrace {
namespace {

constexpr std::size_t kMaxListed = 20;

// Reads a run's description of the output; nullopt if the folder does not exist.
std::optional<ShardsFile> read_held_shards_file(const std::string& folder) {
  RunFolder held = RunFolder::from_shards_folder(folder);
  try {
    held.hold(RunFolder::Hold::alone, RunFolder::Missing::refuse);
    auto out = read_shards_file(held.path(kShardsFile));
    if (!out) throw Failure(out.error());
    held.abandon();
    return *out;
  } catch (const Failure& failure) {
    const Error error = held.restore_user_paths(failure.error());
    held.abandon();
    if (error.code == ErrorCode::not_found) return std::nullopt;
    throw Failure(error);
  }
}

CheckpointSpec spec_of(const std::string& output, const ShardsFile& file) {
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

std::string list_numbers(const std::vector<std::uint64_t>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size() && i < kMaxListed; ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", parts[i]);
  return parts.size() > kMaxListed ? out + " ..." : out;
}

// Returns the number of runs that share the shards; nullopt if no run has recorded it.
std::optional<std::uint64_t> find_run_count(const std::string& output, const std::vector<std::string>& from) {
  std::vector<std::string> folders = {output};
  folders.insert(folders.end(), from.begin(), from.end());
  for (const std::string& folder : folders) {
    if (const auto runs = read_runs_file(RunFolder::from_shards_folder(folder).path(kRunsFile))) return runs->of;
  }
  return std::nullopt;
}

// Returns true for an output under its name, with nothing beside it that a run would resume from.
bool is_whole(const std::string& output) {
  std::error_code error;
  if (!std::filesystem::exists(output, error) || read_held_shards_file(output)) return false;
  const auto is_output = [](const Outcome<Attributes>& attributes) {
    const auto inputs = [](const auto& entry) { return entry.first == "inputs"; };
    return attributes && std::any_of(attributes->begin(), attributes->end(), inputs);
  };
  if (!std::filesystem::is_directory(output, error)) {
    hdf5::DatasetReader reader;
    return is_output(hdf5::attributes_of(reader, output));
  }
  return is_output(read_json_attributes(output + "/zarr.json", "attributes")) ||
         is_output(read_json_attributes(output + "/run.json"));
}

// Returns the description in the output's folder, or in the first of the other folders that has one.
ShardsFile find_shards_file(const std::string& output, const std::vector<std::string>& from) {
  std::optional<ShardsFile> file = read_held_shards_file(output);
  for (std::size_t i = 0; i < from.size() && !file; ++i) file = read_held_shards_file(from[i]);
  if (file) return *std::move(file);
  throw Failure(ErrorCode::not_found, "no unfinished shards were found for it", output,
                "name the OUTPUT that the runs with --part were given");
}

// Reads the records beside the files of a folder that fills file by file.
std::vector<NamedChecksums> read_record_checksums(const std::string& folder,
                                                  const std::function<void()>& check_cancelled) {
  std::vector<NamedChecksums> out;
  std::error_code error;
  for (auto entry = std::filesystem::recursive_directory_iterator(folder, error);
       !error && entry != std::filesystem::end(entry); entry.increment(error)) {
    if (entry->path().extension() != ".json" || !entry->is_regular_file(error)) continue;
    check_cancelled();
    auto recorded = read_json_checksums(entry->path());
    if (!recorded) continue;
    const std::filesystem::path in = std::filesystem::relative(entry->path().parent_path(), folder, error);
    const auto name_of = [&](const std::string& name) { return in == "." ? name : (in / name).string(); };
    out.emplace_back(name_of(entry->path().filename()), std::move(*recorded));
    for (FileDigest& file : out.back().second) file.name = name_of(file.name);
  }
  return out;
}

// Checks an HDF5 file, and the files that it maps.
ChecksumResult check_file(const std::string& output, const std::function<void()>& check_cancelled) {
  const std::string file = real_path(output).value_or(output);
  const auto line = read_end_line(file);
  if (::access(file.c_str(), R_OK) != 0) throw Failure(system_error("it cannot be read", output, errno));
  if (!line || line->parts > kMaxShards) {
    throw Failure(ErrorCode::not_found, "it has no checksums", output,
                  "if this version made it as HDF5, it is damaged or was changed by another program: make it again. "
                  "CSV and JSON lines have no checksums: use sha256sum");
  }
  ChecksumResult out;
  const auto check = [&](const std::string& name, const std::optional<EndLine>& recorded) {
    const std::string path = join_path(folder_of(file), name);
    ++out.files;
    if (recorded) out.bytes += recorded->bytes;
    if (!recorded || !verify_end_line(path, *recorded, check_cancelled)) out.damaged.push_back(name);
  };
  check(std::string(file_name(file)), line);
  if (!out.damaged.empty()) return out;
  const std::string shards = std::string(file_name(RunFolder::from_shards_folder(file).name()));
  EndLine::MappedShards parts;
  for (std::uint64_t k = 0; k < line->parts; ++k) {
    check_cancelled();
    const std::string name = fmt::format("{}/{}.h5", shards, k), path = join_path(folder_of(file), name);
    const auto recorded = read_end_line(path);
    if (!recorded && ::access(path.c_str(), R_OK) != 0 && errno != ENOENT)
      throw Failure(system_error("it cannot be read", path, errno));
    check(name, recorded);
    parts.add(recorded.value_or(EndLine()));
  }
  // Each mapped file is intact. They must also be the files that were there, and there must be no further one, which a
  // reader would use.
  if (line->parts > 0 && out.damaged.empty() && parts.hash() != line->hash_of_shards) out.damaged.push_back(shards);
  const std::string more = fmt::format("{}/{}.h5", shards, line->parts);
  if (line->parts > 0 && ::access(join_path(folder_of(file), more).c_str(), F_OK) == 0) out.damaged.push_back(more);
  return out;
}

}  // namespace

ShardFindings find_shards(const std::string& output, const std::vector<std::string>& from) {
  const ShardsFile file = find_shards_file(output, from);
  const CheckpointSpec spec = spec_of(output, file);
  std::vector<bool> there(file.parts.count());
  std::vector<std::string> folders = from;
  folders.push_back(output);
  for (const std::string& folder : folders) {
    if (!read_held_shards_file(folder)) continue;
    RunFolder held = RunFolder::from_shards_folder(folder);
    held.hold(RunFolder::Hold::alone, RunFolder::Missing::refuse);
    const auto store = make_shard_store(spec.store, spec.dataset, file.parts, held);
    for (std::uint64_t k = 0; k < there.size(); ++k) {
      if (!there[k] && store->is_committed(k))
        there[k] = is_as_recorded(store->bytes_of(k, held.path()), held.path(), k, 0, [] {});
    }
    held.abandon();
  }
  ShardFindings out{file.spec.unit, file.parts.rows, file.parts.count(), {}, {}};
  for (std::uint64_t k = 0; k < there.size(); ++k) {
    if (!there[k]) out.missing.push_back(k);
  }
  if (const auto of = find_run_count(output, from)) out.array = format_slurm_array(out.missing, *of);
  return out;
}

FinishResult finish(const std::string& output, const std::vector<std::string>& from,
                    const std::function<void()>& check_cancelled) {
  if (from.empty() && is_whole(output)) {
    FinishResult out;
    out.before = true;
    return out;
  }
  const ShardsFile file = find_shards_file(output, from);
  CheckpointSpec spec = spec_of(RunFolder::from_shards_folder(output).output(), file);
  spec.check_cancelled = check_cancelled;
  Checkpoint checkpoint(std::move(spec));
  FinishResult out;
  out.unit = file.spec.unit;
  out.rows = file.parts.rows;
  out.parts = file.parts.count();
  out.before = checkpoint.finished();
  if (!out.before) {
    const std::size_t missing = checkpoint.unmade_shards().size();
    for (const std::string& folder : from) {
      check_cancelled();
      checkpoint.import(folder, check_cancelled);
    }
    const std::vector<std::uint64_t> left = checkpoint.unmade_shards();
    out.imported = missing - left.size();
    if (!left.empty()) {
      const auto of = find_run_count(output, from);
      throw Failure(
          ErrorCode::conflict,
          fmt::format("{} of {} shards are missing: {} (counted from 0){}", group_digits(left.size()),
                      group_digits(out.parts), list_numbers(left),
                      of ? fmt::format("; of {} runs, these make them: {}", *of, format_slurm_array(left, *of)) : ""),
          output,
          of ? fmt::format("run these again (sbatch --array={}), or name the folders that hold them with --from",
                           format_slurm_array(left, *of))
             : "run the job again, with or without --part, or name the folders that hold them with --from");
    }
    while (const auto task = checkpoint.next()) {
      check_cancelled();
      checkpoint.take(task->part);
    }
    checkpoint.publish(check_cancelled);
  }
  out.bytes = checkpoint.output_bytes();
  return out;
}

ChecksumResult verify_output(const std::string& output, const std::function<void()>& check_cancelled) {
  std::error_code error;
  if (!std::filesystem::exists(output, error)) throw Failure(ErrorCode::not_found, "it was not found", output);
  if (!std::filesystem::is_directory(output, error)) return check_file(output, check_cancelled);
  const auto of_store = read_store_checksums(output);
  const std::vector<NamedChecksums> records =
      of_store ? std::vector{*of_store} : read_record_checksums(output, check_cancelled);
  std::vector<FileDigest> files;
  for (const auto& [name, recorded] : records) files.insert(files.end(), recorded.begin(), recorded.end());
  if (files.empty()) {
    throw Failure(
        ErrorCode::not_found, "it has no checksums", output,
        "name a complete output: that of render, hash, join or dedupe, the arrays.h5 of latents, or a folder of "
        "segment or fundus. Outputs of earlier versions have none");
  }
  ChecksumResult out = verify_checksums(output, files, check_cancelled);
  for (const auto& [name, recorded] : records) {
    const auto text = read_text(join_path(output, name)).or_throw();
    if (verify_self_checksum(text).value_or(true)) continue;
    out.damaged.push_back(name);
  }
  out.files += records.size();
  return out;
}

}  // namespace millrace
