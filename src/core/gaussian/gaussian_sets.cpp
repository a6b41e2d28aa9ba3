#include "gaussian/gaussian_sets.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include "base/parallel.h"

namespace topdag {

namespace {

constexpr int block_variables = 14;  // a block of sets is walked in some milliseconds

}  // namespace

bool score_minors(const Scatter& scatter, const MinorFormula& formula, int most, Limits& limits,
                  double* scores, VarSet& degenerate) {
    const int low = std::min(scatter.n, block_variables);
    const std::size_t blocks = n_sets(scatter.n - low);
    std::mutex lock;
    degenerate = 0;
    limits.begin(Phase::counting, n_sets(scatter.n));
    parallel_for(blocks, limits, [&](std::size_t block, int) {
        const VarSet high = VarSet{block} << low;
        std::fill(scores + high, scores + high + n_sets(low), not_scored);
        VarSet first = 0;
        const auto visit = [&](VarSet set, int size, double log_det) {
            scores[set] = formula.constants[size] + formula.factors[size] * log_det;
        };
        const auto dependent = [&](VarSet set) { first = first == 0 ? set : std::min(first, set); };
        MinorWalk(scatter, most, visit, dependent).below(high, low);
        limits.done.fetch_add(n_sets(low), std::memory_order_relaxed);
        if (first == 0) return;
        const std::lock_guard guard(lock);
        degenerate = degenerate == 0 ? first : std::min(degenerate, first);
    });
    return !limits.stop.load();
}

double log_determinant(const Scatter& scatter) {
    double result = std::numeric_limits<double>::quiet_NaN();
    const auto visit = [&](VarSet, int, double log_det) { result = log_det; };
    MinorWalk(scatter, scatter.n, visit, [](VarSet) {}).below(all_of(scatter.n), 0);
    return result;
}

}  // namespace topdag
