#include <fmt/format.h>

#include "src/cli/app.h"
#include "src/jobs/dedupe/job.h"
#include "src/jobs/finish/job.h"
#include "src/jobs/fundus/job.h"
#include "src/jobs/hash/job.h"
#include "src/jobs/join/job.h"
#include "src/jobs/latents/job.h"
#include "src/jobs/render/job.h"
#include "src/jobs/segment/job.h"
#include "src/jobs/video/job.h"

namespace millrace::cli {
namespace {

// `dedupe photos apply` is a slip: either the job's own arguments, or one of what stands below it.
void refuse_arguments_before(CLI::App& above, CLI::App& command) {
  command.parse_complete_callback([&above, name = command.get_name()] {
    for (const CLI::Option* option : above.get_options()) {
      if (option->count() == 0) continue;
      throw CLI::ValidationError(
          fmt::format("what belongs to {0} stands behind it; a folder of that name is written ./{0}", name));
    }
  });
}

}  // namespace

void add_jobs(CLI::App& parent, Commands& commands) {
  const auto add = [&](CLI::App& under, const char* name, const char* about, std::unique_ptr<Job> job) -> Command& {
    return *commands.emplace_back(std::make_unique<Command>(under, name, about, std::move(job)));
  };
  add(parent, "hash", "perceptual hashes of pictures", hash::make_job());
  add(parent, "join", "every pair of codes within a Hamming distance", join::make_job());
  CLI::App& above = add(parent, "dedupe", "find the same picture again", dedupe::make_job()).app();
  const auto add_below = [&](const char* name, const char* about, std::unique_ptr<Job> job) {
    refuse_arguments_before(above, add(above, name, about, std::move(job)).app());
  };
  add_below("apply", "carry out what was decided on the page", dedupe::make_apply_job());
  add_below("undo", "take back what apply did", dedupe::make_undo_job());
  add_below("purge", "destroy what apply --action delete set aside", dedupe::make_purge_job());
  add(parent, "render", "price series to charts for training", render::make_job());
  add(parent, "latents", "what differs between groups of video-diffusion latents", latents::make_job());
  add(parent, "fundus", "the field of view of fundus photographs, cropped and enhanced", fundus::make_job());
  add(parent, "segment", "a model over pictures larger than its window", segment::make_job());
  add(parent, "video", "a model over film", video::make_job());
  add(parent, "finish", "put together what runs with --part have made", finish_parts::make_job());
}

}  // namespace millrace::cli
