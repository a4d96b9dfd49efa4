#include "src/jobs/segment/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/tensor/npy.h"
#include "src/report/json_path.h"

namespace millrace::segment {
namespace {

using Json = nlohmann::ordered_json;

std::vector<PalettePng::Color> palette_of(const Setup& setup) {
  std::vector<PalettePng::Color> out;
  if (setup.has_none()) out.push_back({0, 0, 0});
  for (const model::ClassCard& each : setup.classes) out.push_back(each.color);
  return out;
}

}  // namespace

std::string mask_path(const std::string& folder, const std::string& name) {
  return path_in(folder, name + ".mask.png");
}
std::string probability_path(const std::string& folder, const std::string& name) {
  return path_in(folder, name + ".probability.npy");
}
std::string record_path(const std::string& folder, const std::string& name) {
  return path_in(folder, name + ".segment.json");
}

std::string json_of(const PictureResult& result, const Setup& setup) {
  Json out = {{kJsonMark, "segment picture"}};
  out["name"] = utf8_for_display(result.name);
  out["hash"] = result.hash;
  out["width"] = result.width;
  out["height"] = result.height;
  out["windows"] = result.windows;
  if (!result.damage.empty()) out["damaged"] = result.damage;
  Json classes = Json::array();
  for (std::size_t c = 0; c < result.classes.size(); ++c) {
    classes.push_back({{"name", utf8_for_display(setup.classes[c].name)},
                       {"pixels", result.classes[c].pixels},
                       {"mean_probability", result.classes[c].mean}});
  }
  out["classes"] = classes;
  return out.dump(1) + "\n";
}

std::optional<PictureResult> earlier_result(const std::string& file, const std::string& hash, const Setup& setup) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  const auto text = read_text(file, kMostBytes);
  if (!text || text->size() > kMostBytes) return std::nullopt;
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || json.value(kJsonMark, Json()) != "segment picture" || json.value("hash", Json()) != hash)
    return std::nullopt;
  try {
    PictureResult out;
    out.hash = hash;
    out.width = json.at("width").get<int>();
    out.height = json.at("height").get<int>();
    out.windows = json.at("windows").get<std::uint64_t>();
    if (json.contains("damaged")) out.damage = json.at("damaged").get<std::string>();
    for (const Json& each : json.at("classes"))
      out.classes.push_back({each.at("pixels").get<std::uint64_t>(), each.at("mean_probability").get<double>()});
    if (out.classes.size() == setup.classes.size()) return out;
  } catch (const Json::exception&) {
    // Not as this program writes it.
  }
  return std::nullopt;
}

ResultWriter::ResultWriter(const Options& options, const Setup& setup, std::string name, int width, int height)
    : options_(options),
      setup_(setup),
      name_(std::move(name)),
      width_(static_cast<std::size_t>(width)),
      height_(static_cast<std::size_t>(height)),
      labels_(width_),
      pixels_(setup.classes.size()),
      sums_(setup.classes.size()) {
  std::error_code error;
  const std::string folder = folder_of(record_path(options.output, name_));
  std::filesystem::create_directories(folder, error);
  if (error) throw Failure(system_error("the folder cannot be made", printable(folder), error.value()));
  if (options.write.mask) {
    mask_.emplace(Output::in_place_of_anything(mask_path(options.output, name_)), width, height, palette_of(setup));
  }
  if (options.write.probability) {
    probability_.emplace(probability_path(options.output, name_));
    const std::vector<std::uint64_t> shape = {setup.classes.size(), height_, width_};
    const std::string header = npy::header_text({{"", kFloat32}}, shape);
    probability_at_ = header.size();
    probability_->write(header);
  }
}

void ResultWriter::append(std::span<float> row) {
  const std::size_t classes = setup_.classes.size();
  if (setup_.activation == model::Activation::sigmoid) window::sigmoid(row);
  if (setup_.activation == model::Activation::softmax) window::softmax(row, classes);
  label(row);
  for (std::size_t c = 0; c < classes; ++c) {
    // In the order of the pixels, in lanes that do not depend on the machine.
    double sum[4] = {};
    for (std::size_t j = 0; j < width_; ++j) sum[j % 4] += row[c * width_ + j];
    sums_[c] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  if (mask_) mask_->append(labels_);
  if (probability_) {
    for (std::size_t c = 0; c < classes; ++c) {
      probability_->write_at(probability_at_ + (c * height_ + row_) * width_ * sizeof(float),
                             std::as_bytes(std::span<const float>(row.subspan(c * width_, width_))));
    }
  }
  ++row_;
}

void ResultWriter::label(std::span<const float> row) {
  const std::size_t classes = setup_.classes.size();
  const auto threshold = static_cast<float>(setup_.threshold);
  const bool has_none = setup_.has_none();
  for (std::size_t j = 0; j < width_; ++j) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < classes; ++c)
      if (row[c * width_ + j] > row[best * width_ + j]) best = c;
    const bool is_none = has_none && !(row[best * width_ + j] >= threshold);
    labels_[j] = static_cast<std::uint8_t>(is_none ? 0 : best + (has_none ? 1 : 0));
    pixels_[best] += is_none ? 0 : 1;
  }
}

Outcome<PictureResult> ResultWriter::finish(PictureResult result) {
  if (!std::all_of(sums_.begin(), sums_.end(), [](double sum) { return std::isfinite(sum); })) {
    return Error{ErrorCode::bad_data, "the network gave NaN or infinity for a part of it", "",
                 "check the model card's range, mean and std; a network that needs float32 fails in bf16"};
  }
  const double all = static_cast<double>(width_) * static_cast<double>(height_);
  for (std::size_t c = 0; c < sums_.size(); ++c) result.classes.push_back({pixels_[c], sums_[c] / all});
  // What it says of an earlier picture of this name is not true of half of this one's files.
  std::filesystem::remove(record_path(options_.output, name_));
  if (mask_) mask_->finish();
  if (probability_) probability_->commit();
  write_file(record_path(options_.output, name_), json_of(result, setup_));
  return result;
}

}  // namespace millrace::segment
