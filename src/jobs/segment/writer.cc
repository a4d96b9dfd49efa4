#include "src/jobs/segment/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"

namespace millrace::segment {
namespace {

namespace fs = std::filesystem;

// In the folder of what is unfinished: the record, once all that it is of is there.
constexpr const char* kWrittenFile = "record.json";
constexpr const char *kMask = "mask", *kProbability = "probability", *kOverlay = "overlay";

// The format that was asked for, or the nearest that can hold it.
Product raster_product(const char* what, RasterFormat wanted, RasterSpec spec) {
  RasterFormat format = wanted;
  if (!can_hold(format, spec)) format = spec.samples == 1 ? RasterFormat::npy : RasterFormat::png;
  return {std::string(what) + ending_of(format), "", format, std::move(spec)};
}

// In place of whatever has the name.
void put_in_place(const std::string& folder, const Product& product) {
  const std::string from = path_in(folder, product.part), former = path_in(folder, "former");
  std::error_code error;
  if (fs::is_directory(from, error)) {
    // A folder takes the place of none that has something in it.
    fs::remove_all(former, error);
    fs::rename(product.path, former, error);
  }
  fs::rename(from, product.path, error);
  if (error) throw Failure(system_error("cannot be put in place", printable(product.path), error.value()));
}

}  // namespace

std::string record_path(const std::string& folder, const std::string& name) {
  return path_in(folder, name + ".segment.json");
}

std::vector<Product> products_of(const Options& options, const Setup& setup, const std::string& name, int width,
                                 int height) {
  std::vector<Product> out;
  RasterSpec spec;
  spec.width = static_cast<std::uint64_t>(width);
  spec.height = static_cast<std::uint64_t>(height);
  if (options.write.mask) {
    RasterSpec mask = spec;
    for (const Setup::Label& label : setup.labels()) {
      mask.palette.push_back(label.color);
      mask.clear.push_back(!label.drawn);
      mask.names.push_back(label.name);
    }
    out.push_back(raster_product(kMask, options.format, std::move(mask)));
  }
  if (options.write.probability) {
    RasterSpec probability = spec;
    probability.planes = setup.classes.size();
    probability.type = kFloat32;
    for (const model::ClassCard& each : setup.classes) probability.names.push_back(each.name);
    out.push_back(raster_product(kProbability, options.format, std::move(probability)));
  }
  if (options.write.overlay) {
    RasterSpec overlay = spec;
    overlay.samples = 3;
    out.push_back(raster_product(kOverlay, options.format, std::move(overlay)));
  }
  if (options.write.contours) out.push_back({"contours.geojson", "", std::nullopt, {}});
  for (Product& product : out) product.path = path_in(options.output, name + "." + product.part);
  return out;
}

ResultWriter::ResultWriter(const Options& options, const Setup& setup, std::string name, int width, int height,
                           Unfinished& unfinished, const Saved* saved)
    : options_(options),
      setup_(setup),
      name_(std::move(name)),
      unfinished_(unfinished),
      folder_(unfinished.folder(name_)),
      width_(static_cast<std::size_t>(width)),
      height_(static_cast<std::size_t>(height)),
      drawn_(setup.labels()),
      products_(products_of(options, setup, name_, width, height)),
      labels_(width_),
      pixels_(setup.classes.size()),
      sums_(setup.classes.size()) {
  const auto state_of = [&](const std::string& part) {
    if (saved == nullptr) return std::string();
    const auto found = saved->outputs.find(part);
    // An empty one would begin anew in the middle of the picture.
    if (found == saved->outputs.end() || found->second.empty())
      throw Failure(ErrorCode::bad_data, "this checkpoint lacks an output", part);
    return found->second;
  };
  for (const Product& product : products_) {
    if (product.format) {
      rasters_.push_back(make_raster(*product.format, product.spec, path_in(folder_, product.part),
                                     saved == nullptr ? 0 : saved->rows, state_of(product.part)));
      if (product.spec.samples == 3) overlay_.resize(width_ * 3);
    } else {
      rasters_.push_back(nullptr);
      outlines_.emplace(setup, folder_, state_of(product.part));
    }
  }
  if (saved == nullptr) return;
  if (saved->pixels.size() != pixels_.size() || saved->sums.size() != sums_.size())
    throw Failure(ErrorCode::bad_data, "this checkpoint is of other classes", name_);
  pixels_ = saved->pixels;
  sums_ = saved->sums;
}

std::uint64_t ResultWriter::bytes(const Options& options, const Setup& setup, int width, int height) {
  std::uint64_t out = static_cast<std::uint64_t>(width) * 4;
  for (const Product& product : products_of(options, setup, "", width, height))
    out += product.format ? raster_bytes(*product.format, product.spec)
                          : Outlines::bytes(static_cast<std::uint64_t>(width));
  return out;
}

void ResultWriter::append(std::span<float> row, std::span<const float> weights, std::span<const std::uint8_t> pixels) {
  const std::size_t classes = setup_.classes.size();
  if (setup_.activation == model::Activation::sigmoid) window::sigmoid(row);
  if (setup_.activation == model::Activation::softmax) window::softmax(row, classes);
  // What was not looked at is not likely.
  for (std::size_t j = 0; j < width_; ++j) {
    if (weights[j] > 0) continue;
    for (std::size_t c = 0; c < classes; ++c) row[c * width_ + j] = 0;
  }
  const bool has_none = setup_.has_none();
  window::label(row, weights, has_none ? std::optional(static_cast<float>(setup_.threshold)) : std::nullopt, labels_);
  for (std::size_t j = 0; j < width_; ++j) {
    if (!(weights[j] > 0) || (has_none && labels_[j] == 0)) continue;
    ++pixels_[labels_[j] - (has_none ? 1U : 0U)];
  }
  for (std::size_t c = 0; c < classes; ++c) {
    // In the order of the pixels, in lanes that do not depend on the machine.
    double sum[4] = {};
    for (std::size_t j = 0; j < width_; ++j) sum[j % 4] += row[c * width_ + j];
    sums_[c] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
  if (!overlay_.empty()) blend(pixels);
  if (outlines_) outlines_->append(labels_);
  for (std::size_t k = 0; k < products_.size(); ++k) {
    if (!rasters_[k]) continue;
    const RasterSpec& spec = products_[k].spec;
    rasters_[k]->append(spec.type == kFloat32 ? std::as_bytes(std::span<const float>(row))
                        : spec.samples == 3   ? std::as_bytes(std::span<const std::uint8_t>(overlay_))
                                              : std::as_bytes(std::span<const std::uint8_t>(labels_)));
  }
}

void ResultWriter::blend(std::span<const std::uint8_t> pixels) {
  for (std::size_t j = 0; j < width_; ++j) {
    const Setup::Label& label = drawn_[labels_[j]];
    for (std::size_t c = 0; c < 3; ++c) {
      const unsigned pixel = pixels[3 * j + c];
      overlay_[3 * j + c] = static_cast<std::uint8_t>(label.drawn ? (pixel + label.color[c] + 1) / 2 : pixel);
    }
  }
}

void ResultWriter::mark() {
  for (const auto& raster : rasters_)
    if (raster) raster->mark();
}

void ResultWriter::save(Saved& out) {
  for (std::size_t k = 0; k < products_.size(); ++k)
    out.outputs[products_[k].part] = rasters_[k] ? rasters_[k]->save() : outlines_->save();
  out.pixels = pixels_;
  out.sums = sums_;
}

std::optional<PictureResult> ResultWriter::publish(const Options& options, const Setup& setup, const std::string& name,
                                                   Unfinished& unfinished) {
  const std::string from = unfinished.folder(name), written = path_in(from, kWrittenFile),
                    record = record_path(options.output, name), to = folder_of(record);
  auto result = earlier_result(written, setup);
  if (!result) return std::nullopt;
  std::error_code error;
  fs::create_directories(to, error);
  if (error) throw Failure(system_error("the folder cannot be made", printable(to), error.value()));
  // What it says of an earlier picture of this name is not true of half of this one's files.
  if (is_record(record)) write_file(record, not_whole());
  for (const Product& product : products_of(options, setup, name, result->width, result->height)) {
    if (fs::exists(path_in(from, product.part), error)) {
      put_in_place(from, product);
    } else if (!fs::exists(product.path, error)) {
      return std::nullopt;
    }
  }
  sync_folder(to);
  rename_file(written, record);
  unfinished.drop(name);
  return result;
}

void ResultWriter::check_names(const Options& options, const Setup& setup, const std::string& name,
                               Unfinished& unfinished) {
  const std::string record = record_path(options.output, name);
  if (is_record(record)) return;
  // A run was stopped while files got their names: they are its own, and stay so until they have a record again.
  if (is_record(path_in(unfinished.folder(name), kWrittenFile))) return write_file(record, not_whole());
  std::error_code error;
  // A picture's sides are nothing to its names.
  for (const Product& product : products_of(options, setup, name, 1, 1)) {
    if (!fs::exists(fs::symlink_status(product.path, error))) continue;
    throw Failure(ErrorCode::conflict, fmt::format("'{}' is there, and no run has written it", printable(product.path)),
                  "", "move it away, or give another folder");
  }
}

Outcome<PictureResult> ResultWriter::finish(PictureResult result) {
  if (!std::all_of(sums_.begin(), sums_.end(), [](double sum) { return std::isfinite(sum); })) {
    return Error{ErrorCode::bad_data, "the network gave NaN or infinity for a part of it", "",
                 "check the model card's range, mean and std; a network that needs float32 fails in bf16"};
  }
  const double all = static_cast<double>(width_) * static_cast<double>(height_);
  for (std::size_t c = 0; c < sums_.size(); ++c) result.classes.push_back({pixels_[c], sums_[c] / all});
  for (std::size_t k = 0; k < products_.size(); ++k) {
    if (rasters_[k]) {
      rasters_[k]->finish();
    } else {
      outlines_->save();
      result.cuts = outlines_->write(path_in(folder_, products_[k].part));
    }
  }
  // All of it is there: from now on it needs nothing but its names.
  write_file(path_in(folder_, kWrittenFile), json_of(result, setup_));
  if (!publish(options_, setup_, name_, unfinished_)) {
    return Error{ErrorCode::conflict, "its results were removed while they got their names", "",
                 "run the same command again"};
  }
  return result;
}

}  // namespace millrace::segment
