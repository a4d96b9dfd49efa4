#include "src/jobs/dedupe/stages/read_stage.h"

#include "src/base/json.h"
#include "src/base/log.h"
#include "src/base/text.h"
#include "src/jobs/dedupe/stages/stage_records.h"
#include "src/jobs/inventory_file.h"

namespace millrace::dedupe {
namespace {

CheckpointSpec checkpoint_of(const std::vector<FileEntry>& files, const DedupeOptions& options) {
  CheckpointSpec out;
  out.output = options.output;
  out.dataset.unit = "files";
  out.dataset.rows = files.size();
  out.dataset.arrays = {{.name = "read", .rows = ArraySpec::Rows::texts, .type = kUint8, .extension = "jsonl"}};
  out.dataset.attributes = {
      {kReadMark, "1"},
      {"pictures", catalog_key().pictures},
      {"max-pixels", std::to_string(options.files.max_pixels)},
      {"inputs", Json::array({{{"files", files.size()}, {"identity", identity_of(files, {})}}}).dump()}};
  out.each = compute_shard_size(options);
  out.mark = kReadMark;
  out.share = options.share;
  out.input_state = [&files](std::uint64_t begin, std::uint64_t end) {
    return hash_file_states(std::span(files).subspan(begin, end - begin));
  };
  return out;
}

}  // namespace

ReadStageResult make_read_shards(const DedupeOptions& options, RunContext& context) {
  std::vector<FileEntry> files;
  for (LibraryFile& file : walk_library(options, context, InventoryCheck::trusted).files)
    files.push_back(std::move(file.entry));
  if (files.empty()) throw Failure(ErrorCode::not_found, "no picture was found", "", "name a folder of pictures");
  const PictureReader reader(options, context);
  ReadStageResult out;
  struct Item {
    const FileEntry* entry;
    std::shared_ptr<const FileReadResult> read;
  };
  const LineWork<Item> work{
      .progress = "reading",
      .stage = "read and decode",
      .remedy = "more threads, or a faster disk",
      .memory_cost = {FileReader::kChunk},
      // A file that differs from the list is an error: other runs use the same list, and so does a run that resumes
      // this one.
      .make =
          [&](std::uint64_t row, Span& span) {
            return Item{&files[row], reader.read(files[row], true, span)};
          },
      .line = [&](const Item& item) -> std::optional<std::string> {
        const FileReadResult& read = *item.read;
        if (read.error && read.error->code == ErrorCode::cancelled) return std::nullopt;
        const std::string& why = read.error ? read.error->what : read.picture.reason;
        spdlog::debug("{}: {}", escape_unprintable(item.entry->path), why.empty() ? "decoded" : why);
        ++(why.empty() ? out.pictures : out.unusable);
        out.bytes += item.entry->size;
        std::string line = format_line(*item.entry, read);
        if (line.size() <= kMaxLineBytes) return line;
        // The search then reads this file itself.
        FileReadResult none;
        none.error = Error{ErrorCode::io, "what it says of itself is too long for a line", "", ""};
        return format_line(*item.entry, none);
      },
      .bytes = [](const Item& item) { return item.entry->size; },
  };
  out.stored = store_lines(checkpoint_of(files, options), work, context);
  return out;
}

}  // namespace millrace::dedupe
