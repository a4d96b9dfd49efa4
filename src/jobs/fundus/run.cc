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

NamedInputs find_photographs(const FundusOptions& options, const RunContext& context) {
  if (options.inputs.empty())
    throw Failure(ErrorCode::usage, "no photographs were named", "PATH", "name picture files or folders");
  if (options.output.empty())
    throw Failure(ErrorCode::usage, "an output is needed", "-o", "name a folder, for example -o crops");
  InputRules rules;
  rules.argument = "PATH";
  rules.accepts = [](const FileEntry& file) { return is_input(file.path); };
  rules.reserved = {RunFolder::kRunFile, kTableFile, kJsonFile, kLockFolder + std::string(".shards")};
  return find_inputs(options.inputs, options.output, options.files, rules, context);
}

Attributes make_provenance(const FundusOptions& options) {
  std::string write = "bounds";
  if (options.write_crop) write += ",crop";
  if (options.write_enhanced) write += ",enhanced";
  return {{kJsonMark, "fundus run"}, {"size", std::to_string(options.size)}, {"write", write}};
}

// Result of the last stage.
struct PhotographOutcome {
  std::optional<PhotographResult> found;
  std::optional<Error> failed;
};

PhotographItem open_item(const FundusOptions& options, const NamedInput& input, RunContext& context) {
  PhotographItem out;
  out.file = input.file;
  out.name = input.name;
  if (auto reason = check_file_size(input.file, options.files.max_size)) {
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

Plan plan(const FundusOptions& options, RunContext& context) {
  const NamedInputs found = find_photographs(options, context);
  check_folder(options.output, make_provenance(options));
  // Sides of a photograph from most cameras.
  PictureInfo usual;
  usual.width = 4000;
  usual.height = 3000;
  const Bytes each = memory_cost_of(options, usual);
  Plan out;
  out.lines = {{"photographs", group_digits(found.inputs.size())}, {"crops", fmt::format("{0} x {0}", options.size)}};
  out.figures = {{"photographs", found.inputs.size()}, {"size", options.size}};
  out.threads = context.executor.threads();
  out.in_flight = chain::count_tokens(context, each);
  out.memory = {{"the program itself", 20_MiB}, {"photographs of 12 megapixels in flight", each * out.in_flight}};
  out.allowed = context.budget.limit();
  return out;
}

FundusSummary run(const FundusOptions& options, RunContext& context) {
  const Stopwatch watch;
  const NamedInputs found = find_photographs(options, context);
  FundusSummary out;
  out.unusable = found.unreadable;
  if (found.inputs.empty()) return out;
  claim_folder(options.output, make_provenance(options), kLockFolder + std::string(".shards"));
  const OutputLock lock(join_path(options.output, kLockFolder));
  OutputRegistry outputs({.overwrite = false, .check_writable = false});
  std::string header = table_header();
  header.pop_back();
  const OutputTarget table_file =
      outputs.add("--output", join_path(options.output, kTableFile),
                  {"a table of bounds", ReadAccess::everyone, make_table_recognizer(header)});
  const OutputTarget json_file =
      outputs.add("--output", join_path(options.output, kJsonFile),
                  {"bounds", ReadAccess::everyone, make_json_recognizer("fundus bounds", {})});
  Progress progress(context.progress, "photographs", found.inputs.size());
  std::size_t next = 0;
  const auto fail = [](const PhotographItem& item, Error error) {
    if (error.subject.empty()) error.subject = item.file.path;
    return PhotographOutcome{std::nullopt, std::move(error)};
  };
  auto stages =
      chain::source<PhotographItem>(
          "open",
          [&]() -> std::optional<PhotographItem> {
            if (next == found.inputs.size()) return std::nullopt;
            return open_item(options, found.inputs[next++], context);
          },
          [&](const PhotographItem& item) {
            // The memory cost is capped, so that a photograph that can never fit becomes a failed item. It does not
            // end the run.
            const Bytes memory_cost = item.rows ? memory_cost_of(options, item.rows->info()) : 1_MiB;
            return std::min(memory_cost, context.budget.largest_grant());
          }) |
      chain::parallel<PhotographItem, PhotographOutcome>(
          "field of view",
          [&](PhotographItem item, Span&) {
            if (item.failed) return fail(item, *item.failed);
            const FileEntry file = item.file;
            try {
              if (memory_cost_of(options, item.rows->info()) > context.budget.limit())
                throw Failure(ErrorCode::out_of_memory, "it does not fit into --memory", file.path, "increase it");
              return PhotographOutcome{process_photograph(options, std::move(item)), std::nullopt};
            } catch (const Failure& failure) {
              if (failure.error().code == ErrorCode::cancelled) throw;
              PhotographItem of;
              of.file = file;
              return fail(of, failure.error());
            }
          }) |
      chain::sink<PhotographOutcome>("collect", [&](PhotographOutcome ended, Span&) {
        progress.add(1);
        if (ended.found) out.photographs.push_back(*std::move(ended.found));
        if (ended.failed) {
          throw_if_nothing_can_be_written(*ended.failed, options.output);
          out.unusable.push_back(*std::move(ended.failed));
        }
      });
  chain::run(stages, context, chain::MemoryCost::per_item());
  context.throw_if_cancelled();
  context.helpers.end_idle();
  std::string table = table_header();
  Json json = {{kJsonMark, "fundus bounds"}, {"photographs", Json::array()}};
  std::vector<FileDigest> files;
  for (const PhotographResult& each : out.photographs) {
    table += table_line(each);
    json["photographs"].push_back(json_of(each));
    files.insert(files.end(), each.files.begin(), each.files.end());
  }
  json[kChecksums] = Json::parse(json_with_self_checksum(files));
  table_file.write(table);
  json_file.write(add_self_checksum(json.dump(1) + "\n"));
  out.seconds = watch.seconds();
  return out;
}

}  // namespace millrace::fundus
