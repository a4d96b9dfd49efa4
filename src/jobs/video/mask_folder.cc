#include "src/jobs/video/mask_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>

#include "src/base/paths.h"
#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/file_reader.h"
#include "src/io/image/picture_rows.h"
#include "src/io/image/png_write.h"
#include "src/kernels/masks/masks.h"
#include "src/pipeline/checkpoint/run_record.h"

namespace millrace::video {
namespace {

constexpr const char* kTable = "times.csv";
constexpr std::string_view kHeader = "file,seconds,time";

}  // namespace

MaskEncoder::MaskEncoder(const video_file::FrameShape& shape, std::uint32_t slots, Listener listener)
    : shape_(shape), layout_(video_file::layout_of(shape)), listener_(std::move(listener)) {
  slots_.resize(slots);
  for (std::uint32_t k = slots; k > 0; --k) {
    slots_[k - 1].resize(layout_.bytes);
    free_.push_back(k - 1);
  }
}

video_file::FrameEncoder::Slot MaskEncoder::wait_for_slot() {
  MutexLock lock(mutex_);
  while (free_.empty()) changed_.wait(lock);
  const std::uint32_t number = free_.back();
  free_.pop_back();
  return {slots_[number].data(), number};
}

void MaskEncoder::begin() {
  listener_.opened({"png", "png", "gray", R"({"encoder":"png","codec":"png","pixels":"gray"})", {}});
}

void MaskEncoder::send(const Slot& slot, std::int64_t pts, std::int64_t duration) {
  const auto width = static_cast<std::size_t>(shape_.width), height = static_cast<std::size_t>(shape_.height);
  std::vector<std::uint8_t> rows((width + 1) * height);
  for (std::size_t y = 0; y < height; ++y)
    std::copy_n(slot.pixels + layout_.offset[0] + y * layout_.stride[0], width, rows.data() + y * (width + 1) + 1);
  {
    const MutexLock lock(mutex_);
    free_.push_back(slot.number);
  }
  changed_.notify_one();
  video_file::EncodedPacket packet{pts, duration, true, 0, {}};
  append_png({static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), 1, 8}, compress_png_rows(rows),
             packet.data);
  listener_.packet(std::move(packet));
}

void MaskEncoder::drain() { listener_.ended(); }

void write_masks(ShardFolder& shards, const std::string& name, video_file::Rational time_base,
                 const Attributes& provenance, const std::string& note, const std::function<void()>& check_cancelled) {
  const std::string folder = shards.path(name);
  std::error_code error;
  // Removes the files of a run that was killed here.
  std::filesystem::remove_all(folder, error);
  std::filesystem::create_directory(folder, error);
  if (error) throw Failure(system_error("the folder cannot be made", folder, error.value()));
  std::string table = std::string(kHeader) + "\n";
  std::uint64_t count = 0;
  ShardIterator iterator(shards);
  while (const auto shard = iterator.next()) {
    for (std::size_t i = 0; i < shard->packets.entries().size(); ++i) {
      check_cancelled();
      const video_file::EncodedPacket packet = shard->packets.read(i);
      const std::string file = fmt::format("{:08}.png", ++count);
      const std::string path = join_path(folder, file);
      const Descriptor out(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
      if (!out) throw Failure(system_error("the file cannot be made", path, errno));
      write_all(out.get(), std::string_view(reinterpret_cast<const char*>(packet.data.data()), packet.data.size()),
                path);
      table += fmt::format("{},{:.6f},{}\n", file, static_cast<double>(packet.pts) * time_base.value(), packet.pts);
    }
  }
  write_file(join_path(folder, kTable), table);
  write_file(join_path(folder, RunFolder::kRunFile), millrace::json_of(provenance));
  write_file(join_path(folder, kMasksRecordFile), note);
  // Writes all files to disk before the folder gets its final name.
  const Descriptor disk(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!disk || ::syncfs(disk.get()) != 0)
    throw Failure(system_error("it cannot be written to the disk", folder, errno));
}

MaskFolder::MaskFolder(const std::string& folder) : folder_(folder) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
  const std::string table = join_path(folder, kTable);
  const std::string text = read_text(table, kMaxBytes).or_throw();
  const auto refuse = [&](const std::string& what) {
    throw Failure(ErrorCode::bad_data, what, table, "name a folder that --write matte-files has written");
  };
  const auto lines = split(text, '\n');
  if (lines.empty() || lines[0] != kHeader) refuse(fmt::format("its first line is not {}", kHeader));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const auto fields = split(lines[i], ',');
    std::int64_t pts = 0;
    const bool whole = fields.size() == 3 &&
                       std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), pts).ec == std::errc();
    // The field must be a file name, not a path.
    if (!whole || fields[0].empty() || fields[0].find('/') != std::string::npos || fields[0] == "." ||
        fields[0] == "..")
      refuse(fmt::format("line {} is not a file name, seconds and a time", i + 1));
    files_[pts] = fields[0];
  }
  if (files_.empty()) refuse("it lists no masks");
  // The digest covers size and time of each mask, so that a replaced mask changes it.
  std::string all = text;
  for (const auto& [pts, file] : files_) {
    struct stat about {};
    if (::stat(join_path(folder_, file).c_str(), &about) == 0)
      all += fmt::format("{} {} {}.{}\n", file, about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
  }
  digest_ =
      fmt::format("{:016x}", short_hash(std::span(reinterpret_cast<const std::uint8_t*>(all.data()), all.size())));
  auto rows =
      PictureRows::open(FileReader::open(join_path(folder_, files_.begin()->second)).or_throw(), {}, Bytes{1 << 16})
          .or_throw();
  width_ = rows->info().width;
  height_ = rows->info().height;
}

void MaskFolder::read(std::int64_t pts, std::uint16_t* mask, RunContext& context) const {
  const auto found = files_.find(pts);
  if (found == files_.end()) {
    throw Failure(ErrorCode::not_found, fmt::format("it has no mask for the frame with time {} in times.csv", pts),
                  folder_, "use masks that were made from this video");
  }
  const std::string path = join_path(folder_, found->second);
  DecodeOptions options;
  options.gray = true;
  options.helpers = &context.helpers;
  options.cancelled = [&context] { return context.cancel.cancelled(); };
  auto rows = PictureRows::open(FileReader::open(path).or_throw(), options, Bytes{1 << 20}).or_throw();
  if (rows->info().width != width_ || rows->info().height != height_)
    throw Failure(ErrorCode::bad_data, "its size differs from that of the first mask", path, "");
  const std::size_t channels = rows->row_bytes() / static_cast<std::size_t>(width_);
  std::vector<std::uint8_t> row(rows->row_bytes());
  for (std::int32_t y = 0; y < height_; ++y) {
    rows->take(1, row.data()).or_throw();
    for (std::int32_t x = 0; x < width_; ++x)
      *mask++ = static_cast<std::uint16_t>((row[static_cast<std::size_t>(x) * channels] * masks::kOne + 127) / 255);
  }
}

}  // namespace millrace::video
