// Input: the files of a test, and its decisions about them.
// Output: the files on disk, commands run on them in separate processes, and the state of the disk afterwards.
// Never: runs a command in the test's process: each may be cut off at any step.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/apply/apply.h"
#include "src/jobs/dedupe/catalog/catalog.h"
#include "src/jobs/dedupe/scan/library.h"

namespace millrace::dedupe {

inline constexpr int kKilledExitCode = 77;

// Set only in the child process.
inline int steps_left = 0;
inline CancelToken* cancel_at_step = nullptr;
inline void count_down(const char*) {
  if (--steps_left != 0) return;
  if (cancel_at_step != nullptr) {
    cancel_at_step->cancel();
  } else {
    _exit(kKilledExitCode);
  }
}

class Scene : public testing::Test {
 protected:
  void SetUp() override {
    // Uses memory if possible, since thousands of syncs would otherwise be waited for.
    name_ = "/millrace_apply_" + std::to_string(getpid()) + "_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    top_ = (::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : disk_folder()) + name_;
    photos_ = top_ + "/photos";
    fresh();
  }
  void TearDown() override {
    std::filesystem::remove_all(top_);
    if (!elsewhere_.empty()) std::filesystem::remove_all(elsewhere_);
  }

  void fresh() {
    std::filesystem::remove_all(top_);
    if (!elsewhere_.empty()) std::filesystem::remove_all(elsewhere_);
    std::filesystem::create_directories(photos_);
    std::filesystem::create_directories(top_ + "/data");
    entries_.clear();
  }

  // Returns a folder on another file system; empty if this machine has no writable one.
  std::string elsewhere() {
    struct stat here {
    }, there{};
    if (::stat(top_.c_str(), &here) != 0 || ::stat(disk_folder().c_str(), &there) != 0 || here.st_dev == there.st_dev)
      return "";
    elsewhere_ = disk_folder() + name_;
    return elsewhere_;
  }

  std::string put(const std::string& name, const std::string& bytes, std::int64_t second = 1'500'000'000,
                  unsigned mode = 0644) {
    std::string path = photos_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    ::chmod(path.c_str(), mode);
    const timespec times[2] = {{second, 123456789}, {second, 123456789}};
    ::utimensat(AT_FDCWD, path.c_str(), times, 0);
    return path;
  }

  static std::string contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // Adds a decision about the file in its current state. A file to remove counts as chosen by a person.
  Json& decide(const std::string& group, const std::string& action, const std::string& name) {
    const std::string path = name.starts_with('/') ? name : photos_ + "/" + name;
    const auto state = state_of(path).or_throw();
    Json entry{{"group", group},
               {"action", action},
               {"path", replace_invalid_utf8(path)},
               {"size", state.size},
               {"mtime_ns", std::to_string(state.mtime_ns)}};
    if (action == "remove") entry["chosen"] = true;
    if (!is_utf8(path)) entry["path_base64"] = to_base64(path);
    const auto hash = hash_file(path);
    entry["hash"] = hash ? hex_of_bytes(*hash) : std::string(32, '0');
    entries_.push_back(entry);
    return entries_.back();
  }

  // Makes two files of the same bytes; b.jpg is to be removed.
  void pair() {
    put("a.jpg", "the picture");
    put("b.jpg", "the picture");
    decide("1", "keep", "a.jpg");
    decide("1", "remove", "b.jpg");
  }

  struct RunResult {
    int code = 0;
    Json json;
    bool cut_off() const { return code == kKilledExitCode; }
    // Returns the state or the reason of a file, by the end of its path.
    std::string of(const std::string& name, const char* field = "state") const {
      for (const Json& item : json["items"]) {
        if (item["path"].get<std::string>().ends_with("/" + name)) return item.value(field, "");
      }
      return "";
    }
  };

  // Runs `work` in a separate process. If `cut` is not 0, the process is cut off before that step, or interrupted there
  // with `cancel`.
  RunResult in_process(const std::function<ApplyReport(RunContext&)>& work, int cut = 0, bool cancel = false) {
    const std::string result = top_ + "/result.json";
    std::filesystem::remove(result);
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv("XDG_DATA_HOME", (top_ + "/data").c_str(), 1);
      ::setenv("HOME", (top_ + "/data").c_str(), 1);
      CancelToken token;
      steps_left = cut;
      cancel_at_step = cancel ? &token : nullptr;
      set_step_hook(count_down);
      try {
        const Executor executor(1, &token);
        Trace trace(false);
        Budget budget(Bytes{1} * (1 << 28));
        RunContext context{executor, token, trace, budget};
        const ApplyReport applied = work(context);
        std::ofstream(result) << json_of(applied);
        std::fflush(nullptr);
        _exit(static_cast<int>(applied.exit_code()));
      } catch (const Failure& failure) {
        std::ofstream(result) << Json{{"failure", failure.what()}, {"items", Json::array()}}.dump();
        _exit(static_cast<int>(exit_code_for(failure.error().code)));
      }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    RunResult ran;
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    std::ifstream in(result);
    if (in) ran.json = Json::parse_or_null(std::string(std::istreambuf_iterator<char>(in), {}));
    return ran;
  }

  ApplyOptions options(const std::string& action, bool execute = true) const {
    ApplyOptions options;
    options.decisions = top_ + "/decisions.json";
    options.action = action;
    options.execute = execute;
    options.journal = journal();
    options.references = references_;
    options.merge_metadata = merge_;
    return options;
  }
  // Writes the decisions, and a catalog of a search that saw the files that they name.
  void write_decisions() {
    {
      Catalog catalog(top_ + "/data/millrace/catalog.sqlite", catalog_key());
      for (const Json& entry : entries_) {
        CatalogFile file;
        file.path = entry.contains("path_base64") ? *from_base64(entry["path_base64"].get<std::string>())
                                                  : entry["path"].get<std::string>();
        entry.read("size", file.size);
        file.mtime_ns = std::stoll(entry["mtime_ns"].get<std::string>());
        file.content = *content_hash_from_hex(entry["hash"].get<std::string>());
        catalog.put(file);
      }
      catalog.flush();
    }
    std::ofstream(top_ + "/decisions.json") << Json{{"millrace_decisions", 1}, {"decisions", entries_}}.dump(1);
  }

  RunResult run_apply(const std::string& action, bool execute = true, int cut = 0, bool cancel = false) {
    write_decisions();
    return run(options(action, execute), cut, cancel);
  }
  RunResult run(const ApplyOptions& wanted, int cut = 0, bool cancel = false) {
    return in_process([&](RunContext& context) { return apply(wanted, context); }, cut, cancel);
  }
  RunResult run_undo(int cut = 0) { return run_undo_of(journal(), true, cut); }
  RunResult run_undo_of(const std::string& named, bool execute = true, int cut = 0) {
    return in_process([&](RunContext& context) { return undo(named, execute, Trust::checked, context); }, cut);
  }
  RunResult run_purge(bool execute = true, int cut = 0) {
    return in_process(
        [this, execute](RunContext& context) { return purge(journal(), execute, Trust::checked, context); }, cut);
  }

  std::string journal() const { return top_ + "/journal.jsonl"; }

  // Returns all files with their bytes, times and permissions, and all folders.
  std::map<std::string, std::string> disk() const {
    std::map<std::string, std::string> out;
    for (const std::string& root : {photos_, elsewhere_, top_ + "/moved"}) {
      if (root.empty() || !std::filesystem::exists(root)) continue;
      for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
        const std::string path = entry.path().string();
        const auto state = state_of(path).or_throw();
        out[path] = std::to_string(state.mode);
        // A sidecar of this program has the time at which it was written.
        const bool ours = merge_ && path.ends_with(".jpg.xmp");
        if (state.regular) out[path] += ' ' + (ours ? "" : std::to_string(state.mtime_ns)) + ' ' + contents(path);
      }
    }
    return out;
  }

  // Returns the pairs that the catalog records as not duplicates.
  std::vector<ConfirmedDistinctPair> confirmed_distinct() const {
    const std::string path = top_ + "/data/millrace/catalog.sqlite";
    return std::filesystem::exists(path) ? Catalog(path, catalog_key()).confirmed_distinct()
                                         : std::vector<ConfirmedDistinctPair>();
  }

  static std::string disk_folder() { return std::filesystem::canonical(testing::TempDir()).string(); }

  std::string name_, top_, photos_, elsewhere_;
  std::vector<std::string> references_;
  bool merge_ = false;
  std::vector<Json> entries_;
};

}  // namespace millrace::dedupe
