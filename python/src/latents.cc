#include "millrace/latents.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <limits>
#include <mutex>

#include "arrays.h"
#include "bindings.h"
#include "calls.h"
#include "millrace/error.h"

namespace millrace::python {
namespace {

nb::dict to_dict(LatentMeasures&& measures) {
  nb::dict metrics, distributions;
  for (const NamedNumber& metric : measures.metrics)
    metrics[nb::str(metric.name.data(), metric.name.size())] = metric.value;
  for (NamedNumbers& own : measures.distributions) {
    distributions[nb::str(own.name.data(), own.name.size())] = to_numpy(std::move(own.values), own.shape);
  }
  nb::dict out;
  out["metrics"] = metrics;
  out["distributions"] = distributions;
  out["not_finite"] = measures.not_finite;
  return out;
}

// The library's measurer takes one thread at a time.
class Measurer {
 public:
  explicit Measurer(const LatentOptions& options) : measurer_([options] { return new Shared(options); }) {}

  nb::dict measure(const nb::object& latent) {
    const HeldArray array = hold_array(latent, "latent");
    Shared& shared = measurer_.get();
    LatentMeasures out;
    run_interruptible(shared.cost(bytes_of(array.view), 1), [&](const CancelToken& cancel) {
      const auto lock = shared.wait_for_turn(cancel);
      out = shared.measurer.measure(array.view, &cancel);
    });
    return to_dict(std::move(out));
  }

  nb::list measure_all(const nb::object& latents) {
    const HeldArray array = hold_array(latents, "latents");
    Shared& shared = measurer_.get();
    std::vector<LatentMeasures> measured;
    const std::size_t count = array.view.shape.empty() ? 0 : static_cast<std::size_t>(array.view.shape.front());
    run_interruptible(shared.cost(bytes_of(array.view), count), [&](const CancelToken& cancel) {
      const auto lock = shared.wait_for_turn(cancel);
      measured = shared.measurer.measure_all(array.view, &cancel);
    });
    nb::list out;
    for (LatentMeasures& one : measured) out.append(to_dict(std::move(one)));
    return out;
  }
  LatentDeviceUse device_use() {
    Shared& shared = measurer_.get();
    LatentDeviceUse out;
    run_interruptible(shared.cost(0, 0), [&](const CancelToken& cancel) {
      const auto lock = shared.wait_for_turn(cancel);
      out = shared.measurer.device_use();
    });
    return out;
  }

 private:
  struct Shared {
    explicit Shared(const LatentOptions& options) : measurer(options) {}
    // Cost as run_interruptible() needs it: unbounded while another thread's call runs, because this call then waits
    // for it.
    std::uint64_t cost(std::uint64_t bytes, std::size_t latents) {
      constexpr std::uint64_t kOfEach = 32 << 10;
      const std::unique_lock idle(mutex, std::try_to_lock);
      return idle ? bytes + kOfEach * latents : std::numeric_limits<std::uint64_t>::max();
    }
    // Waits until no other thread's call uses the measurer.
    std::unique_lock<std::timed_mutex> wait_for_turn(const CancelToken& cancel) {
      std::unique_lock lock(mutex, std::defer_lock);
      while (!lock.try_lock_for(std::chrono::milliseconds(50)))
        if (cancel.cancelled())
          throw Failure(ErrorCode::cancelled, "cancelled while waiting for another call of this measurer", "latent",
                        "");
      return lock;
    }
    std::timed_mutex mutex;
    LatentMeasurer measurer;
  };
  PerProcess<Shared> measurer_;
};

// Returns a list of dicts, by pair of groups, then by column.
nb::list compare(const nb::object& values, const std::vector<std::uint32_t>& groups, std::uint64_t seed,
                 std::uint32_t shuffles, std::uint32_t replicates, int threads) {
  const HeldArray array = hold_array(values, "values");
  std::vector<GroupDifference> found;
  run_interruptible([&](const CancelToken& cancel) {
    found = compare_groups(array.view, groups, {seed, shuffles, replicates, threads, &cancel});
  });
  nb::list out;
  for (const GroupDifference& own : found) {
    nb::dict one;
    one["first"] = own.first;
    one["second"] = own.second;
    one["column"] = own.column;
    one["count"] = nb::make_tuple(own.count[0], own.count[1]);
    one["mean"] = nb::make_tuple(own.mean[0], own.mean[1]);
    one["deviation"] = nb::make_tuple(own.deviation[0], own.deviation[1]);
    one["t"] = own.t;
    one["degrees_of_freedom"] = own.degrees_of_freedom;
    one["p"] = own.p;
    one["cohens_d"] = own.cohens_d;
    one["hedges_g"] = own.hedges_g;
    one["u"] = own.u;
    one["p_mann_whitney"] = own.p_mann_whitney;
    one["p_permutation"] = own.p_permutation;
    one["p_familywise"] = own.p_familywise;
    one["p_holm"] = own.p_holm;
    one["p_benjamini_hochberg"] = own.p_benjamini_hochberg;
    one["interval"] = nb::make_tuple(own.interval[0], own.interval[1]);
    one["bootstrap_interval"] = nb::make_tuple(own.bootstrap_interval[0], own.bootstrap_interval[1]);
    one["reason"] = own.reason;
    out.append(one);
  }
  return out;
}

}  // namespace

void bind_latents(nb::module_& m) {
  nb::class_<LatentOptions>(m, "LatentOptions")
      .def(nb::init<>())
      .def_rw("threads", &LatentOptions::threads)
      .def_rw("device", &LatentOptions::device)
      .def_rw("verify_device", &LatentOptions::verify_device)
      .def_rw("device_memory", &LatentOptions::device_memory);
  nb::class_<Measurer>(m, "Measurer")
      .def(nb::init<const LatentOptions&>(), nb::arg("options"))
      .def("measure", &Measurer::measure, nb::arg("latent"))
      .def("measure_all", &Measurer::measure_all, nb::arg("latents"))
      .def_prop_ro("device_use", [](Measurer& m) {
        const auto use = m.device_use();
        return dict_of(use, "measured", use.measured);
      });
  m.def("compare", compare, nb::arg("values"), nb::arg("groups"), nb::arg("seed"), nb::arg("shuffles"),
        nb::arg("replicates"), nb::arg("threads"));
}

}  // namespace millrace::python
