#include "src/jobs/doctor/report.h"

#include <fmt/format.h>

#include "src/base/json.h"
#include "src/base/text.h"

namespace millrace::doctor {
namespace {

std::string known(Bytes bytes) { return bytes.count == 0 ? "unknown" : format_bytes(bytes); }

std::string names(const std::vector<CpuLevel>& levels) {
  std::string text;
  for (const CpuLevel level : levels) text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(level));
  return text;
}

// Text of the report: headings with lines and bullet points.
class Page {
 public:
  void heading(const std::string& text) { out_ += fmt::format("{}{}\n", out_.empty() ? "" : "\n", text); }
  void line(const std::string& name, const std::string& text) {
    // Names and versions come from libraries, drivers and /proc, and are not trusted.
    out_ += fmt::format("  {:<14} {}\n", name, escape_unprintable(text));
  }
  void bullet(const std::string& text) { out_ += fmt::format("  - {}\n", escape_unprintable(text)); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void write_cpu(Page& page, const Findings& f) {
  page.heading("CPU");
  page.line("name", f.machine.cpu_name);
  std::string level = fmt::format("{} in use; available: {}", name_of(f.level), names(f.levels));
  if (!f.forced.empty()) level += fmt::format("; MILLRACE_CPU={}", f.forced);
  page.line("level", level);
  if (!f.forced_error.empty()) page.line("", f.forced_error);
  std::string cores = fmt::format("{} usable of {} online", f.machine.usable_cores, f.machine.online_cores);
  cores +=
      f.machine.cpu_quota > 0 ? fmt::format("; the cgroup allows {:.2f}", f.machine.cpu_quota) : "; no cgroup quota";
  page.line("cores", cores);
  page.line("caches", fmt::format("L2 {}, L3 {}", known(f.machine.l2), known(f.machine.l3)));
}

void write_memory(Page& page, const Findings& f) {
  page.heading("Memory");
  page.line("total", known(f.machine.memory_total));
  page.line("available", known(f.machine.memory_available));
  page.line("cgroup limit", f.machine.cgroup_limit.count == 0 ? "none" : format_bytes(f.machine.cgroup_limit));
  page.line("--memory auto", known(default_memory_limit(f.machine)));
}

std::string words_of(const Device& device, const DeviceState::Kernel& kernel) {
  const std::string words = fmt::format("kernels of {}: {}", kernel.source, kernel.state);
  if (!kernel.right) return words + "; not used";
  if (kernel.attested)
    return words + (kernel.attested_here ? ", attested on this machine" : ", attested for this hardware");
  const char* const nobody = device.kind == DeviceKind::cuda ? ", not attested" : "";
  return fmt::format("{}{}; used only with --device{}", words, nobody, device.is_cpu ? "" : " or --gpu");
}

void write_gpus(Page& page, const Findings& f) {
  page.heading("GPUs");
  if (!f.cuda.empty()) page.line("cuda", f.cuda);
  if (!f.opencl.empty()) page.line("opencl", f.opencl);
  for (const DeviceState& state : f.devices) {
    const Device& device = state.device;
    const std::string driver =
        device.kind == DeviceKind::cuda
            ? fmt::format("compute capability {}, driver for CUDA {}", device.capability, device.driver)
            : "driver " + device.driver;
    page.line(name_of(device), fmt::format("{}, {}, {}{}", device.name, format_bytes(device.memory), driver,
                                           device.is_cpu ? "; this is the CPU, which --gpu does not choose" : ""));
    if (!device.reason.empty()) page.line("", "not used: " + device.reason);
    for (const DeviceState::Kernel& kernel : state.kernels) page.line("", words_of(device, kernel));
  }
}

void write_self_test(Page& page, const Findings& f) {
  page.heading("Self-test: known answers at every CPU level");
  for (const CpuLevel level : f.levels) {
    int passed = 0, all = 0;
    for (const SelfTestResult& r : f.self_test) {
      if (r.level != level) continue;
      ++all;
      passed += r.passed();
    }
    page.line(name_of(level), fmt::format("{} of {} passed", passed, all));
    for (const SelfTestResult& r : f.self_test) {
      if (r.level != level || r.passed()) continue;
      page.line("  WRONG",
                fmt::format("{} at level {}: got {}, expected {}", r.operation, name_of(level), r.got, r.expected));
    }
  }
}

}  // namespace

std::string text_of(const Findings& f) {
  Page page;
  page.heading("millrace " + f.program_version);
  write_cpu(page, f);
  write_memory(page, f);
  write_gpus(page, f);
  page.heading("Formats");
  for (const FormatSupport& format : f.formats) {
    const char* what = format.reads ? (format.writes ? "read, written" : "read") : "NOT READ";
    page.line(format.name, fmt::format("{:<14} {}", what, format.by));
  }
  if (!f.helper.empty()) page.line("helper", f.helper);
  if (!f.sandbox_layers.empty()) page.heading("Sandbox of the decoding helper");
  for (const HelperSandboxLayer& layer : f.sandbox_layers)
    page.line(layer.name, fmt::format("{:<14} {}", layer.is_active ? "active" : "MISSING", layer.how));
  page.heading("Libraries");
  for (const LibraryVersion& library : f.libraries)
    page.line(library.name, fmt::format("{:<14} {}", library.version, library.use));
  write_self_test(page, f);
  page.heading("To do");
  if (f.remedies.empty()) page.bullet("nothing: everything that this build can use is installed");
  for (const std::string& remedy : f.remedies) page.bullet(remedy);
  return page.take();
}

Json json_of(const Findings& f) {
  // JSON must be UTF-8, whatever the text from /proc or a driver contains.
  const auto text = [](const std::string& s) { return replace_invalid_utf8(s); };
  Json levels = Json::array(), devices = Json::array(), opencl = Json::array(), formats = Json::array(),
       libraries = Json::array(), tests = Json::array();
  for (const CpuLevel level : f.levels) levels.push_back(name_of(level));
  for (const DeviceState& state : f.devices) {
    const Device& d = state.device;
    Json kernels = Json::array();
    for (const DeviceState::Kernel& kernel : state.kernels) {
      kernels.push_back({{"source", kernel.source},
                         {"ptx_sha256", kernel.hash},
                         {"compiler", kernel.compiler},
                         {"attested", kernel.attested},
                         {"attested_here", kernel.attested_here},
                         {"right", kernel.right},
                         {"state", text(kernel.state)}});
    }
    Json device = {{"device", name_of(d)},
                   {"name", text(d.name)},
                   {"memory", d.memory.count},
                   {"reason", text(d.reason)},
                   {"kernels", kernels}};
    if (d.kind == DeviceKind::cuda) {
      device["compute_capability"] = d.capability;
      device["uuid"] = d.uuid;
      device["driver"] = d.driver;
      devices.push_back(std::move(device));
    } else {
      device["driver"] = text(d.driver);
      opencl.push_back(std::move(device));
    }
  }
  for (const FormatSupport& s : f.formats) {
    formats.push_back(
        {{"format", s.name}, {"reads", s.reads}, {"writes", s.writes}, {"by", text(s.by)}, {"remedy", s.remedy}});
  }
  for (const LibraryVersion& l : f.libraries)
    libraries.push_back({{"name", text(l.name)}, {"version", text(l.version)}, {"use", l.use}});
  for (const SelfTestResult& r : f.self_test) {
    tests.push_back({{"level", name_of(r.level)},
                     {"operation", r.operation},
                     {"passed", r.passed()},
                     {"expected", r.expected},
                     {"got", text(r.got)}});
  }
  Json sandbox_layers = Json::array();
  for (const HelperSandboxLayer& w : f.sandbox_layers)
    sandbox_layers.push_back({{"name", text(w.name)}, {"stands", w.is_active}, {"how", text(w.how)}});
  Json remedies = Json::array();
  for (const std::string& remedy : f.remedies) remedies.push_back(text(remedy));
  return Json{
      {"millrace", "doctor"},
      {"version", f.program_version},
      {"cpu",
       {{"name", text(f.machine.cpu_name)},
        {"level", name_of(f.level)},
        {"levels", levels},
        {"forced", text(f.forced)},
        {"forced_error", text(f.forced_error)},
        {"cores", f.machine.usable_cores},
        {"online_cores", f.machine.online_cores},
        {"quota", f.machine.cpu_quota},
        {"l2", f.machine.l2.count},
        {"l3", f.machine.l3.count}}},
      {"memory",
       {{"total", f.machine.memory_total.count},
        {"available", f.machine.memory_available.count},
        {"cgroup_limit", f.machine.cgroup_limit.count},
        {"automatic", default_memory_limit(f.machine).count}}},
      {"cuda", {{"devices", devices}, {"reason", text(f.cuda)}}},
      {"opencl", {{"devices", opencl}, {"reason", text(f.opencl)}}},
      {"helper", {{"works", f.helper.empty()}, {"reason", text(f.helper)}, {"walls", sandbox_layers}}},
      {"formats", formats},
      {"libraries", libraries},
      {"self_test", {{"passed", f.passed()}, {"steps", tests}}},
      {"to_do", remedies},
  };
}

}  // namespace millrace::doctor
