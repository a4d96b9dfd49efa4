#include "src/io/store/zarr_json.h"

#include <xxhash.h>

#include <filesystem>

#include "src/io/file/atomic_file.h"
#include "src/io/store/checksums.h"

namespace millrace::zarr {

Json bytes_codec(std::size_t element_bytes) {
  Json out = {{"name", "bytes"}};
  if (element_bytes > 1) out["configuration"] = {{"endian", "little"}};
  return out;
}

Json gzip_codec(int level) { return {{"name", "gzip"}, {"configuration", {{"level", level}}}}; }

Json array_json(const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& chunk,
                const std::string& type, Json fill, Json codecs) {
  return {{"zarr_format", 3},
          {"node_type", "array"},
          {"shape", shape},
          {"data_type", type},
          {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", chunk}}}}},
          {"chunk_key_encoding", {{"name", "default"}, {"configuration", {{"separator", "/"}}}}},
          {"fill_value", std::move(fill)},
          {"codecs", std::move(codecs)},
          {"attributes", Json::object()}};
}

Json group_json() { return {{"zarr_format", 3}, {"node_type", "group"}, {"attributes", Json::object()}}; }

FileDigest write_json(const std::string& folder, const Json& json, const std::string& work_folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Failure(system_error("it cannot be created", folder, error.value()));
  const std::string text = add_self_checksum(json.dump(1) + "\n"), path = folder + "/zarr.json";
  if (work_folder.empty()) {
    write_file(path, text);
  } else {
    AtomicFile file(path, AtomicFile::ShardOptions{work_folder});
    file.write(text);
    file.commit();
  }
  return {"zarr.json", text.size(), XXH3_64bits(text.data(), text.size())};
}

}  // namespace millrace::zarr
