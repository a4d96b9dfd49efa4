#include "src/jobs/latents/analysis/comparisons_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "src/base/text.h"

namespace millrace::latents {
namespace {

constexpr const char* kHeader =
    "group_a,group_b,metric,step,n_a,n_b,mean_a,mean_b,sd_a,sd_b,difference,ci_low,ci_high,"
    "bootstrap_low,bootstrap_high,welch_t,df,p_welch,p_holm,p_bh,cohens_d,hedges_g,mann_whitney_u,p_mann_whitney,p_"
    "permutation,p_familywise,reason";

}  // namespace

OutputKind comparisons_kind() {
  return {"a table of comparisons", ReadAccess::everyone, make_table_recognizer(kHeader)};
}

void write_comparisons_csv(const Analysis& analysis, const OutputTarget& csv, RunContext& context) {
  OutputFile out(csv);
  out.write(std::string(kHeader) + "\n");
  // The order of columns: those of a metric are adjacent, its steps first.
  std::vector<std::size_t> order(analysis.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return analysis.columns[a].metric < analysis.columns[b].metric;
  });
  std::string text;
  const auto number = [&](double value) {
    if (value == value)
      fmt::format_to(std::back_inserter(text), ",{}", value);
    else
      text += ',';
  };
  for (std::size_t p = 0; p < analysis.pairs.size(); ++p) {
    const auto [a, b] = analysis.pairs[p];
    const std::string front = quote_csv_field(analysis.groups[a]) + "," + quote_csv_field(analysis.groups[b]) + ",";
    text.clear();
    for (const std::size_t c : order) {
      const ComparisonColumn& column = analysis.columns[c];
      const PairTest& test = analysis.test(p, c);
      const auto& [first, second] = test.comparison.moments;
      text += front;
      text += analysis.metrics[column.metric];
      text += ',';
      if (column.step) text += std::to_string(*column.step);
      text += fmt::format(",{},{}", first.count, second.count);
      for (const double value : {first.mean,
                                 second.mean,
                                 first.deviation,
                                 second.deviation,
                                 first.mean - second.mean,
                                 test.comparison.difference.low,
                                 test.comparison.difference.high,
                                 test.bootstrap.low,
                                 test.bootstrap.high,
                                 test.comparison.t,
                                 test.comparison.df,
                                 test.comparison.p,
                                 test.holm,
                                 test.benjamini_hochberg,
                                 test.comparison.cohens_d,
                                 test.comparison.hedges_g,
                                 test.comparison.u,
                                 test.comparison.u_p,
                                 test.permutation,
                                 test.familywise})
        number(value);
      text += ',';
      text += to_text(test.comparison.reason);
      text += '\n';
    }
    out.write(text);
    context.throw_if_cancelled();
  }
  out.commit();
}

}  // namespace millrace::latents
