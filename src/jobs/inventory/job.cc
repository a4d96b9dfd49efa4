#include "src/jobs/inventory/job.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/io/file/inventory.h"
#include "src/jobs/folder_options.h"

namespace millrace::inventory {
namespace {

class InventoryJob : public Job {
 public:
  Arguments arguments() override { return {"PATH", "files and folders", &inputs_}; }
  void describe(Settings& settings) override {
    settings.add_text("output", "FILE.jsonl", "where the list goes; - is stdout", output_);
    settings.heading("Files");
    millrace::describe(settings, folders_);
  }
  void look_at(Outputs& outputs) override {
    for (const std::string& input : inputs_) outputs.input_folder(input, [](const std::string&) { return false; });
    file_ = outputs.add("--output", output_, {"an inventory", Readers::everyone, json_result("inventory", {})});
  }
  OutputKind json_kind() const override {
    return {"the result of millrace inventory", Readers::everyone, json_result("inventory of", {})};
  }

  Plan plan(RunContext& context) override {
    const WalkResult found = find_files(inputs_, folders_, context);
    Plan out;
    out.lines = {{"files", fmt::format("{} ({})", grouped(found.files.size()), to_text(bytes_of(found)))}};
    out.figures = {{"files", found.files.size()}, {"bytes", bytes_of(found).count}};
    out.memory = {{"the program itself", 16_MiB}};
    out.allowed = context.budget.limit();
    return out;
  }

  Result run(RunContext& context, const Print&) override {
    if (!file_) throw Failure(ErrorCode::usage, "an output is needed", "-o", "for example -o photos.jsonl");
    const WalkResult found = find_files(inputs_, folders_, context);
    context.throw_if_cancelled();
    OutputFile out(file_);
    std::string pending;
    constexpr std::size_t kTogether = 1 << 20;
    write_inventory(found, [&](std::string_view line) {
      pending += line;
      if (pending.size() < kTogether) return;
      context.throw_if_cancelled();
      out.write(pending);
      pending.clear();
    });
    out.write(pending);
    out.commit();
    Result result;
    for (const Error& error : found.unreadable) result.summary.push_back("not looked at: " + error.message());
    result.summary.push_back(fmt::format("{} files, {}: {}", grouped(found.files.size()), to_text(bytes_of(found)),
                                         printable(file_.path())));
    result.json = [files = found.files.size(), bytes = bytes_of(found), unreadable = found.unreadable.size()] {
      return json_pieces(
          {{kJsonMark, "inventory of"}, {"files", files}, {"unreadable", unreadable}, {"bytes", bytes.count}});
    };
    result.exit_code = found.unreadable.empty() ? ExitCode::done : ExitCode::partial;
    return result;
  }

 private:
  static Bytes bytes_of(const WalkResult& found) {
    Bytes out;
    for (const FileEntry& file : found.files) out += Bytes{file.size};
    return out;
  }

  std::vector<std::string> inputs_;
  std::string output_;
  FolderOptions folders_;
  Output file_;
};

}  // namespace

std::unique_ptr<Job> make_job() { return std::make_unique<InventoryJob>(); }

}  // namespace millrace::inventory
