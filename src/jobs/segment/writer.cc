#include "src/jobs/segment/writer.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/directory_entry.h"
#include "src/io/store/shard_bytes.h"
#include "src/jobs/results_folder.h"

namespace millrace::segment {
namespace {

namespace fs = std::filesystem;

// Name of the record in the work folder; it exists once all results are complete.
constexpr const char* kWrittenFile = "record.json";
constexpr const char *kMask = "mask", *kProbability = "probability", *kOverlay = "overlay";

// Returns the requested format, or the nearest one that can hold the data.
ResultFile raster_product(const char* what, RasterFormat wanted, RasterSpec spec) {
  RasterFormat format = wanted;
  if (!can_hold(format, spec)) format = spec.samples == 1 ? RasterFormat::npy : RasterFormat::png;
  return {0, std::string(what) + extension_of_format(format), "", format, std::move(spec)};
}

// Publishes a result. It replaces an earlier run's file if `replaces` is set, and otherwise no file.
void publish_file(const std::string& folder, const ResultFile& product, bool replaces) {
  const std::string from = join_path(folder, product.suffix), former = join_path(folder, "former");
  if (!replaces) {
    const int reason = rename_new(AT_FDCWD, from.c_str(), AT_FDCWD, product.path.c_str());
    if (reason == EEXIST)
      throw Failure(
          ErrorCode::conflict,
          fmt::format("'{}' has appeared during the run, and no run has written it", escape_unprintable(product.path)),
          "", "move it away, and run the same command again");
    if (reason != 0)
      throw Failure(system_error("cannot be moved into place", escape_unprintable(product.path), reason));
    return;
  }
  std::error_code error;
  if (fs::is_directory(from, error)) {
    // A folder cannot be renamed over one that is not empty.
    fs::remove_all(former, error);
    fs::rename(product.path, former, error);
  }
  fs::rename(from, product.path, error);
  if (error) throw Failure(system_error("cannot be moved into place", escape_unprintable(product.path), error.value()));
}

}  // namespace

std::string record_path(const std::string& folder, const std::string& name) {
  return join_path(folder, name + ".segment.json");
}

std::vector<ResultFile> list_result_files(const Options& options, const Setup& setup, const std::string& name,
                                          int width, int height) {
  std::vector<ResultFile> out;
  RasterSpec spec;
  spec.width = static_cast<std::uint64_t>(width);
  spec.height = static_cast<std::uint64_t>(height);
  for (std::size_t h = 0; h < setup.heads.size(); ++h) {
    const model::Head& head = setup.heads[h];
    const std::size_t before = out.size();
    const bool is_mask = head.task == model::ModelTask::segmentation;
    if (is_mask && options.write.mask) {
      RasterSpec mask = spec;
      for (const model::Head::Label& label : head.labels()) {
        mask.palette.push_back(label.color);
        mask.clear.push_back(!label.drawn);
        mask.names.push_back(label.name);
      }
      out.push_back(raster_product(kMask, options.format, std::move(mask)));
    }
    if (head.is_map() && options.write.probability) {
      RasterSpec probability = spec;
      probability.planes = head.classes.size();
      probability.type = kFloat32;
      for (const model::ClassCard& each : head.classes) probability.names.push_back(each.name);
      out.push_back(raster_product(kProbability, options.format, std::move(probability)));
    }
    if (is_mask && options.write.overlay) {
      RasterSpec overlay = spec;
      overlay.samples = 3;
      out.push_back(raster_product(kOverlay, options.format, std::move(overlay)));
    }
    if (is_mask && options.write.contours) out.push_back({0, "contours.geojson", "", std::nullopt, {}});
    for (std::size_t k = before; k < out.size(); ++k) {
      out[k].head = h;
      if (!head.name.empty()) out[k].suffix = head.name + "." + out[k].suffix;
    }
  }
  for (ResultFile& product : out) product.path = join_path(options.output, name + "." + product.suffix);
  return out;
}

ResultWriter::ResultWriter(const Options& options, const Setup& setup, std::string name, int width, int height,
                           WorkFolder& work_folder, const ResumeState* resume_state)
    : options_(options),
      setup_(setup),
      name_(std::move(name)),
      work_folder_(work_folder),
      folder_(work_folder.folder(name_)),
      width_(static_cast<std::size_t>(width)),
      height_(static_cast<std::size_t>(height)),
      result_files_(list_result_files(options, setup, name_, width, height)),
      rows_(setup, width, height),
      masks_(setup.heads.size()) {
  const auto state_of = [&](const std::string& suffix) {
    if (resume_state == nullptr) return std::string();
    const auto found = resume_state->outputs.find(suffix);
    // With an empty state an output would begin again in the middle of the image.
    if (found == resume_state->outputs.end() || found->second.empty())
      throw Failure(ErrorCode::bad_data, "the checkpoint lacks an output", suffix);
    return found->second;
  };
  if (resume_state != nullptr &&
      (resume_state->heads.size() != masks_.size() || resume_state->previews.size() != masks_.size()))
    throw Failure(ErrorCode::bad_data, "the checkpoint has other outputs", name_);
  for (std::size_t h = 0; h < masks_.size(); ++h) {
    if (setup.heads[h].task != model::ModelTask::segmentation) continue;
    Mask& mask = masks_[h];
    mask.labels = setup.heads[h].labels();
    mask.preview.emplace(width, height, mask.labels.size());
    if (resume_state == nullptr) continue;
    rows_.restore(h, resume_state->heads[h].classes, resume_state->rows);
    mask.preview->restore(resume_state->previews[h], resume_state->rows);
  }
  for (const ResultFile& product : result_files_) {
    Mask& mask = masks_[product.head];
    if (product.format) {
      rasters_.push_back(make_raster_writer(*product.format, product.spec, join_path(folder_, product.suffix),
                                            resume_state == nullptr ? 0 : resume_state->rows,
                                            state_of(product.suffix)));
      if (product.spec.samples == 3) mask.overlay.resize(width_ * 3);
    } else {
      rasters_.push_back(nullptr);
      mask.outlines.emplace(mask.labels, width_, height_, join_path(folder_, product.suffix + ".runs"),
                            state_of(product.suffix));
    }
  }
}

std::uint64_t ResultWriter::bytes(const Options& options, const Setup& setup, int width, int height) {
  std::uint64_t out = 0;
  for (const model::Head& head : setup.heads)
    if (head.task == model::ModelTask::segmentation)
      out += static_cast<std::uint64_t>(width) * 4 + Preview::bytes(width, height, head.labels().size());
  for (const ResultFile& product : list_result_files(options, setup, "", width, height))
    out += product.format ? raster_memory_bytes(*product.format, product.spec)
                          : Outlines::bytes(static_cast<std::uint64_t>(width));
  return out;
}

void ResultWriter::append(std::span<const float> row, std::span<const float> weights,
                          std::span<const std::uint8_t> pixels) {
  rows_.take(row, weights);
  for (std::size_t h = 0; h < masks_.size(); ++h) {
    Mask& mask = masks_[h];
    if (!mask.preview) continue;
    mask.preview->append(rows_.mask_row(h));
    if (!mask.overlay.empty()) blend(mask, rows_.mask_row(h), pixels);
    if (mask.outlines) mask.outlines->append(rows_.mask_row(h));
  }
  const auto maps = model::maps_of(setup_.heads, row);
  for (std::size_t k = 0; k < result_files_.size(); ++k) {
    if (!rasters_[k]) continue;
    const RasterSpec& spec = result_files_[k].spec;
    const Mask& mask = masks_[result_files_[k].head];
    rasters_[k]->append(spec.type == kFloat32 ? std::as_bytes(maps[result_files_[k].head])
                        : spec.samples == 3   ? std::as_bytes(std::span<const std::uint8_t>(mask.overlay))
                                              : std::as_bytes(rows_.mask_row(result_files_[k].head)));
  }
}

void ResultWriter::blend(Mask& mask, std::span<const std::uint8_t> labels, std::span<const std::uint8_t> pixels) {
  for (std::size_t j = 0; j < labels.size(); ++j) {
    const model::Head::Label& label = mask.labels[labels[j]];
    for (std::size_t c = 0; c < 3; ++c) {
      const unsigned pixel = pixels[3 * j + c];
      mask.overlay[3 * j + c] = static_cast<std::uint8_t>(label.drawn ? (pixel + label.color[c] + 1) / 2 : pixel);
    }
  }
}

void ResultWriter::mark() {
  for (const auto& raster : rasters_)
    if (raster) raster->mark();
}

void ResultWriter::save(ResumeState& out) {
  for (std::size_t k = 0; k < result_files_.size(); ++k)
    out.outputs[result_files_[k].suffix] =
        rasters_[k] ? rasters_[k]->save() : masks_[result_files_[k].head].outlines->save();
  out.heads.resize(masks_.size());
  out.previews.resize(masks_.size());
  for (std::size_t h = 0; h < masks_.size(); ++h) {
    out.heads[h].classes = rows_.class_counts(h);
    if (masks_[h].preview) out.previews[h] = masks_[h].preview->save();
  }
}

std::optional<PictureResult> ResultWriter::publish(const Options& options, const Setup& setup, const std::string& name,
                                                   WorkFolder& work_folder, const IsCurrent& is_current) {
  const std::string from = work_folder.folder(name), written = join_path(from, kWrittenFile),
                    record = record_path(options.output, name), to = folder_of(record);
  auto result = read_previous_result(written, setup);
  if (!result || !is_current(*result)) return std::nullopt;
  make_folder_below(options.output, to);
  // The record of an earlier image of this name is withdrawn first: it would be wrong while only some files are
  // replaced.
  const bool replaces = is_record(record);
  if (replaces) write_file(record, make_incomplete_record());
  std::error_code error;
  for (const ResultFile& product : list_result_files(options, setup, name, result->width, result->height)) {
    if (fs::exists(join_path(from, product.suffix), error)) {
      publish_file(from, product, replaces);
    } else if (!fs::exists(product.path, error)) {
      return std::nullopt;
    }
  }
  sync_folder(to);
  rename_file(written, record);
  work_folder.drop(name);
  return result;
}

void ResultWriter::check_names(const Options& options, const Setup& setup, const std::string& name,
                               WorkFolder& work_folder) {
  const std::string record = record_path(options.output, name);
  std::error_code problem;
  // The names do not depend on the image's sides.
  const std::vector<ResultFile> products = list_result_files(options, setup, name, 1, 1);
  for (const ResultFile& product : products) {
    const auto status = fs::symlink_status(product.path, problem);
    const bool is_folder = product.format == RasterFormat::zarr;
    if (!fs::exists(status) || fs::is_directory(status) == is_folder) continue;
    throw Failure(ErrorCode::conflict,
                  fmt::format("'{}' already exists, and is {}", escape_unprintable(product.path),
                              is_folder ? "not a folder" : "a folder"),
                  "", "move it away, or name another folder");
  }
  if (is_record(record)) return;
  // A run was stopped while it published these files. They are its own, and are marked so until they have a record
  // again.
  if (is_record(join_path(work_folder.folder(name), kWrittenFile))) return write_file(record, make_incomplete_record());
  for (const ResultFile& product : products) {
    if (!fs::exists(fs::symlink_status(product.path, problem))) continue;
    throw Failure(ErrorCode::conflict,
                  fmt::format("'{}' already exists, and no run has written it", escape_unprintable(product.path)), "",
                  "move it away, or name another folder");
  }
}

Outcome<PictureResult> ResultWriter::finish(PictureResult result) {
  if (const auto finished = rows_.finish(result); !finished.ok()) return finished.error();
  for (std::size_t h = 0; h < masks_.size(); ++h)
    if (masks_[h].preview) result.heads[h].preview = masks_[h].preview->finish();
  for (std::size_t k = 0; k < result_files_.size(); ++k) {
    if (rasters_[k]) {
      rasters_[k]->finish();
      continue;
    }
    Outlines& outlines = *masks_[result_files_[k].head].outlines;
    outlines.save();
    for (const std::uint32_t row : outlines.write(join_path(folder_, result_files_[k].suffix)))
      result.cuts.push_back(row);
  }
  std::sort(result.cuts.begin(), result.cuts.end());
  result.cuts.erase(std::unique(result.cuts.begin(), result.cuts.end()), result.cuts.end());
  ShardBytes written;
  for (const ResultFile& product : result_files_)
    written.push_back({.path = join_path(folder_, product.suffix),
                       .is_folder = product.format == RasterFormat::zarr,
                       .name = std::string(file_name(product.path))});
  result.files = digests_of(written, [] {});
  // The results are complete: from now on they only need to be renamed.
  write_file(join_path(folder_, kWrittenFile), format_record(result, setup_));
  if (!publish(options_, setup_, name_, work_folder_, [](const PictureResult&) { return true; })) {
    return Error{ErrorCode::conflict, "its results were removed while they were being renamed", "",
                 "run the same command again"};
  }
  for (HeadResult& head : result.heads) head.preview = {};
  return result;
}

}  // namespace millrace::segment
