#include "src/jobs/render/forms.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/io/file/atomic_file.h"
#include "src/io/file/reader.h"
#include "src/io/store/chart_log.h"
#include "src/io/store/chart_store.h"
#include "src/jobs/render/inputs.h"

namespace millrace::render {
namespace {

// What both forms of HDF5 share: the output is written from the first chart on, and gets its name in the end.
class Hdf5Form : public Form {
 public:
  Hdf5Form(const Plan& plan, const Options& options, ShardFolder& folder)
      : folder_(folder), layout_(plan.layout), cut_{plan.charts, static_cast<std::uint64_t>(options.shard)} {}

  Outcome<Attributes> made_of(const std::string& output) const override { return chart_store_attributes(output); }
  void assemble(const CancelToken&) override { store_->finish(); }
  void publish(bool over) override {
    store_->commit();
    folder_.publish(kWhole, over);
  }

 protected:
  static constexpr const char* kWhole = "whole.h5";
  std::string whole() const { return folder_.path(kWhole); }
  std::string said_of(std::uint64_t k) const { return fmt::format("{} to {}", cut_.begin(k), cut_.end(k)); }

  ShardFolder& folder_;
  const ChartLayout layout_;
  const Cut cut_;
  std::unique_ptr<ChartStore> store_;
};

// One file. An HDF5 file is worth nothing before it is closed, but the charts in it are there: logs tell a later run
// which, shard by shard but for the last one, after which nothing is drawn. That run writes the file anew and takes
// them from the old one.
class OneFileForm : public Hdf5Form {
 public:
  OneFileForm(const Plan& plan, const Options& options, ShardFolder& folder)
      : Hdf5Form(plan, options, folder), plan_(plan), options_(options), artist_(plan, options) {}

  bool keeps_folder() const override { return false; }
  void begin() override {
    // A run that was killed while it took charts over has left more than one.
    std::size_t n = 0;
    for (; ::access(earlier(n).c_str(), F_OK) == 0; ++n) earlier_.push_back(earlier(n));
    for (const std::string& left : {whole(), whole() + ".part"}) {
      if (::access(left.c_str(), F_OK) != 0) continue;
      rename_file(left, earlier(n));
      earlier_.push_back(earlier(n++));
    }
    for (const std::string& file : earlier_) finders_.push_back(std::make_unique<ChartFinder>(file));
    store_ = std::make_unique<ChartStore>(whole(), layout_);
    // However this run ends, the next one takes charts from it.
    store_->keep_unfinished();
  }
  // One that is damaged, or another's, is drawn again.
  bool has(std::uint64_t k) override {
    found_.reset();
    record_ = read_chart_log(path(k), said_of(k)).value_or(ChartRecord{});
    if (record_.charts.size() != cut_.end(k) - cut_.begin(k)) return false;
    for (std::size_t f = 0; f < finders_.size() && !found_; ++f) {
      found_ = finders_[f]->find(record_);
      finder_ = finders_[f].get();
    }
    return found_.has_value();
  }
  void take(std::uint64_t k) override {
    constexpr std::uint64_t kTogether = 32;
    ChartBlock block;
    for (std::uint64_t begin = cut_.begin(k); begin < cut_.end(k); begin += kTogether) {
      block.clear();
      for (std::uint64_t chart = begin; chart < std::min(cut_.end(k), begin + kTogether); ++chart) {
        const std::uint64_t i = chart - cut_.begin(k), bytes = record_.charts[i].bytes;
        const std::size_t at = block.images.size();
        block.images.resize(at + bytes);
        if (!finder_->read((*found_)[i], std::span(block.images).subspan(at))) {
          throw Failure(ErrorCode::conflict, "what an earlier run left in it has changed meanwhile", folder_.name(),
                        "remove it, and run the same command again");
        }
        block.image_bytes.push_back(static_cast<std::uint32_t>(bytes));
        artist_.read(chart);
        artist_.append_sequence(block.sequences);
        append_facts(plan_, options_, chart, block);
      }
      store_->append(block);
    }
  }
  std::unique_ptr<ChartSink> open(std::uint64_t k) override {
    if (!earlier_.empty()) forget_earlier();
    auto log = k + 1 == cut_.count() ? nullptr : std::make_unique<ChartLog>(path(k), said_of(k));
    return std::make_unique<Sink>(*store_, whole() + ".part", std::move(log));
  }

 private:
  class Sink : public ChartSink {
   public:
    Sink(ChartStore& store, std::string file, std::unique_ptr<ChartLog> log)
        : store_(store), file_(std::move(file)), log_(std::move(log)) {}
    void append(const ChartBlock& block) override {
      store_.append(block);
      if (log_) log_->append(block);
    }
    void finish() override {
      if (log_) log_->finish();
    }
    // The charts first: a log must not tell of what a power cut has taken.
    void commit() override {
      if (!log_) return;
      sync_file(file_);
      log_->commit();
    }

   private:
    ChartStore& store_;
    const std::string file_;
    std::unique_ptr<ChartLog> log_;
  };

  // Shards come in order: once one has to be drawn, later ones are drawn too.
  void forget_earlier() {
    sync_file(whole() + ".part");
    finders_.clear();
    for (const std::string& file : earlier_) ::unlink(file.c_str());
    earlier_.clear();
  }

  std::string path(std::uint64_t k) const { return folder_.path(fmt::format("{}.charts", k)); }
  std::string earlier(std::size_t n) const { return folder_.path(fmt::format("earlier{}.h5.part", n)); }

  const Plan& plan_;
  const Options& options_;
  Artist artist_;
  std::vector<std::string> earlier_;
  std::vector<std::unique_ptr<ChartFinder>> finders_;
  // Of the shard that has() was asked for last.
  ChartRecord record_;
  std::optional<std::vector<std::uint64_t>> found_;
  ChartFinder* finder_ = nullptr;
};

// Shards that stay where they are, and a file that maps them.
class VirtualForm : public Hdf5Form {
 public:
  using Hdf5Form::Hdf5Form;

  bool keeps_folder() const override { return true; }
  bool whole_output() const override {
    for (std::uint64_t k = 0; k < cut_.count(); ++k) {
      if (!is_there(k)) return false;
    }
    return true;
  }
  void begin() override {
    const std::string name = folder_.name().substr(folder_.name().find_last_of('/') + 1);
    store_ = std::make_unique<ChartStore>(whole(), layout_, ChartStore::Mapped{name, cut_.each});
  }
  bool has(std::uint64_t k) override { return is_there(k); }
  bool is_there(std::uint64_t k) const {
    if (::access(path(k).c_str(), F_OK) != 0) return false;
    const auto there = chart_store_attributes(path(k));
    return there && differences(*there, layout_of(k).attributes).empty();
  }
  void take(std::uint64_t) override {}
  std::unique_ptr<ChartSink> open(std::uint64_t k) override {
    return std::make_unique<ChartStore>(path(k), layout_of(k), ChartStore::Shard{cut_.each});
  }
  void assemble(const CancelToken& cancel) override {
    for (std::uint64_t k = 0; k < cut_.count(); ++k) {
      throw_if(cancel);
      store_->append_tables(path(k));
    }
    store_->finish();
  }

 private:
  std::string path(std::uint64_t k) const { return folder_.path(fmt::format("{}.h5", k)); }
  // What each shard says of itself.
  ChartLayout layout_of(std::uint64_t k) const {
    ChartLayout layout = layout_;
    layout.charts = cut_.end(k) - cut_.begin(k);
    layout.attributes.emplace_back("charts", said_of(k));
    return layout;
  }
};

}  // namespace

std::string differences(const Attributes& then, const Attributes& now) {
  std::string out;
  for (const auto& [name, value] : now) {
    const auto same = [&name = name](const auto& entry) { return entry.first == name; };
    const auto was = std::find_if(then.begin(), then.end(), same);
    if (was != then.end() && (was->second == value || (name == "inputs" && same_inputs(was->second, value)))) continue;
    if (!out.empty()) out += "; ";
    if (name == "inputs") {
      out += "the inputs have changed or are others";
    } else if (was == then.end()) {
      out += fmt::format("--{} is '{}' and was not there", name, value);
    } else {
      out += fmt::format("--{} was '{}', is '{}'", name, was->second, value);
    }
  }
  // A shard's size is said where it does not matter, too.
  for (const auto& [name, value] : then) {
    const auto same = [&name = name](const auto& entry) { return entry.first == name; };
    if (name == "shard" || std::any_of(now.begin(), now.end(), same)) continue;
    if (!out.empty()) out += "; ";
    out += fmt::format("--{} was '{}'", name, value);
  }
  return out;
}

bool tells_of_charts(const Attributes& attributes) {
  return std::any_of(attributes.begin(), attributes.end(), [](const auto& entry) { return entry.first == "drawing"; });
}

void throw_if(const CancelToken& cancel) {
  if (cancel.cancelled()) {
    throw Failure(ErrorCode::cancelled, "interrupted; the same command goes on where this one stopped");
  }
}

std::string json_of(const Attributes& attributes) {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : attributes) json[name] = value;
  return json.dump(1) + "\n";
}

Outcome<Attributes> attributes_in_json(const std::string& path, const char* member) {
  const auto text = read_text(path);
  if (!text) return text.error();
  Attributes out;
  auto json = nlohmann::ordered_json::parse(*text, nullptr, false);
  if (member != nullptr && json.is_object()) json = json.value(member, nlohmann::ordered_json());
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) {
      if (value.is_string()) out.emplace_back(name, value.get<std::string>());
    }
  }
  if (out.empty()) return Error{ErrorCode::bad_data, "it is not what a run writes", path, ""};
  return out;
}

std::unique_ptr<Form> make_form(const Plan& plan, const Options& options, ShardFolder& folder) {
  if (options.store != Store::hdf5) return make_folder_form(plan, options, folder);
  if (options.virtual_set) return std::make_unique<VirtualForm>(plan, options, folder);
  return std::make_unique<OneFileForm>(plan, options, folder);
}

}  // namespace millrace::render
