#include "src/jobs/inventory/job.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/io/file/relocate.h"
#include "src/jobs/folder_options.h"
#include "src/jobs/inventory_file.h"
#include "src/pipeline/checkpoint/output_lock.h"

namespace millrace::inventory {
namespace {

class InventoryJob : public Job {
 public:
  Arguments arguments() override { return {"PATH", "files and folders", &inputs_}; }
  void describe(Settings& settings) override {
    settings.add_text("output", "FILE.jsonl", "write the list to this file; - is stdout", output_);
    settings.set_heading("Files");
    millrace::describe(settings, folders_);
  }
  void register_files(OutputRegistry& outputs) override {
    const OutputKind kind{"an inventory", ReadAccess::everyone, make_json_recognizer("inventory", {})};
    // Files below the inputs are listed, so the output must not replace them, unless it is a previous inventory.
    for (const std::string& input : inputs_) {
      outputs.add_input_folder(
          input, [&outputs, kind](const std::string& path) { return !outputs.is_own_output(path, kind); });
    }
    file_ = outputs.add("--output", output_, kind);
  }
  OutputKind json_kind() const override {
    return {"the result of millrace inventory", ReadAccess::everyone, make_json_recognizer("inventory of", {})};
  }

  Plan plan(RunContext& context) override {
    const WalkResult found = find_listed_files(context);
    Plan out;
    out.lines = {{"files", fmt::format("{} ({})", group_digits(found.files.size()), format_bytes(bytes_of(found)))}};
    out.figures = {{"files", found.files.size()}, {"bytes", bytes_of(found).count}};
    out.memory = {{"the program itself", 16_MiB}};
    out.allowed = context.budget.limit();
    return out;
  }

  Result run(RunContext& context, const PrintLines&) override {
    if (!file_) throw Failure(ErrorCode::usage, "an output is required", "-o", "for example -o photos.jsonl");
    const OutputLock lock(file_.is_stream() ? "" : file_.path());
    const WalkResult found = find_listed_files(context);
    context.throw_if_cancelled();
    OutputFile out(file_);
    std::string pending;
    constexpr std::size_t kWriteBytes = 1 << 20;
    write_inventory(found, [&](std::string_view line) {
      pending += line;
      if (pending.size() < kWriteBytes) return;
      context.throw_if_cancelled();
      out.write(pending);
      pending.clear();
    });
    out.write(pending);
    out.commit();
    Result result;
    for (const Error& error : found.unreadable) result.summary.push_back("not listed in full: " + error.message());
    result.summary.push_back(fmt::format("{} files, {}: {}", group_digits(found.files.size()),
                                         format_bytes(bytes_of(found)), escape_unprintable(file_.path())));
    result.json = [files = found.files.size(), bytes = bytes_of(found), unreadable = found.unreadable.size()] {
      return make_json_strings(
          {{kJsonMark, "inventory of"}, {"files", files}, {"unreadable", unreadable}, {"bytes", bytes.count}});
    };
    result.exit_code = found.unreadable.empty() ? ExitCode::done : ExitCode::partial;
    return result;
  }

 private:
  // Finds the files, without the inventory of a previous run, which would change the list each time, and without its
  // lock.
  WalkResult find_listed_files(RunContext& context) const {
    WalkResult out = find_files(inputs_, folders_, context);
    const auto list = state_of(file_.path());
    if (file_.has_existing_file() && list) {
      std::erase_if(out.files,
                    [&](const FileEntry& file) { return file.device == list->device && file.inode == list->inode; });
    }
    const auto beside = file_ ? real_path(file_.path() + ".shards") : std::nullopt;
    if (beside) {
      std::erase_if(out.files, [&](const FileEntry& file) {
        const std::string name(file_name(file.path));
        if (name != RunFolder::kLock && !RunPresence::is_presence_file(name)) return false;
        const auto path = real_path(file.path);
        return !path || is_inside(*path, *beside);
      });
    }
    return out;
  }

  static Bytes bytes_of(const WalkResult& found) {
    Bytes out;
    for (const FileEntry& file : found.files) out += Bytes{file.size};
    return out;
  }

  std::vector<std::string> inputs_;
  std::string output_;
  FolderOptions folders_;
  OutputTarget file_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<InventoryJob>(); }

}  // namespace millrace::inventory
