#include "src/jobs/fundus/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/paths.h"
#include "src/base/stopwatch.h"
#include "src/base/text.h"
#include "src/io/output/output.h"
#include "src/io/store/checksums.h"
#include "src/jobs/named_inputs.h"
#include "src/jobs/results_folder.h"
#include "src/pipeline/chain.h"
#include "src/pipeline/checkpoint/output_lock.h"

namespace millrace::fundus {
namespace {

constexpr const char *kTableFile = "bounds.csv", *kJsonFile = "bounds.json", *kLockFolder = "running";

NamedInputs find_photographs(const Options& options, const RunContext& context) {
  if (options.inputs.empty())
    throw Failure(ErrorCode::usage, "photographs are needed", "PATH", "name files or folders");
  if (options.output.empty())
    throw Failure(ErrorCode::usage, "an output is needed", "-o", "name a folder, for example -o crops");
  InputRules rules;
  rules.argument = "PATH";
  rules.takes = [](const FileEntry& file) { return is_input(file.path); };
  rules.reserved = {RunFolder::kRunFile, kTableFile, kJsonFile, kLockFolder + std::string(".shards")};
  return find_inputs(options.inputs, options.output, options.files, rules, context);
}

Attributes made_of(const Options& options) {
  std::string write = "bounds";
  if (options.write_crop) write += ",crop";
  if (options.write_enhanced) write += ",enhanced";
  return {{kJsonMark, "fundus run"}, {"size", std::to_string(options.size)}, {"write", write}};
}

// Result of the last stage.
struct Ended {
  std::optional<Found> found;
  std::optional<Error> failed;
};

Item open_item(const Options& options, const NamedInput& input, RunContext& context) {
  Item out;
  out.file = input.file;
  out.name = input.name;
  if (auto reason = too_large_to_read(input.file, options.files.max_size)) {
    out.failed = Error{ErrorCode::too_large, *reason, input.file.path, ""};
    return out;
  }
  auto file = FileReader::open(input.file.path);
  if (!file) {
    out.failed = file.error();
    return out;
  }
  constexpr Bytes kAhead = 1_MiB;
  auto rows = PictureRows::open(std::move(file).or_throw(), decode_options(options.files, context), kAhead);
  if (!rows) {
    out.failed = rows.error();
  } else {
    out.rows = std::move(rows).or_throw();
  }
  return out;
}

}  // namespace

bool is_input(const std::string& path) { return has_picture_extension(path); }

Plan plan(const Options& options, RunContext& context) {
  const NamedInputs found = find_photographs(options, context);
  check_folder(options.output, made_of(options));
  // Sides of a photograph from most cameras.
  PictureInfo usual;
  usual.width = 4000;
  usual.height = 3000;
  const Bytes each = price_of(options, usual);
  Plan out;
  out.lines = {{"photographs", grouped(found.inputs.size())}, {"crops", fmt::format("{0} x {0}", options.size)}};
  out.figures = {{"photographs", found.inputs.size()}, {"size", options.size}};
  out.threads = context.executor.threads();
  out.in_flight = chain::tokens_for(context, each);
  out.memory = {{"the program itself", 20_MiB}, {"photographs of 12 megapixels in flight", each * out.in_flight}};
  out.allowed = context.budget.limit();
  return out;
}

Summary run(const Options& options, RunContext& context) {
  const Stopwatch watch;
  const NamedInputs found = find_photographs(options, context);
  Summary out;
  out.unusable = found.unreadable;
  if (found.inputs.empty()) return out;
  claim_folder(options.output, made_of(options), kLockFolder + std::string(".shards"));
  const OutputLock lock(path_in(options.output, kLockFolder));
  Outputs outputs({.overwrite = false, .prove = false});
  std::string header = table_header();
  header.pop_back();
  const Output table_file = outputs.add("--output", path_in(options.output, kTableFile),
                                        {"a table of bounds", Readers::everyone, table_with_header(header)});
  const Output json_file = outputs.add("--output", path_in(options.output, kJsonFile),
                                       {"bounds", Readers::everyone, json_result("fundus bounds", {})});
  Progress progress(context.progress, "photographs", found.inputs.size());
  std::size_t next = 0;
  const auto fail = [](const Item& item, Error error) {
    if (error.subject.empty()) error.subject = item.file.path;
    return Ended{std::nullopt, std::move(error)};
  };
  auto stages =
      chain::source<Item>(
          "open",
          [&]() -> std::optional<Item> {
            if (next == found.inputs.size()) return std::nullopt;
            return open_item(options, found.inputs[next++], context);
          },
          [&](const Item& item) {
            // The price is capped, so that a photograph that can never fit becomes a failed item and does not end the
            // run.
            const Bytes price = item.rows ? price_of(options, item.rows->info()) : 1_MiB;
            return std::min(price, context.budget.largest_grant());
          }) |
      chain::parallel<Item, Ended>("field of view",
                                   [&](Item item, Span&) {
                                     if (item.failed) return fail(item, *item.failed);
                                     const FileEntry file = item.file;
                                     try {
                                       if (price_of(options, item.rows->info()) > context.budget.limit())
                                         throw Failure(ErrorCode::out_of_memory, "it does not fit into --memory",
                                                       file.path, "allow more");
                                       return Ended{process(options, std::move(item)), std::nullopt};
                                     } catch (const Failure& failure) {
                                       if (failure.error().code == ErrorCode::cancelled) throw;
                                       Item of;
                                       of.file = file;
                                       return fail(of, failure.error());
                                     }
                                   }) |
      chain::sink<Ended>("collect", [&](Ended ended, Span&) {
        progress.add(1);
        if (ended.found) out.photographs.push_back(*std::move(ended.found));
        if (ended.failed) {
          throw_if_nothing_can_be_written(*ended.failed, options.output);
          out.unusable.push_back(*std::move(ended.failed));
        }
      });
  chain::run(stages, context, chain::Price::by_item());
  context.throw_if_cancelled();
  context.helpers.end_idle();
  std::string table = table_header();
  Json json = {{kJsonMark, "fundus bounds"}, {"photographs", Json::array()}};
  std::vector<FileDigest> files;
  for (const Found& each : out.photographs) {
    table += table_line(each);
    json["photographs"].push_back(json_of(each));
    files.insert(files.end(), each.files.begin(), each.files.end());
  }
  json[kChecksums] = Json::parse(json_with_own(files));
  table_file.write(table);
  json_file.write(with_own_checksum(json.dump(1) + "\n"));
  out.seconds = watch.seconds();
  return out;
}

}  // namespace millrace::fundus
