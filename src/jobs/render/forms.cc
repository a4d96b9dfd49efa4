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
  Hdf5Form(const Plan& plan, const Options& options, std::string output, std::string folder)
      : output_(std::move(output)),
        folder_(std::move(folder)),
        layout_(plan.layout),
        cut_{plan.charts, static_cast<std::uint64_t>(options.shard)} {}

  Outcome<Attributes> made_of(const std::string& output) const override { return chart_store_attributes(output); }
  void assemble(const CancelToken&) override { store_->finish(); }
  void publish() override {
    store_->commit();
    rename_file(whole(), output_);
    sync_folder(folder_of(output_));
  }

 protected:
  std::string whole() const { return folder_ + "/whole.h5"; }
  std::string said_of(std::uint64_t k) const { return fmt::format("{} to {}", cut_.begin(k), cut_.end(k)); }

  const std::string output_, folder_;
  const ChartLayout layout_;
  const Cut cut_;
  std::unique_ptr<ChartStore> store_;
};

// One file. HDF5 files are worth nothing before they are closed: what was drawn is kept in logs too, but for the last
// shard, after which nothing is drawn.
class OneFileForm : public Hdf5Form {
 public:
  using Hdf5Form::Hdf5Form;

  bool keeps_folder() const override { return false; }
  void begin() override { store_ = std::make_unique<ChartStore>(whole(), layout_); }
  // One that is damaged, or another's, is drawn again.
  bool has(std::uint64_t k) const override {
    std::uint64_t charts = 0;
    const auto count = [&](const ChartBlock& block) { charts += block.count(); };
    return read_chart_log(path(k), said_of(k), count) && charts == cut_.end(k) - cut_.begin(k);
  }
  void take(std::uint64_t k) override {
    const auto append = [&](const ChartBlock& block) { store_->append(block); };
    if (!read_chart_log(path(k), said_of(k), append)) {
      throw Failure(ErrorCode::conflict, "it changed while it was read", path(k), "run the same command again");
    }
  }
  std::unique_ptr<ChartSink> open(std::uint64_t k) override {
    auto log = k + 1 == cut_.count() ? nullptr : std::make_unique<ChartLog>(path(k), said_of(k));
    return std::make_unique<Sink>(*store_, std::move(log));
  }

 private:
  class Sink : public ChartSink {
   public:
    Sink(ChartStore& store, std::unique_ptr<ChartLog> log) : store_(store), log_(std::move(log)) {}
    void append(const ChartBlock& block) override {
      store_.append(block);
      if (log_) log_->append(block);
    }
    void finish() override {
      if (log_) log_->finish();
    }
    void commit() override {
      if (log_) log_->commit();
    }

   private:
    ChartStore& store_;
    std::unique_ptr<ChartLog> log_;
  };

  std::string path(std::uint64_t k) const { return fmt::format("{}/{}.charts", folder_, k); }
};

// Shards that stay where they are, and a file that maps them.
class VirtualForm : public Hdf5Form {
 public:
  using Hdf5Form::Hdf5Form;

  bool keeps_folder() const override { return true; }
  bool whole_output() const override {
    for (std::uint64_t k = 0; k < cut_.count(); ++k) {
      if (!has(k)) return false;
    }
    return true;
  }
  void begin() override {
    const std::string name = folder_.substr(folder_.find_last_of('/') + 1);
    store_ = std::make_unique<ChartStore>(whole(), layout_, ChartStore::Mapped{name, cut_.each});
  }
  bool has(std::uint64_t k) const override {
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
  std::string path(std::uint64_t k) const { return fmt::format("{}/{}.h5", folder_, k); }
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
  return out;
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

std::unique_ptr<Form> make_form(const Plan& plan, const Options& options, const std::string& output,
                                const std::string& folder) {
  if (options.store != "hdf5") return make_folder_form(plan, options, output, folder);
  if (options.virtual_set) return std::make_unique<VirtualForm>(plan, options, output, folder);
  return std::make_unique<OneFileForm>(plan, options, output, folder);
}

}  // namespace millrace::render
