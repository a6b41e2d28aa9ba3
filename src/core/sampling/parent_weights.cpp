#include "sampling/parent_weights.h"

#include <algorithm>
#include <limits>

#include "base/parallel.h"

namespace topdag {

namespace {

constexpr double least_shown = 1e7;  // so that exponents of networks stay far above that of zero

}  // namespace

ParentWeights::ParentWeights(const LocalScores& scores)
    : n_(scores.n_variables()), scores_(scores), sums_(n_), exponents_(n_), families_(n_) {}

bool ParentWeights::fill(Limits& limits) {
    limits.begin(Phase::sweeping, n_);
    parallel_for(n_, limits, [&](std::size_t x, int) {
        fill_variable(static_cast<int>(x));
        ++limits.done;
    });
    return !limits.stop.load();
}

void ParentWeights::fill_variable(int x) {
    const std::size_t size = n_sets(n_ - 1);
    std::vector<double> local(size);
    scores_.fill(x, 0, size, local.data());
    const double best = std::max(*std::max_element(local.begin(), local.end()), std::numeric_limits<double>::lowest());
    std::vector<long double>& sums = sums_[x];
    std::vector<std::int32_t>& exponents = exponents_[x];
    sums.assign(size, 0.0L);
    exponents.assign(size, no_exponent);
    for (std::size_t slot = 0; slot < size; ++slot) {
        if (!(local[slot] >= best - least_shown)) continue;
        const Scaled weight = exponential(local[slot] - best);
        sums[slot] = weight.mantissa;
        exponents[slot] = weight.exponent;
        families_[x].push_back({static_cast<double>(weight.mantissa), weight.exponent,
                                static_cast<std::uint32_t>(with_gap(slot, x))});
    }
    std::sort(families_[x].begin(), families_[x].end(), [](const Family& a, const Family& b) {
        if (a.exponent != b.exponent) return a.exponent > b.exponent;
        return a.mantissa != b.mantissa ? a.mantissa > b.mantissa : a.parents < b.parents;
    });
    for (std::size_t half = 1; half < size; half <<= 1)
        for (std::size_t slot = 0; slot < size; ++slot)
            if (slot & half) {
                const std::size_t without = slot ^ half;
                const Scaled both = Scaled{sums[slot], exponents[slot]} + Scaled{sums[without], exponents[without]};
                sums[slot] = both.mantissa;
                exponents[slot] = both.exponent;
            }
    const VarSet wanted = without_bit(scores_.precedence().before(x), x);
    for (std::size_t slot = 0; wanted != 0 && slot < size; ++slot)
        if (!is_subset(wanted, slot)) {
            sums[slot] = 0.0L;
            exponents[slot] = no_exponent;
        }
}

long double ParentWeights::ways_by_difference(int x, VarSet within, VarSet meeting) const {
    meeting = still_to_meet(x, meeting);
    if (meeting == 0) return sum(x, within);
    return sum(x, within) - in_units(scaled_sum(x, within & ~meeting), exponent(x, within));
}

// Each sum went through n - 1 additions, and is below two units.
long double ParentWeights::difference_error() const { return 4 * n_ * std::numeric_limits<long double>::epsilon(); }

template <class Use>
void ParentWeights::for_each_allowed(int x, VarSet within, VarSet meeting, Use&& use) const {
    const auto outside = static_cast<std::uint32_t>(~within);
    const auto met = static_cast<std::uint32_t>(still_to_meet(x, meeting));
    const std::int64_t unit = exponent(x, within);
    for (const Family& family : families_[x]) {
        if ((family.parents & outside) != 0 || (met != 0 && (family.parents & met) == 0)) continue;
        if (!use(family, family.mantissa * power_of_two(family.exponent - unit))) return;
    }
}

double ParentWeights::ways_by_families(int x, VarSet within, VarSet meeting) const {
    double total = 0.0;
    const double rest = static_cast<double>(families_[x].size()) * 0x1p60;
    for_each_allowed(x, within, meeting, [&](const Family&, double weight) {
        total += weight;
        return weight * rest >= total && weight > 0.0;  // what is left would not show
    });
    return total;
}

void ParentWeights::draw_parents(int x, VarSet within, VarSet meeting, std::vector<Draw>& draws) const {
    double passed = 0.0;
    std::size_t next = 0;
    VarSet last = 0;
    for_each_allowed(x, within, meeting, [&](const Family& family, double weight) {
        if (weight == 0.0) return false;
        passed += weight;
        last = family.parents;
        while (next < draws.size() && draws[next].at < passed) draws[next++].parents = last;
        return next < draws.size();
    });
    while (next < draws.size()) draws[next++].parents = last;  // the sum was rounded up
}

}  // namespace topdag
