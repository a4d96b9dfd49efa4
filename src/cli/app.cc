#include "src/cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <sstream>

#include "src/base/log.h"
#include "src/base/standard_streams.h"
#include "src/base/text.h"
#include "src/base/version.h"
#include "src/cli/option_mistakes.h"
#include "src/cli/program_sandbox.h"
#include "src/device/cpu/cpu_level.h"
#include "src/device/cpu/machine.h"

namespace millrace::cli {
namespace {

void on_interrupt(int) {
  if (interrupt_token().cancelled()) std::_Exit(static_cast<int>(ExitCode::interrupted));
  interrupt_token().cancel();
}

constexpr const char* kOutOfMemory = "millrace: out of memory; allow less with --memory, or use fewer --threads\n";

const std::terminate_handler default_terminate = std::get_terminate();

// Reports std::bad_alloc thrown inside a noexcept function of a library. The files on disk are then as after a kill.
void report_out_of_memory() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    write_stderr(kOutOfMemory);
    std::_Exit(static_cast<int>(ExitCode::failed));
  } catch (...) {
    default_terminate();
  }
  default_terminate();
}

// Makes text for a person safe to print, whatever names it contains; keeps its line breaks.
std::string escape_unprintable_lines(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) line = escape_unprintable(line);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

CLI::Option* require_one_value(CLI::Option* option) { return option->expected(1)->allow_extra_args(false); }

CancelToken& interrupt_token() {
  static CancelToken token;
  return token;
}

Command::Command(CLI::App& parent, const std::string& name, const std::string& about, std::unique_ptr<Job> job)
    : app_(*parent.add_subcommand(name, about)), runner_(name, std::move(job)) {
  const Job::Arguments arguments = runner_.job().arguments();
  CLI::Option* const option = app_.add_option(arguments.name, *arguments.values, arguments.help);
  option->required(arguments.required);
  if (!arguments.many) option->expected(1);
  add_flags();
}

void Command::add_flags() {
  Settings& settings = runner_.settings();
  settings.add_choice("progress", "show progress on stderr in this form", terminal_.progress);
  settings.add_choice("log-level", "log messages of at least this severity on stderr", terminal_.log_level);
  settings.add_switch("quiet", "show no progress and no summary", terminal_.quiet);
  settings.add_switch("verbose", "also print what limited the run, and its peak memory", terminal_.verbose);

  for (const Settings::Entry& entry : settings.entries()) {
    std::string names = "--" + entry.name;
    if (entry.name == "quiet") names += ",-q";
    if (entry.name == "verbose") names += ",-v";
    if (entry.name == "output") names += ",-o";
    // CLI11 does not show options without a group in the help.
    const std::string group = entry.group.empty() ? "Job options" : entry.group;
    if (entry.is_switch()) {
      auto values = std::make_shared<std::vector<bool>>();
      if (!entry.consent) names += ",!--no-" + entry.name;
      app_.add_flag_function(
              names, [values](std::int64_t count) { values->push_back(count > 0); }, entry.help)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
          ->group(group);
      switches_.emplace_back(entry.name, values);
    } else {
      auto values = std::make_shared<std::vector<std::string>>();
      auto* option = app_.add_option(names, *values, entry.help);
      require_one_value(option)->type_name(entry.value_name)->group(group);
      option->multi_option_policy(entry.repeatable ? CLI::MultiOptionPolicy::TakeAll
                                                   : CLI::MultiOptionPolicy::TakeLast);
      if (!entry.text().empty()) option->default_str(entry.text());
      given_.emplace_back(entry.name, values);
    }
  }
  // These options come after the job's own, because the help shows groups in the order of their first option.
  require_one_value(app_.add_option("--config", config_, "read options from a YAML file"))
      ->type_name("FILE")
      ->group("Running");
  app_.add_flag("--print-config", print_config_, "print every option with its value and origin, then exit")
      ->group("Running");
  app_.add_flag("--print-options", print_options_, "print the options as a Markdown table, then exit")->group("");
}

const Settings& Command::resolve_options() {
  Settings& settings = runner_.settings();
  if (!config_.empty()) settings.apply_file(config_);
  settings.apply_environment([](const char* name) { return std::getenv(name); });
  for (const auto& [name, values] : given_) {
    if (!values->empty()) settings.apply_flag(name, *values);
  }
  for (const auto& [name, values] : switches_) {
    if (!values->empty()) settings.apply_flag(name, {values->back() ? "true" : "false"});
  }
  return settings;
}

ExitCode Command::execute() {
  if (print_options_) {
    write_stdout(runner_.settings().to_markdown());
    return ExitCode::done;
  }
  resolve_options();
  if (print_config_) {
    write_stdout(runner_.settings().print());
    return ExitCode::done;
  }
  start_logging(terminal_.log_level);
  runner_.start(interrupt_token(), terminal_.quiet ? ProgressStyle::none : terminal_.progress, config_, enter_sandbox);
  for (const std::string& note : {runner_.device_note(), runner_.sandbox_note()})
    if (!note.empty()) spdlog::warn("{}", escape_unprintable(note));
  const RunContext& context = runner_.context();
  spdlog::info("millrace {} {}: {} threads, CPU level {}, memory limit {} ({})", version(), app_.get_name(),
               context.executor.threads(), name_of(current_cpu_level()), format_bytes(context.budget.limit()),
               runner_.running().memory.count > 0 ? "--memory" : "60 % of the available memory");
  for (const Settings::Entry& entry : runner_.settings().entries()) {
    if (entry.origin == OptionOrigin::default_value) continue;
    spdlog::debug("--{} is {} ({})", entry.name, escape_unprintable(entry.text()), name_of(entry.origin));
  }
  if (runner_.running().plan) {
    print_plan(runner_.plan());
    return ExitCode::done;
  }
  return run();
}

void Command::print_plan(const Plan& plan) const {
  if (runner_.running().json != "-") write_stdout(escape_unprintable_lines(text_of(plan)));
  runner_.write_json(plan);
}

ExitCode Command::run() {
  // If the reader of stdout is gone, a job that has more to print ends, but named output files are still written.
  std::optional<Failure> lost;
  const auto print_if_possible = [&](std::string_view text) {
    if (lost) throw Failure(lost->error());
    try {
      print(text);
    } catch (const Failure& failure) {
      lost = failure;
    }
  };
  const Result result = runner_.run(print_if_possible);
  if (!terminal_.quiet && !lost) print_if_possible(result.listing);
  if (runner_.writes_json()) runner_.write_json(result);
  for (const std::string& line : result.summary) print_line(line);
  if (!result.warning.empty()) spdlog::warn("{}", escape_unprintable(result.warning));
  if (!runner_.writes_json() && !result.unless_json.empty()) print_line(result.unless_json);
  const RunContext& context = runner_.context();
  const std::string verdict = context.trace.verdict();
  if (terminal_.verbose) print_line(verdict);
  spdlog::info("{:.2f} s; {}", context.trace.elapsed_s(), verdict);
  runner_.write_trace();
  if (terminal_.verbose) {
    const ResidentMemory resident = resident_memory();
    print_line(fmt::format("peak memory: {}; the limit is {}", format_bytes(resident.peak),
                           format_bytes(context.budget.limit())));
  }
  if (lost) throw Failure(lost->error());
  return result.exit_code;
}

void Command::print(std::string_view text) const {
  if (runner_.running().json != "-") write_stdout(text);
}

void Command::print_line(const std::string& line) const {
  if (!terminal_.quiet) write_stderr(escape_unprintable_lines(line) + "\n");
}

int run_program(int argc, char** argv) {
  open_standard_descriptors();
  std::set_terminate(report_out_of_memory);
  CLI::App app{"Millrace: fast, exact jobs over large collections of pictures, charts, latents and video", "millrace"};
  app.set_version_flag("--version", std::string("millrace ") + version());
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);  // the signal that schedulers send
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // makes a write beyond a limit on file sizes return an error, like a full disk
  try {
    // The commands are never freed, as the program ends with them. Freeing a job's data about a million files one by
    // one takes a quarter of a second.
    static Commands& commands = *new Commands;
    add_jobs(app, commands);
    std::function<ExitCode()> chosen;
    add_doctor_command(app, chosen);
    add_tune_command(app, chosen);
    refuse_option_mistakes(app, argc, argv);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      // CLI11 prints help and version with code 0; everything else is wrong usage.
      std::ostringstream data, words;
      const bool asked = app.exit(e, data, words) == 0;
      write_stderr(words.str());
      write_stdout(data.str());
      return static_cast<int>(asked ? ExitCode::done : ExitCode::usage);
    }
    if (chosen) return static_cast<int>(chosen());
    // For a subcommand its parent command is parsed too; the last parsed command is the one to run.
    const auto given =
        std::find_if(commands.rbegin(), commands.rend(), [](const auto& command) { return command->app().parsed(); });
    if (given != commands.rend()) return static_cast<int>((*given)->execute());
    return static_cast<int>(ExitCode::usage);
  } catch (const Failure& failure) {
    write_stderr(fmt::format("millrace: {}\n", failure.what()));
    const int code = static_cast<int>(exit_code_for(failure.error().code));
    // A network in an endless loop still runs on threads of its runtime; a normal exit would wait for them.
    if (failure.error().code == ErrorCode::cancelled) std::_Exit(code);
    return code;
  } catch (const std::bad_alloc&) {
    write_stderr(kOutOfMemory);
    return static_cast<int>(ExitCode::failed);
  } catch (const std::exception& e) {
    write_stderr(fmt::format("millrace: {}\n", escape_unprintable(e.what())));
    return static_cast<int>(ExitCode::failed);
  }
}

}  // namespace millrace::cli
