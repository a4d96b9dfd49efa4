#include "src/jobs/render/forms.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/io/file/atomic_file.h"
#include "src/io/file/reader.h"
#include "src/io/store/chart_store.h"

namespace millrace::render {
namespace {

// Shards that are joined into one file.
class JoinedForm : public Form {
 public:
  JoinedForm(const Plan& plan, const Options& options, std::string output, std::string folder)
      : output_(std::move(output)),
        folder_(std::move(folder)),
        layout_(plan.layout),
        cut_{plan.charts, static_cast<std::uint64_t>(options.shard)} {}

  Outcome<Attributes> made_of(const std::string& output) const override { return chart_store_attributes(output); }
  bool keeps_folder() const override { return false; }

  // One that is damaged, or another's, is drawn again.
  bool has(std::uint64_t k) const override {
    if (::access(path(k).c_str(), F_OK) != 0) return false;
    const auto there = chart_store_attributes(path(k));
    return there && differences(*there, layout_of(k).attributes).empty();
  }
  std::unique_ptr<ChartSink> open(std::uint64_t k) const override {
    return std::make_unique<ChartStore>(path(k), layout_of(k));
  }
  void assemble(const CancelToken& cancel) override { join(std::make_unique<ChartStore>(output_, layout_), cancel); }
  void publish() override {
    store_->commit();
    sync_folder(folder_of(output_));
  }

 protected:
  void join(std::unique_ptr<ChartStore> store, const CancelToken& cancel) {
    store_ = std::move(store);
    for (std::uint64_t k = 0; k < cut_.count(); ++k) {
      if (cancel.cancelled()) {
        throw Failure(ErrorCode::cancelled, "interrupted; the same command goes on where this one stopped");
      }
      store_->append_file(path(k));
    }
    store_->finish();
  }
  std::string path(std::uint64_t k) const { return fmt::format("{}/{}.h5", folder_, k); }
  // What each shard says of itself.
  ChartLayout layout_of(std::uint64_t k) const {
    ChartLayout layout = layout_;
    layout.charts = cut_.end(k) - cut_.begin(k);
    layout.attributes.emplace_back("charts", fmt::format("{} to {}", cut_.begin(k), cut_.end(k)));
    return layout;
  }

  const std::string output_, folder_;
  const ChartLayout layout_;
  const Cut cut_;
  std::unique_ptr<ChartStore> store_;
};

// Shards that stay where they are.
class VirtualForm : public JoinedForm {
 public:
  using JoinedForm::JoinedForm;

  bool keeps_folder() const override { return true; }
  bool whole() const override {
    for (std::uint64_t k = 0; k < cut_.count(); ++k) {
      if (!has(k)) return false;
    }
    return true;
  }
  std::unique_ptr<ChartSink> open(std::uint64_t k) const override {
    return std::make_unique<ChartStore>(path(k), layout_of(k), ChartStore::Shard{cut_.each});
  }
  void assemble(const CancelToken& cancel) override {
    const std::string name = folder_.substr(folder_.find_last_of('/') + 1);
    join(std::make_unique<ChartStore>(output_, layout_, ChartStore::Mapped{name, cut_.each}), cancel);
  }
};

}  // namespace

std::string differences(const Attributes& then, const Attributes& now) {
  std::string out;
  for (const auto& [name, value] : now) {
    const auto same = [&name = name](const auto& entry) { return entry.first == name; };
    const auto was = std::find_if(then.begin(), then.end(), same);
    if (was != then.end() && was->second == value) continue;
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

std::string json_of(const Attributes& attributes) {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : attributes) json[name] = value;
  return json.dump(1) + "\n";
}

Outcome<Attributes> attributes_in_json(const std::string& path, const char* member) {
  auto reader = FileReader::open(path, FileReader::Hashing::off);
  if (!reader) return reader.error();
  std::string text;
  for (auto bytes = (*reader)->next(); !bytes.empty(); bytes = (*reader)->next()) {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  Attributes out;
  auto json = nlohmann::ordered_json::parse(text, nullptr, false);
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
  return std::make_unique<JoinedForm>(plan, options, output, folder);
}

}  // namespace millrace::render
