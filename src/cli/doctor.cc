#include <fmt/format.h>

#include <array>
#include <memory>

#include "src/base/json.h"
#include "src/base/standard_streams.h"
#include "src/base/text.h"
#include "src/base/version.h"
#include "src/cli/app.h"
#include "src/cli/gpus.h"
#include "src/io/image/helper_process.h"
#include "src/jobs/doctor/attested_file.h"
#include "src/jobs/doctor/report.h"

namespace millrace::cli {
namespace {

struct DoctorOptions {
  std::string json, device;
  bool overwrite = false, attest = false;
  std::uint64_t rounds = 32;
};

// Tests the selected devices, stores which kernels gave right results, and reports both. True if all were right.
bool attest(const DoctorOptions& wish) {
  std::vector<std::string> reasons;
  std::vector<Device> devices = select_gpus(wish.device, std::array{DeviceKind::cuda}, reasons);
  std::erase_if(devices, [&](const Device& device) {
    const bool can_be = doctor::can_be_attested(device);
    if (!can_be)
      reasons.push_back(
          fmt::format("{}: skipped; only NVIDIA cards whose driver reports a UUID can be attested", name_of(device)));
    return !can_be;
  });
  for (const std::string& reason : reasons) write_stderr(escape_unprintable(reason) + "\n");
  if (devices.empty()) {
    throw Failure(ErrorCode::unavailable, "no GPU found that can be attested", "--attest",
                  "millrace doctor lists the GPUs, and why some cannot be used");
  }
  use_cpu_level_from_environment();
  const Executor executor(0, &interrupt_token());
  bool right = true;
  for (const Device& device : devices) {
    write_stderr(
        fmt::format("{} ({}): comparing each kernel with the CPU\n", name_of(device), escape_unprintable(device.name)));
    // An empty result is stored first: if the driver crashes the program during the test, the device has nothing
    // attested.
    doctor::TriedDevice tried{device, {}};
    doctor::store_attestations(tried);
    tried.trials = doctor::test_kernels(device, executor, wish.rounds);
    doctor::store_attestations(tried);
    for (const doctor::KernelTrial& trial : tried.trials) {
      right = right && trial.right;
      write_stderr(trial.right ? fmt::format("  {}: attested\n", trial.source)
                               : fmt::format("  {}: NOT attested: {}\n", trial.source, escape_unprintable(trial.why)));
    }
  }
  write_stderr(
      fmt::format("stored in {} for these cards and their driver; run millrace tune to measure what they speed up\n",
                  escape_unprintable(doctor::attestations_path())));
  return right;
}

ExitCode examine(const DoctorOptions& wish) {
  OutputRegistry outputs({wish.overwrite, true});
  const OutputTarget output =
      outputs.add("--json", wish.json,
                  {"a report of millrace doctor", ReadAccess::everyone,
                   make_json_recognizer("doctor", {"version", "cpu", "memory", "cuda", "opencl", "helper", "formats",
                                                   "libraries", "self_test", "to_do"})});
  const bool attested = !wish.attest || attest(wish);
  const doctor::Findings findings = doctor::examine(version(), helper_program());
  if (wish.json != "-") write_stdout(doctor::text_of(findings));
  if (output) output.write(doctor::json_of(findings).dump(1) + "\n");
  for (const doctor::SelfTestResult& result : findings.self_test) {
    if (result.passed()) continue;
    write_stderr(fmt::format("millrace: the self-test failed: {} gives a wrong answer at level {}\n", result.operation,
                             name_of(result.level)));
  }
  return findings.passed() && attested ? ExitCode::done : ExitCode::failed;
}

}  // namespace

void add_doctor_command(CLI::App& parent, std::function<ExitCode()>& chosen) {
  auto* command =
      parent.add_subcommand("doctor", "report the hardware and libraries of this machine, and which of them are used");
  const auto wish = std::make_shared<DoctorOptions>();
  require_one_value(
      command->add_option("--json", wish->json, "write the report as JSON; - for stdout, instead of the text"))
      ->type_name("FILE");
  command->add_flag("--overwrite", wish->overwrite, "replace an existing file even if this program did not write it");
  auto* attest =
      command->add_flag("--attest", wish->attest,
                        "test each kernel of each NVIDIA card against the CPU; --device auto uses those that agree");
  require_one_value(command->add_option("--device", wish->device,
                                        "test only this NVIDIA card with --attest, as cuda[:N]; all by default"))
      ->type_name("DEVICE")
      ->needs(attest);
  require_one_value(command->add_option("--rounds", wish->rounds, "test this many rounds of new inputs with --attest"))
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str()
      ->type_name("N")
      ->needs(attest);
  command->callback([&chosen, wish] { chosen = [wish] { return examine(*wish); }; });
}

}  // namespace millrace::cli
