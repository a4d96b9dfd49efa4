#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "src/base/standard_streams.h"
#include "src/base/version.h"
#include "src/cli/app.h"
#include "src/io/image/helper_process.h"
#include "src/jobs/doctor/report.h"

namespace millrace::cli {

void add_doctor_command(CLI::App& parent, std::function<ExitCode()>& chosen) {
  auto* command = parent.add_subcommand("doctor", "what hardware and libraries are here, and what will be used");
  const auto json = std::make_shared<std::string>();
  const auto overwrite = std::make_shared<bool>(false);
  one_value(command->add_option("--json", *json, "write the report as JSON; - is stdout, instead of the text"))
      ->type_name("FILE");
  command->add_flag("--overwrite", *overwrite, "replace a file that exists though this program did not write it");
  command->callback([&chosen, json, overwrite] {
    chosen = [json, overwrite] {
      Outputs outputs({*overwrite, true});
      const Output output = outputs.add("--json", *json,
                                        {"a doctor's report", Readers::everyone,
                                         json_result("doctor", {"version", "cpu", "memory", "cuda", "opencl", "helper",
                                                                "formats", "libraries", "self_test", "to_do"})});
      const doctor::Findings findings = doctor::examine(version(), helper_program());
      if (*json != "-") write_stdout(doctor::text_of(findings));
      if (output) output.write(doctor::json_of(findings).dump(1) + "\n");
      for (const doctor::SelfTestResult& result : findings.self_test) {
        if (result.passed()) continue;
        write_stderr(fmt::format("millrace: the self-test failed: {} gives a wrong answer at level {}\n",
                                 result.operation, name_of(result.level)));
      }
      return findings.passed() ? ExitCode::done : ExitCode::failed;
    };
  });
}

}  // namespace millrace::cli
