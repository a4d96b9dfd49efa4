#include "src/jobs/render/shards.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "src/base/text.h"
#include "src/io/file/atomic_file.h"
#include "src/io/file/reader.h"
#include "src/jobs/render/inputs.h"

namespace millrace::render {
namespace {

namespace fs = std::filesystem;
using Attributes = std::vector<std::pair<std::string, std::string>>;

void sync_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = fd >= 0 && ::fsync(fd) == 0;
  const int number = errno;
  if (fd >= 0) ::close(fd);
  if (!done) throw Failure(system_error("it cannot be written to the disk", path, number));
}

void rename_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) throw Failure(system_error("it cannot be renamed", from, errno));
}

// "--size was 400x300, is 800x500", for all that differ; empty where nothing does.
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

std::string json_of(const Attributes& attributes) {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : attributes) json[name] = value;
  // A column may have a name that is not UTF-8.
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// None where it is not what json_of makes.
Attributes attributes_of_json(const std::string& text) {
  Attributes out;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return out;
  for (const auto& [name, value] : json.items()) {
    if (value.is_string()) out.emplace_back(name, value.get<std::string>());
  }
  return out;
}

Outcome<Attributes> attributes_in(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return text.error();
  Attributes out = attributes_of_json(*text);
  if (out.empty()) return Error{ErrorCode::bad_data, "it is not what a run writes", path, ""};
  return out;
}

}  // namespace

Shards::Shards(std::string output, const ChartLayout& layout, std::uint64_t charts_each)
    : output_(std::move(output)), folder_(output_ + ".shards"), layout_(layout), each_(charts_each) {
  if (output_.ends_with("/"))
    throw Failure(ErrorCode::usage, "it names a folder", output_, "name a file, as charts.h5");
  check_output();
  if (!finished_) check_folder();
}

Shards::~Shards() {
  if (syncing_.valid()) syncing_.wait();
  if (lock_ >= 0) ::close(lock_);
}

void Shards::check_output() {
  std::error_code error;
  if (!fs::exists(output_, error)) return;
  const auto there = chart_store_attributes(output_);
  const std::string remedy = "give another OUTPUT, or move this one away";
  if (!there) throw Failure(ErrorCode::conflict, "it is there and is not a store of charts", output_, remedy);
  const std::string other = differences(*there, layout_.attributes);
  if (!other.empty()) throw Failure(ErrorCode::conflict, "it was made of other things: " + other, output_, remedy);
  finished_ = true;
  // A run that was killed in its last moment left its shards.
  remove_folder();
}

// run.json goes last: what it stands beside is ours.
void Shards::remove_folder() {
  std::error_code error;
  const fs::path run = folder_ + "/run.json";
  if (fs::exists(run, error)) {
    for (const auto& entry : fs::directory_iterator(folder_, error)) {
      if (entry.path() != run) fs::remove(entry.path(), error);
    }
    fs::remove(run, error);
  }
  fs::remove(folder_, error);
}

void Shards::check_folder() {
  std::error_code error;
  fs::create_directory(folder_, error);
  if (error) throw Failure(system_error("it cannot be created", folder_, error.value()));
  // Given back by the system when the run ends, however it ends.
  lock_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) throw Failure(system_error("it cannot be opened", folder_, errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    throw Failure(ErrorCode::conflict, "another run is drawing the same output", folder_, "wait for it to end");
  }
  const std::string run = folder_ + "/run.json";
  Attributes now = layout_.attributes;
  now.emplace_back("shard", std::to_string(each_));
  if (fs::exists(run, error)) {
    const auto there = attributes_in(run);
    const Attributes printable_now = attributes_of_json(json_of(now));
    const std::string other = there ? differences(*there, printable_now) : there.error().what;
    if (!other.empty()) {
      throw Failure(ErrorCode::conflict, "an unfinished run made it of other things: " + other, folder_,
                    "go on with what it was made of, give another OUTPUT, or remove this folder");
    }
    return;
  }
  // Shards without it are older than it, or not ours.
  // What a run that was killed while it wrote run.json has left.
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().filename().string().starts_with(AtomicFile::kTemporaryPrefix)) fs::remove(entry.path(), error);
  }
  if (!fs::is_empty(folder_, error)) {
    throw Failure(ErrorCode::conflict, "it holds files that no run knows", folder_,
                  "give another OUTPUT, or move this folder away");
  }
  write_output(run, json_of(now));
}

std::uint64_t Shards::count() const { return (layout_.charts + each_ - 1) / each_; }

std::pair<std::uint64_t, std::uint64_t> Shards::range(std::uint64_t k) const {
  return {k * each_, std::min(layout_.charts, (k + 1) * each_)};
}

std::string Shards::path(std::uint64_t k) const { return fmt::format("{}/{:05}.h5", folder_, k); }

// What each shard says of itself.
ChartLayout Shards::layout_of(std::uint64_t k) const {
  ChartLayout layout = layout_;
  const auto [begin, end] = range(k);
  layout.charts = end - begin;
  layout.attributes.emplace_back("charts", fmt::format("{} to {}", begin, end));
  return layout;
}

bool Shards::has(std::uint64_t k) const {
  if (::access(path(k).c_str(), F_OK) != 0) return false;
  // One that is damaged, or another's, is drawn again.
  const auto there = chart_store_attributes(path(k));
  return there && differences(*there, layout_of(k).attributes).empty();
}

void Shards::write(std::uint64_t k, const std::function<void(ChartStore&)>& fill) {
  const std::string name = path(k), unfinished = name + ".part";
  try {
    ChartStore store(unfinished, layout_of(k));
    fill(store);
    store.finish();
  } catch (...) {
    ::unlink(unfinished.c_str());
    throw;
  }
  settle();
  syncing_ = std::async(std::launch::async, [name, unfinished] {
    sync_file(unfinished);
    rename_file(unfinished, name);
  });
}

void Shards::settle() {
  if (syncing_.valid()) syncing_.get();
}

void Shards::join(const CancelToken& cancel) {
  try {
    ChartStore store(part(), layout_);
    for (std::uint64_t k = 0; k < count(); ++k) {
      if (cancel.cancelled()) {
        throw Failure(ErrorCode::cancelled, "interrupted; the same command goes on where this one stopped");
      }
      store.append_file(path(k));
    }
    store.finish();
  } catch (...) {
    ::unlink(part().c_str());
    throw;
  }
}

void Shards::finish() {
  sync_file(part());
  rename_file(part(), output_);
  sync_folder(folder_of(output_));
  remove_folder();
}

std::uint64_t Shards::output_bytes() const {
  std::error_code error;
  const auto bytes = fs::file_size(output_, error);
  return error ? 0 : bytes;
}

}  // namespace millrace::render
