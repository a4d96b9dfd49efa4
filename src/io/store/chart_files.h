// Enters: charts that are whole files, records of an archive, or rows of one large file.
// Leaves: a shard of them under its name.
// Never: encodes: what a chart is stored as was made before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "src/io/file/atomic_file.h"
#include "src/io/store/chart_block.h"

namespace millrace {

// A file a chart: FOLDER/00000012.png and so on, in a folder that is one shard and is synced once.
class ChartFolder : public ChartSink {
 public:
  // `first` is the number of the first chart, `extension` as "png".
  ChartFolder(std::string folder, std::uint64_t first, std::string extension);
  void append(const ChartBlock& block) override;
  void finish() override {}
  void commit() override;

 private:
  std::string folder_, part_, extension_;
  std::uint64_t at_;
};

// A file that holds whatever each chart was made into, one after the other, and `end`.
class ChartArchive : public ChartSink {
 public:
  ChartArchive(std::string path, std::string end)
      : file_(std::move(path), AtomicFile::Temporary::part), end_(std::move(end)) {}
  void append(const ChartBlock& block) override;
  void finish() override { file_.write(end_); }
  void commit() override { file_.commit(); }

 private:
  AtomicFile file_;
  std::string end_;
};

// Part of a file that is there already, from a byte on: [charts, image]. PATH.done says how many charts of it, from the
// first on, are on the disk.
class ChartRows : public ChartSink {
 public:
  // `header` is what the file begins with; `first` the number of the first chart, each `image_bytes` long.
  ChartRows(std::string path, std::string_view header, std::uint64_t first, std::uint64_t image_bytes);
  ~ChartRows() override;
  // How many charts are on the disk.
  static std::uint64_t done(const std::string& path);

  void append(const ChartBlock& block) override;
  void finish() override {}
  void commit() override;

 private:
  std::string path_;
  std::uint64_t offset_, charts_;
  int fd_ = -1;
};

}  // namespace millrace
