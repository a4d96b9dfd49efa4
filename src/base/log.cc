#include "src/base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

namespace millrace {

void start_logging(LogLevel level) {
  auto logger = std::make_shared<spdlog::logger>("millrace", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("%H:%M:%S.%e %^%l%$: %v");
  logger->set_level(spdlog::level::from_str(choice_name(level)));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace millrace
