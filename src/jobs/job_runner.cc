#include "src/jobs/job_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "src/base/text.h"
#include "src/device/cpu/cpu_level.h"
#include "src/device/cpu/machine.h"
#include "src/jobs/device_report.h"
#include "src/jobs/doctor/attested_file.h"
#include "src/jobs/tune/rates_file.h"
#include "src/kernels/test_vectors/devices.h"

namespace millrace {
namespace {

OutputKind trace_kind() {
  const auto ours = [](FileReader& file) {
    if (make_json_recognizer("trace", {})(file)) return true;
    // Recognizes traces of earlier versions, which began with a thread's name or a stage's totals, and not with a mark.
    const auto front = file.peek();
    const std::string_view text(reinterpret_cast<const char*>(front.data()), front.size());
    return text.starts_with(R"({"displayTimeUnit":"ms","traceEvents":[{"args":{"name":"worker )") ||
           text.starts_with(R"({"displayTimeUnit":"ms","traceEvents":[{"args":{"bytes":)");
  };
  return {"a trace", ReadAccess::everyone, ours};
}

// Names only the first few paths: the JSON lists all of them.
std::string words_of(std::span<const std::string> paths) {
  constexpr std::size_t kMaxNamed = 6;
  if (paths.empty()) return "nothing";
  std::string out;
  for (std::size_t k = 0; k < std::min(kMaxNamed, paths.size()); ++k)
    out += (k == 0 ? "" : ", ") + escape_unprintable(paths[k]);
  return paths.size() > kMaxNamed ? fmt::format("{} and {} more", out, group_digits(paths.size() - kMaxNamed)) : out;
}

std::string reach_of(const SandboxReport& report) {
  return fmt::format("may read {}; may write below {}", words_of(report.reads), words_of(report.writes));
}

Json json_of(const SandboxReport& report, const std::string& note) {
  Json out = {{"program", report.is_enforced}};
  if (!report.is_enforced) {
    out["reason"] = note;
    return out;
  }
  out["how"] = report.how;
  for (const auto& [key, paths] : {std::pair("reads", &report.reads), {"writes", &report.writes}}) {
    out[key] = Json::array();
    for (const std::string& path : *paths) out[key].push_back(replace_invalid_utf8(path));
  }
  return out;
}

}  // namespace

void describe_running(Settings& settings, RunningOptions& options) {
  settings.set_heading("Running");
  settings.add_text("device", "DEVICE",
                    "compute on auto, cpu, cuda[:N] or opencl[:N]; auto uses a GPU only if it is attested",
                    options.device.device);
  settings.add_switch("gpu", "use any GPU, or none with --no-gpu, unless --device names a device", options.device.gpu);
  settings.add_text("device-order", "KINDS", "try these kinds of device for --gpu, in this order",
                    options.device.order);
  settings.add_switch("device-fallback", "continue on the CPU if the requested device cannot be used",
                      options.device.fallback);
  settings.add_bytes("device-memory", "limit the device memory in use; auto is 90 % of what is free",
                     options.accelerator.memory);
  settings.add_integer("batch", "N", "limit the items that the device gets at once; 0 is as many as fit", options.batch,
                       0, std::int64_t{1} << 40);
  settings.add_choice("verify-device", "verify batches on the CPU: all, a sample (first, last and one in 256) or none",
                      options.accelerator.verify);
  settings.add_choice("sandbox",
                      "sandbox the decoders of rare formats (rare), or all decoders and the program itself (all)",
                      options.sandbox);
  settings.add_integer("threads", "N", "use this many worker threads; 0 is one per core", options.threads, 0, 4096);
  settings.add_bytes("memory", "limit the memory in use, helpers included; auto is 60 % of what is available",
                     options.memory);
  settings.add_switch("plan", "print what would be done, with an estimate of memory and time, and stop", options.plan);
  settings.add_text("json", "FILE", "write the result as JSON; - is stdout", options.json);
  settings.add_text("trace", "FILE", "write a Chrome trace for ui.perfetto.dev", options.trace);
  settings.add_consent("overwrite", "replace an existing output even if Millrace did not write it; never an input",
                       options.overwrite);
}

JobOption described(const Settings::Entry& entry) {
  return {entry.name, entry.value_name, entry.help, entry.group, entry.text(), entry.repeatable};
}

void throw_if_forked_behind_threads() {
  if (!is_forked_after_threads()) return;
  throw Failure(ErrorCode::unavailable,
                "it was forked from a process that had already run a job, and has none of its threads", "this process",
                "start it with spawn (multiprocessing), or fork before the first job");
}

JobRunner::JobRunner(std::string name, std::unique_ptr<Job> job) : name_(std::move(name)), job_(std::move(job)) {
  job_->describe(settings_);
  describe_running(settings_, running_);
}
JobRunner::~JobRunner() = default;

// Flags have precedence over the environment, and the environment over the configuration file. Of --device and --gpu,
// the one with the higher precedence counts. For jobs that support no device, only flags count.
DeviceRequest JobRunner::device_wish() const {
  DeviceRequest wish = running_.device;
  const auto origin_of = [&](const std::string& name) {
    const auto& all = settings_.entries();
    return std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.name == name; })->origin;
  };
  const OptionOrigin device = origin_of("device"), gpu = origin_of("gpu");
  const OptionOrigin least = job_->devices().empty() ? OptionOrigin::flag : OptionOrigin::file;
  if (device < least || (device < gpu && gpu >= least)) wish.device = DeviceRequest().device;
  if (gpu < least || gpu < device) wish.gpu = DeviceRequest().gpu;
  return wish;
}

void JobRunner::sandbox(const OutputRegistry& outputs, const EnterSandbox& enter_sandbox) {
  if (running_.sandbox != SandboxMode::all) return;
  if (!job_->can_be_sandboxed()) {
    sandbox_note_ = "--sandbox all covers only the decoders, because this command changes files in any folder";
  } else if (!enter_sandbox) {
    sandbox_note_ =
        "--sandbox all covers only the decoders, because a library does not sandbox its caller: use the program "
        "millrace for that";
  } else {
    sandbox_report_ = enter_sandbox(outputs);
    if (!sandbox_report_.is_enforced) sandbox_note_ = "--sandbox all is not fully enforced: " + sandbox_report_.how;
  }
}

void JobRunner::start(const CancelToken& cancel, const ProgressTarget& progress, const std::string& config,
                      const EnterSandbox& enter_sandbox) {
  throw_if_forked_behind_threads();
  use_cpu_level_from_environment();
  OutputRegistry outputs({running_.overwrite, !running_.plan});
  if (!config.empty()) outputs.add_input(config);
  job_->register_files(outputs);
  json_ = outputs.add("--json", running_.json, job_->json_kind());
  trace_file_ = outputs.add("--trace", running_.trace, trace_kind());
  // The attestation is read first, because the sandbox would deny access to its file.
  const std::vector<LocalAttestation> here =
      job_->devices().empty() ? std::vector<LocalAttestation>{} : doctor::attested_here();
  sandbox(outputs, enter_sandbox);
  const ChosenDevice device = choose_device(device_wish(), job_->devices(), test_vectors::device_kernel_hashes(), here);
  device_note_ = device.note;

  budget_.emplace(running_.memory.count > 0 ? running_.memory : default_memory_limit(describe_machine()));
  trace_.emplace(!running_.trace.empty());
  executor_.emplace(static_cast<int>(running_.threads), &cancel);
  if (device.device) {
    AcceleratorOptions options = running_.accelerator;
    options.batch = static_cast<std::uint64_t>(running_.batch);
    options.asked = device.asked;
    options.attested_here = here;
    if (!device.asked) options.on_fault = doctor::revoke_attestations;
    options.rates = tune::read_rates(*device.device);
    accelerator_ = std::make_unique<Accelerator>(*device.device, options, *budget_, *trace_);
  }
  context_.reset(new RunContext{*executor_, cancel, *trace_, *budget_, progress, accelerator_.get()});
  context_->sandbox = running_.sandbox;
}

Plan JobRunner::plan() {
  Plan out = job_->plan(*context_);
  if (accelerator_) out.device = millrace::name_of(accelerator_->device());
  if (running_.sandbox == SandboxMode::all) {
    out.lines.push_back({"sandbox", sandbox_report_.is_enforced ? reach_of(sandbox_report_) : sandbox_note_});
    out.figures["sandbox"] = json_of(sandbox_report_, sandbox_note_);
  }
  return out;
}

Result JobRunner::run(const PrintLines& print) {
  Result out = job_->run(*context_, print);
  out.json = [this, json = std::move(out.json)] {
    std::vector<std::string> strings = add_device_key(json(), accelerator_.get(), device_note_);
    return running_.sandbox == SandboxMode::all
               ? add_key(std::move(strings), "sandbox", json_of(sandbox_report_, sandbox_note_))
               : strings;
  };
  if (sandbox_report_.is_enforced)
    out.summary.push_back(fmt::format("sandbox ({}): {}", sandbox_report_.how, reach_of(sandbox_report_)));
  if (accelerator_) {
    for (std::string& line : words_of(*accelerator_)) out.summary.push_back(std::move(line));
    out.warning = make_device_warning(*accelerator_);
  }
  return out;
}

std::vector<std::string> JobRunner::write_json(const Result& result) {
  const Span span(trace_->stage("write JSON", 1));
  std::vector<std::string> strings = result.json();
  if (json_) json_.write(strings);
  return strings;
}
void JobRunner::write_json(const Plan& plan) const {
  if (json_) json_.write(json_of(plan, name_));
}

void JobRunner::write_trace() const {
  if (trace_file_) trace_file_.write(trace_->chrome_json());
}

}  // namespace millrace
