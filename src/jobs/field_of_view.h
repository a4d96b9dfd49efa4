// Input: a photograph, decoded.
// Output: the square of it that networks are given, where that lies, and what there is to doubt.
// Never: leaves anything out for a doubt.
#pragma once

#include <string>
#include <vector>

#include "src/base/json.h"
#include "src/io/image/picture_rows.h"
#include "src/kernels/fundus/crop.h"
#include "src/kernels/fundus/enhance.h"

namespace millrace {

struct FieldOfView {
  std::int32_t width = 0, height = 0;  // of the photograph
  fundus::Bounds bounds;
  fundus::Quality quality;
  std::vector<std::string> doubts;  // why somebody should look at it
  fundus::Crop crop;
};

// All of a picture, red, green and blue. Failure(unsupported) for grays of which nothing says what is black.
std::vector<std::uint8_t> whole_picture(PictureRows& rows, const std::string& path);
// What decoding it takes, and a square of this side of it: the photograph, and what the decoder holds; crop, enhanced
// picture, and a surround.
Bytes field_of_view_bytes(const PictureInfo& info, std::int32_t side);

// Of a fundus photograph; `square` is its crop. Failure(bad_data) where there is no circle; (unsupported) where it is
// too small to have one.
FieldOfView find_field_of_view(const fundus::Photograph& photograph, std::int32_t side, const std::string& path,
                               std::vector<std::uint8_t>& square);

// As a member of JSON, and back from it. What throws it is no such thing.
Json json_of_field(const FieldOfView& field);
FieldOfView field_of_json(const Json& json);

}  // namespace millrace
