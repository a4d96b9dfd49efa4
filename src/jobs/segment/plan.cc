// Plans a run: see src/jobs/segment/run.h.
#include <fmt/format.h>

#include "src/base/text.h"
#include "src/jobs/segment/prepared_run.h"
#include "src/jobs/segment/run.h"
#include "src/pipeline/chain.h"

namespace millrace::segment {

Plan plan(const Options& options, RunContext& context) {
  PreparedRun run(options, context);
  const Networks& networks = run.networks();
  const std::size_t tokens = chain::count_tokens(context, networks.window_bytes(), networks.in_flight());
  const Setup& setup = run.setup();
  const PreparedRun::LargestImage largest = run.largest(networks.window_bytes() * tokens);
  Plan out;
  out.lines = {
      {"pictures", group_digits(run.inputs().pictures.size())},
      {"window",
       fmt::format("{} x {}, up to {} at once in the network", setup.width, setup.height, networks.requests())},
      {"network", fmt::format("{}{}, {}", setup.models.size() > 1 ? fmt::format("{} in ", setup.models.size()) : "",
                              run.session().runtime(), run.session().precision())}};
  if (setup.preprocess != model::Preprocess::none)
    out.lines.push_back(
        {"square", fmt::format("{0} x {0} from each picture ({1})", setup.size, choice_name(setup.preprocess))});
  if (options.flips != model::Flips::none)
    out.lines.push_back({"flips", fmt::format("{}: each window {} times", choice_name(options.flips),
                                              options.flips == model::Flips::hw ? 4 : 2)});
  out.figures = {{"pictures", run.inputs().pictures.size()}, {"window", {setup.height, setup.width}},
                 {"requests", networks.requests()},          {"runtime", run.session().runtime()},
                 {"precision", run.session().precision()},   {"models", setup.models.size()}};
  if (run.precision_decision()) {
    out.lines.push_back({"precision", run.precision_decision()->why});
    out.figures["agreement"] = json_of(*run.precision_decision());
  }
  out.memory = {{"the program itself", 20_MiB},
                {"the network", networks.reserved_bytes()},
                {"windows in flight", networks.window_bytes() * tokens}};
  if (largest.windows > 0) {
    out.lines.push_back({"largest picture", fmt::format("{}: {} x {}, {} windows{}", escape_unprintable(largest.path),
                                                        largest.width, largest.height, group_digits(largest.windows),
                                                        largest.sums_in_file ? ", its sums in a scratch file" : "")});
    out.figures["largest"] = {{"width", largest.width},
                              {"height", largest.height},
                              {"windows", largest.windows},
                              {"sums_in_file", largest.sums_in_file}};
    out.memory.push_back({"its windows and results", largest.memory_cost});
  }
  out.threads = context.executor.threads();
  out.in_flight = tokens;
  out.allowed = context.budget.limit();
  return out;
}

}  // namespace millrace::segment
