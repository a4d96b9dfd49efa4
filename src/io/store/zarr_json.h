// Enters: the shape, type and codecs of an array.
// Leaves: what a Zarr 3 array or group says of itself in its zarr.json.
// Never: writes a chunk.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/io/file/file_digest.h"

namespace millrace::zarr {

using Json = nlohmann::ordered_json;

Json regular_grid(const std::vector<std::uint64_t>& chunk);
// The codec that says that elements are little-endian.
Json little_endian();
Json array_json(const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& chunk,
                const std::string& type, Json fill, Json codecs);
Json group_json();
// Writes zarr.json in the folder, which is made. Until it is whole it lies in the work folder, where one is named.
// Gives its digest; the name in it is zarr.json.
FileDigest write_json(const std::string& folder, const Json& json, const std::string& work_folder = "");

}  // namespace millrace::zarr
