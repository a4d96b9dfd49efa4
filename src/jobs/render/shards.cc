#include "src/jobs/render/shards.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include "src/base/text.h"
#include "src/io/file/atomic_file.h"

namespace millrace::render {
namespace {

namespace fs = std::filesystem;

// What fails in the folder is told with the folder's name, not by what it is reached.
template <typename Work>
auto in_words_of(const ShardFolder& folder, Work&& work) {
  try {
    return work();
  } catch (const Failure& failure) {
    throw Failure(folder.in_words(failure.error()));
  }
}

}  // namespace

Shards::Shards(const Plan& plan, const Options& options)
    : folder_(options.output),
      attributes_(plan.layout.attributes),
      cut_{plan.charts, static_cast<std::uint64_t>(options.shard)},
      form_(make_form(plan, options, folder_)) {
  if (options.output == "-") {
    throw Failure(ErrorCode::usage, "a store is a file or a folder, and cannot go to stdout", "-o -",
                  "name one, as charts.h5");
  }
  if (options.store == Store::hdf5 && options.output.ends_with("/")) {
    throw Failure(ErrorCode::usage, "it names a folder", options.output, "name a file, as charts.h5");
  }
  check_output();
  if (!finished_) in_words_of(folder_, [&] { check_folder(); });
}

Shards::~Shards() {
  if (committing_.valid()) committing_.wait();
}

void Shards::check_output() {
  const std::string& output = folder_.output();
  std::error_code error;
  const fs::file_status status = fs::symlink_status(output, error);
  if (status.type() == fs::file_type::not_found) return;
  const std::string remedy = "give another OUTPUT, or move this one away";
  if (!fs::exists(output, error)) throw Failure(ErrorCode::conflict, "it is a link to nothing", output, remedy);
  // A pipe would be waited for.
  if (!fs::is_regular_file(output, error) && !fs::is_directory(output, error)) {
    throw Failure(ErrorCode::conflict, "it is neither a file nor a folder, and a store is one of them", output, remedy);
  }
  if (::access(output.c_str(), R_OK) != 0) throw Failure(system_error("it cannot be read", output, errno));
  const auto there = form_->made_of(output);
  if (!there || !tells_of_charts(*there)) {
    throw Failure(ErrorCode::conflict, "it is there and is not a store of charts", output, remedy);
  }
  const std::string other = differences(*there, attributes_);
  if (!other.empty()) throw Failure(ErrorCode::conflict, "it was made of other things: " + other, output, remedy);
  ours_ = true;
  finished_ = form_->whole_output();
  if (!finished_) return;
  form_->tidy();
  if (!form_->keeps_folder()) remove_left_folder();
}

// A run that was killed in its last moment has left its shards. Others' stay.
void Shards::remove_left_folder() {
  if (!folder_.hold_left()) return;
  const auto there = attributes_in_json(folder_.path("run.json"));
  if (there && differences(*there, attributes_).empty()) folder_.remove();
}

void Shards::check_folder() {
  folder_.hold();
  // Between the look at the output and the lock, another run may have finished. Then the folder is empty, or not ours.
  try {
    check_output();
  } catch (...) {
    folder_.remove_if_empty();
    throw;
  }
  if (finished_) return folder_.remove_if_empty();
  if (!folder_.has_its_name()) {
    throw Failure(ErrorCode::conflict, "another run has just finished it", folder_.output(),
                  "run the same command again");
  }
  std::error_code error;
  const std::string run = folder_.path("run.json");
  Attributes now = attributes_;
  if (now.end() == std::find_if(now.begin(), now.end(), [](const auto& entry) { return entry.first == "shard"; })) {
    now.emplace_back("shard", std::to_string(cut_.each));
  }
  if (fs::exists(run, error)) {
    const auto there = attributes_in_json(run);
    const std::string other = there ? differences(*there, now) : there.error().what;
    if (!other.empty()) {
      throw Failure(ErrorCode::conflict, "an unfinished run made it of other things: " + other, folder_.name(),
                    "go on with what it was made of, give another OUTPUT, or remove this folder");
    }
    return form_->begin();
  }
  // What a run that was killed while it wrote run.json has left. Shards without run.json are not ours.
  for (const auto& entry : fs::directory_iterator(folder_.path(), error)) {
    if (entry.path().filename().string().starts_with(AtomicFile::kTemporaryPrefix)) fs::remove(entry.path(), error);
  }
  if (!fs::is_empty(folder_.path(), error)) {
    throw Failure(ErrorCode::conflict, "it holds files that no run knows", folder_.name(),
                  "give another OUTPUT, or move this folder away");
  }
  write_file(run, json_of(now));
  form_->begin();
}

bool Shards::take(std::uint64_t k) {
  return in_words_of(folder_, [&] {
    if (!form_->has(k)) return false;
    form_->take(k);
    return true;
  });
}

void Shards::write(std::uint64_t k, const std::function<void(ChartSink&)>& fill) {
  in_words_of(folder_, [&] {
    std::unique_ptr<ChartSink> sink = form_->open(k);
    fill(*sink);
    sink->finish();
    settle();
    written_ = std::move(sink);
  });
  committing_ = std::async(std::launch::async, [this] { written_->commit(); });
}

void Shards::settle() {
  in_words_of(folder_, [&] {
    if (committing_.valid()) committing_.get();
  });
  written_.reset();
}

void Shards::assemble(const CancelToken& cancel) {
  in_words_of(folder_, [&] { form_->assemble(cancel); });
}

void Shards::finish() {
  in_words_of(folder_, [&] { form_->publish(ours_); });
  if (!form_->keeps_folder()) folder_.remove();
}

std::uint64_t Shards::output_bytes() const {
  const std::string& output = folder_.output();
  std::error_code error;
  if (!fs::is_directory(output, error)) {
    const auto bytes = fs::file_size(output, error);
    return error ? 0 : bytes;
  }
  std::uint64_t sum = 0;
  for (auto entry = fs::recursive_directory_iterator(output, error); entry != fs::end(entry); entry.increment(error)) {
    if (error) break;
    const auto bytes = entry->is_regular_file(error) ? entry->file_size(error) : 0;
    if (!error) sum += bytes;
  }
  return sum;
}

}  // namespace millrace::render
