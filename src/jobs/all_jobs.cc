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
      {{"hash", "compute perceptual hashes of pictures", "", hash::make_job},
       {"join", "find every pair of codes within a Hamming distance", "", join::make_job},
       {"dedupe", "find duplicate pictures", "", dedupe::make_job},
       {"compare", "report how much of one folder of pictures is in another", "dedupe", dedupe::make_compare_job},
       {"review", "review duplicates in a browser, at full size", "dedupe", dedupe::make_review_job},
       {"apply", "carry out the decisions saved from the page", "dedupe", dedupe::make_apply_job},
       {"undo", "undo what apply did", "dedupe", dedupe::make_undo_job},
       {"purge", "delete for good the files that apply --action delete set aside", "dedupe", dedupe::make_purge_job},
       {"render", "draw price series as charts for training", "", render::make_job},
       {"latents", "measure differences between groups of video-diffusion latents", "", latents::make_job},
       {"fundus", "crop and enhance the field of view of fundus photographs", "", fundus::make_job},
       {"segment", "run a model over large pictures, window by window", "", segment::make_job},
       {"video", "run a model over videos, frame by frame", "", video::make_job},
       {"inventory", "list the files of a collection once, for all runs that share it", "", inventory::make_job},
       {"finish", "merge the shards that several runs made", "", finish_shards::make_job}}};
  return jobs;
}

}  // namespace millrace
