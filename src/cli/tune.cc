#include <fmt/format.h>

#include <memory>

#include "src/base/json.h"
#include "src/base/standard_streams.h"
#include "src/cli/app.h"
#include "src/cli/gpus.h"
#include "src/device/cpu/cpu_level.h"
#include "src/jobs/tune/tune.h"

namespace millrace::cli {

void add_tune_command(CLI::App& parent, std::function<ExitCode()>& chosen) {
  auto* command =
      parent.add_subcommand("tune", "measure each operation on each GPU, so that --device auto uses the faster side");
  struct TuneOptions {
    std::string device, json;
    int threads = 0;
    bool overwrite = false;
  };
  const auto wish = std::make_shared<TuneOptions>();
  require_one_value(command->add_option("--device", wish->device,
                                        "measure only this device, as cuda[:N] or opencl[:N]; all by default"))
      ->type_name("DEVICE");
  require_one_value(command->add_option("--threads", wish->threads, "use this many CPU threads; 0 for one per core"))
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  require_one_value(
      command->add_option("--json", wish->json, "write the rates as JSON; - for stdout, instead of the table"))
      ->type_name("FILE");
  command->add_flag("--overwrite", wish->overwrite, "replace an existing file even if this program did not write it");
  command->callback([&chosen, wish] {
    chosen = [wish] {
      OutputRegistry outputs({wish->overwrite, true});
      const OutputTarget output =
          outputs.add("--json", wish->json,
                      {"rates of millrace tune", ReadAccess::everyone, make_json_recognizer("tune", {"devices"})});
      use_cpu_level_from_environment();
      std::vector<std::string> reasons;
      const std::vector<Device> devices = select_gpus(wish->device, kGpuKinds, reasons);
      const Executor executor(wish->threads, &interrupt_token());
      std::vector<tune::DeviceMeasurement> tuned;
      for (const Device& device : devices) {
        try {
          tuned.push_back(tune::measure(device, executor, {}));
          if (wish->json != "-") write_stdout(tune::text_of(tuned.back()));
        } catch (const Failure& failure) {
          // A failure of a device given with --device ends the command; otherwise the failure is reported and the next
          // device runs.
          if (failure.error().code == ErrorCode::cancelled) {
            throw Failure(interrupted("no rates were stored", "tune"));
          }
          if (!wish->device.empty()) throw;
          reasons.emplace_back(failure.what());
        }
      }
      for (const std::string& reason : reasons) write_stderr(reason + "\n");
      if (!tuned.empty()) {
        tune::store_rates(tuned);
        write_stderr(fmt::format("stored in {}; --device auto uses these rates\n", tune::rates_path()));
      } else {
        write_stderr("no device was measured; --device auto uses the CPU\n");
      }
      if (output) output.write(tune::json_of(tuned).dump(1) + "\n");
      return ExitCode::done;
    };
  });
}

}  // namespace millrace::cli
