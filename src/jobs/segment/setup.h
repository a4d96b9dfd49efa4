// Enters: options, and the model that was opened by them.
// Leaves: what results are made of.
// Never: runs the network.
#pragma once

#include "src/io/store/dataset.h"
#include "src/jobs/segment/options.h"
#include "src/model/picture_model.h"

namespace millrace::segment {

using Setup = model::PictureModel;

// Failure(usage) for options that are missing, and what opening the model throws.
Setup set_up(const Options& options, const std::function<bool()>& cancelled);

// What results are made of, for run.json and for whoever goes on.
Attributes made_of(const Options& options, const Setup& setup, const model::Session& session);

}  // namespace millrace::segment
