#include "src/jobs/all_jobs.h"

#include <array>

#include "src/jobs/dedupe/job.h"
#include "src/jobs/finish/job.h"
#include "src/jobs/fundus/job.h"
#include "src/jobs/hash/job.h"
#include "src/jobs/inventory/job.h"
#include "src/jobs/join/job.h"
#include "src/jobs/latents/job.h"
#include "src/jobs/render/job.h"
#include "src/jobs/segment/job.h"
#include "src/jobs/video/job.h"

namespace millrace {

std::span<const ListedJob> all_jobs() {
  static const std::array<ListedJob, 15> jobs = {
      {{"hash", "perceptual hashes of pictures", "", hash::make_job},
       {"join", "every pair of codes within a Hamming distance", "", join::make_job},
       {"dedupe", "find the same picture again", "", dedupe::make_job},
       {"compare", "how much of one folder of pictures is in another", "dedupe", dedupe::make_compare_job},
       {"review", "decide in a browser, with the pictures at full size", "dedupe", dedupe::make_review_job},
       {"apply", "carry out what was decided on the page", "dedupe", dedupe::make_apply_job},
       {"undo", "take back what apply did", "dedupe", dedupe::make_undo_job},
       {"purge", "destroy what apply --action delete set aside", "dedupe", dedupe::make_purge_job},
       {"render", "price series to charts for training", "", render::make_job},
       {"latents", "what differs between groups of video-diffusion latents", "", latents::make_job},
       {"fundus", "the field of view of fundus photographs, cropped and enhanced", "", fundus::make_job},
       {"segment", "a model over pictures larger than its window", "", segment::make_job},
       {"video", "a model over film", "", video::make_job},
       {"inventory", "one list of files for all runs that share a collection", "", inventory::make_job},
       {"finish", "put together what runs with --part have made", "", finish_shards::make_job}}};
  return jobs;
}

}  // namespace millrace
