#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/store/chart_files.h"
#include "src/io/store/tar.h"
#include "src/io/store/zarr_store.h"
#include "src/io/tensor/npy.h"
#include "src/jobs/render/forms.h"

namespace millrace::render {
namespace {

// A folder that becomes the output.
class FolderForm : public Form {
 public:
  FolderForm(const Plan& plan, const Options& options, ShardFolder& folder)
      : plan_(plan), options_(options), folder_(folder), cut_{plan.charts, static_cast<std::uint64_t>(options.shard)} {}

  Outcome<Attributes> made_of(const std::string& output) const override {
    return attributes_in_json(output + "/run.json");
  }
  bool keeps_folder() const override { return true; }
  bool has(std::uint64_t k) override { return ::access(path(k).c_str(), F_OK) == 0; }
  void take(std::uint64_t) override {}
  void assemble(const CancelToken& cancel) override { write_tables(cancel); }
  void publish(bool) override { folder_.publish(); }

 protected:
  // The file or folder of a shard.
  virtual std::string path(std::uint64_t k) const = 0;

  // sequences.npy, labels.npy and index.csv: what the charts were drawn from.
  void write_tables(const CancelToken& cancel) const {
    const ChartLayout& layout = plan_.layout;
    const std::vector<npy::Field> floats = {{"", {'f', 4}}};
    AtomicFile sequences(folder_.path("sequences.npy"), AtomicFile::Temporary::part);
    sequences.write(npy::header_text(floats, with_count(plan_.charts, layout.sequence())));
    AtomicFile labels(folder_.path("labels.npy"), AtomicFile::Temporary::part);
    labels.write(npy::header_text(floats, std::vector<std::uint64_t>{plan_.charts, layout.horizons.size()}));
    AtomicFile index(folder_.path("index.csv"), AtomicFile::Temporary::part);
    index.write("chart,file,row,symbol,date,end_date,end_time");
    for (const std::int64_t horizon : layout.horizons) index.write(fmt::format(",label_{}", horizon));
    index.write("\n");
    Artist artist(plan_, options_);
    ChartBlock block;
    for (std::uint64_t chart = 0; chart < plan_.charts; ++chart) {
      throw_if(cancel);
      block.clear();
      artist.read(chart);
      artist.append_sequence(block.sequences);
      append_facts(plan_, options_, chart, block);
      sequences.write(std::as_bytes(std::span(block.sequences)));
      labels.write(std::as_bytes(std::span(block.labels)));
      const ChartBlock::Place& place = block.places.front();
      const std::string time = place.end_time == kNoTime ? std::string() : std::to_string(place.end_time);
      index.write(fmt::format("{},{},{},{},{},{},{}", chart, place.file, place.row, csv_field(place.symbol),
                              csv_field(place.date), csv_field(place.end_date), time));
      for (const float label : block.labels) index.write(label == label ? fmt::format(",{}", label) : std::string(","));
      index.write("\n");
    }
    sequences.commit();
    if (!layout.horizons.empty()) labels.commit();
    index.commit();
  }

  const Plan& plan_;
  const Options& options_;
  ShardFolder& folder_;
  const Cut cut_;
};

// png, jpeg: a folder of files a shard.
class PictureForm : public FolderForm {
 public:
  using FolderForm::FolderForm;
  std::unique_ptr<ChartSink> open(std::uint64_t k) override {
    return std::make_unique<ChartFolder>(path(k), cut_.begin(k), options_.store == Store::jpeg ? "jpg" : "png");
  }

 protected:
  std::string path(std::uint64_t k) const override { return folder_.path(fmt::format("{:05}", k)); }
};

// webdataset: an archive a shard, which holds everything.
class ArchiveForm : public FolderForm {
 public:
  using FolderForm::FolderForm;
  std::unique_ptr<ChartSink> open(std::uint64_t k) override {
    return std::make_unique<ChartArchive>(path(k), tar_end());
  }
  void assemble(const CancelToken&) override {}

 protected:
  std::string path(std::uint64_t k) const override { return folder_.path(fmt::format("{:05}.tar", k)); }
};

// npy, dat: one file for all.
class RowsForm : public FolderForm {
 public:
  RowsForm(const Plan& plan, const Options& options, ShardFolder& folder) : FolderForm(plan, options, folder) {
    if (options.store != Store::npy) return;
    const npy::Type type = plan.layout.floats ? npy::Type{'f', 4} : npy::Type{'u', 1};
    header_ = npy::header_text({{"", type}}, with_count(plan.charts, plan.layout.image));
  }

  bool has(std::uint64_t k) override {
    struct stat info {};
    const std::string file = path(k);
    return ChartRows::done(file) >= cut_.end(k) && ::stat(file.c_str(), &info) == 0 &&
           static_cast<std::uint64_t>(info.st_size) >= header_.size() + cut_.end(k) * plan_.layout.image_bytes();
  }
  std::unique_ptr<ChartSink> open(std::uint64_t k) override {
    return std::make_unique<ChartRows>(path(k), header_, cut_.begin(k), plan_.layout.image_bytes());
  }
  void publish(bool over) override {
    ::unlink((path(0) + ".done").c_str());
    FolderForm::publish(over);
  }

 protected:
  std::string path(std::uint64_t) const override {
    return folder_.path(options_.store == Store::npy ? "images.npy" : "images.dat");
  }

 private:
  std::string header_;
};

class ZarrForm : public FolderForm {
 public:
  using FolderForm::FolderForm;
  // Readers of Zarr know no run.json: the group's own attributes say the same.
  Outcome<Attributes> made_of(const std::string& output) const override {
    return attributes_in_json(output + "/zarr.json", "attributes");
  }
  void tidy() override { ::unlink((folder_.output() + "/run.json").c_str()); }
  void begin() override { write_zarr_metadata(folder_.path(), plan_.layout, each()); }
  std::unique_ptr<ChartSink> open(std::uint64_t k) override {
    return std::make_unique<ZarrShard>(folder_.path(), plan_.layout, each(), k);
  }
  void assemble(const CancelToken&) override {}
  void publish(bool over) override {
    FolderForm::publish(over);
    ::unlink(folder_.path("run.json").c_str());
  }

 protected:
  std::string path(std::uint64_t k) const override { return zarr_shard_path(folder_.path(), plan_.layout, k); }

 private:
  // A shard has room for no more charts than there are.
  std::uint64_t each() const { return std::min(cut_.each, cut_.charts); }
};

}  // namespace

std::unique_ptr<Form> make_folder_form(const Plan& plan, const Options& options, ShardFolder& folder) {
  if (options.store == Store::zarr) return std::make_unique<ZarrForm>(plan, options, folder);
  if (options.store == Store::webdataset) return std::make_unique<ArchiveForm>(plan, options, folder);
  if (options.store == Store::npy || options.store == Store::dat)
    return std::make_unique<RowsForm>(plan, options, folder);
  return std::make_unique<PictureForm>(plan, options, folder);
}

}  // namespace millrace::render
