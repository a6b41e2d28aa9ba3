#include "averages/network_sums.h"

#include <algorithm>
#include <cmath>

#include "averages/prefix_sums.h"
#include "averages/suffix_sums.h"
#include "base/infinity.h"
#include "base/parallel.h"

namespace topdag {

namespace {

constexpr double matters = 1e-12;  // sets that come first with a smaller probability do not count for the cancellation

template <class Real>
using Shares = std::vector<ScaledTable<Real>>;  // alpha(U) gamma_v(U), by v, then by slot

template <class Real>
struct Tables {
    const LocalScores& scores;
    FamilyWeights<Real> weights;
    PrefixSums<Real> prefixes;
    SuffixSums<Real> suffixes;
    Shares<Real> shares;
    VarSet everything;

    Tables(const LocalScores& scores_in, FamilyWeights<Real> weights_in, int threads)
        : scores(scores_in), weights(std::move(weights_in)), prefixes(weights, scores.precedence(), threads),
          suffixes(weights, scores.precedence()), everything(all_of(weights.n_variables())) {}

    bool fill(bool with_shares, Limits& limits);
    double largest_cancellation(Limits& limits) const;
    BigArray chances_of_non_descendants(int v) const;
};

template <class Real>
bool Tables<Real>::fill(bool with_shares, Limits& limits) {
    if (!prefixes.fill(limits)) return false;
    if (!with_shares) return suffixes.fill(nullptr, limits);
    const int n = weights.n_variables();
    for (int v = 0; v < n; ++v) {
        shares.emplace_back(n_sets(n - 1));
        if (!scores.precedence().is_empty()) shares[v].clear();  // not every set comes first
    }
    const auto take = [&](VarSet past, int v, Real mantissa, Exponent exponent) {
        const VarSet slot = without_bit(past, v);
        const bool is_zero = prefixes.exponent(past) == zero_exponent || exponent == zero_exponent;
        shares[v].mantissas[slot] = is_zero ? Real(0.0) : prefixes.mantissa(past) * mantissa;
        shares[v].exponents[slot] = is_zero ? zero_exponent : prefixes.exponent(past) + exponent;
    };
    return suffixes.fill(take, limits);
}

// Over the sets that come first, closed under parents, in networks that matter.
template <class Real>
double Tables<Real>::largest_cancellation(Limits& limits) const {
    constexpr std::size_t at_once = 1 << 12;
    const double total = static_cast<double>(prefixes.mantissa(everything));
    std::vector<double> largest(limits.threads, 1.0);
    const auto look_at = [&](std::size_t set, int worker) {
        const VarSet others = everything & ~set;
        const Exponent exponent = prefixes.exponent(set) + suffixes.exponent(others) - prefixes.exponent(everything);
        const double before = static_cast<double>(prefixes.mantissa(set)) / total;
        const double share = before * static_cast<double>(suffixes.mantissa(others)) * power_of_two(exponent);
        if (share > matters) largest[worker] = std::max(largest[worker], prefixes.cancellation(set));
    };
    parallel_for(everything + 1, limits.threads, limits, look_at, at_once);
    return *std::max_element(largest.begin(), largest.end());
}

// P(just U does not descend from v), by slot.
template <class Real>
BigArray Tables<Real>::chances_of_non_descendants(int v) const {
    const ScaledTable<Real>& share = shares[v];
    const ScaledTable<Real>& within = weights.table(v);
    const double total = static_cast<double>(prefixes.mantissa(everything));
    BigArray chances(share.size());
    for (std::size_t slot = 0; slot < share.size(); ++slot) {
        const Exponent exponent = share.exponents[slot] + within.exponents[slot] - prefixes.exponent(everything);
        const double others = static_cast<double>(share.mantissas[slot]) / total;
        chances[slot] = others * static_cast<double>(within.mantissas[slot]) * power_of_two(exponent);
    }
    return chances;
}

// The rows and columns of v; returns how far its sums are from one.
template <class Real>
double take_variable(Tables<Real>& tables, int v, bool keep_parent_sets, Posteriors& posteriors) {
    const int n = tables.weights.n_variables();
    double* paths = &posteriors.paths[static_cast<std::size_t>(v) * n];
    BigArray chances = tables.chances_of_non_descendants(v);
    const Marginals outside = marginals(chances, n - 1);
    for (int bit = 0; bit < n - 1; ++bit) paths[bit < v ? bit : bit + 1] = outside.total - outside.with_bit[bit];
    const PrefixSums<Real>& prefixes = tables.prefixes;
    BigArray own = parent_set_probabilities(tables.scores, v, tables.shares[v], prefixes.mantissa(tables.everything),
                                            prefixes.exponent(tables.everything));
    tables.shares[v] = {};
    return std::max(std::abs(outside.total - 1.0), take_parent_sets(posteriors, v, n, own, keep_parent_sets));
}

template <class Real>
Posteriors sum_with(const LocalScores& scores, const SumsWanted& wanted, Limits& limits) {
    Posteriors posteriors;
    const int n = scores.n_variables();
    FamilyWeights<Real> weights;
    if (!weights.fill(scores, limits)) return posteriors;
    weights.keep_to(scores.precedence());
    Tables<Real> tables(scores, std::move(weights), limits.threads);
    if (!tables.fill(wanted.posteriors, limits)) return posteriors;
    const double total = static_cast<double>(tables.prefixes.mantissa(tables.everything));
    if (tables.prefixes.exponent(tables.everything) == zero_exponent) {
        posteriors.finished = true;
        posteriors.log_total = minus_infinity;
        return posteriors;
    }
    posteriors.log_total = as_log(total, tables.prefixes.exponent(tables.everything));
    posteriors.cancellation = tables.largest_cancellation(limits);
    posteriors.defect = std::abs(static_cast<double>(tables.suffixes.mantissa(tables.everything)) / total - 1.0);
    if (wanted.posteriors) {
        posteriors.edges.assign(static_cast<std::size_t>(n) * n, 0.0);
        posteriors.paths.assign(static_cast<std::size_t>(n) * n, 0.0);
        posteriors.parent_sets.resize(n);
        std::vector<double> defects(n);
        parallel_for(n, limits, [&](std::size_t place, int) {
            const auto v = static_cast<int>(place);
            defects[place] = take_variable(tables, v, has(wanted.parent_sets, v), posteriors);
        });
        if (limits.stop.load()) return {};
        for (double defect : defects) posteriors.defect = std::max(posteriors.defect, defect);
        clip_pairs(posteriors);
    }
    posteriors.finished = true;
    return posteriors;
}

}  // namespace

Posteriors sum_networks(const LocalScores& scores, const SumsWanted& wanted, Limits& limits) {
    return wanted.extended ? sum_with<DoubleDouble>(scores, wanted, limits)
                           : sum_with<double>(scores, wanted, limits);
}

double network_sums_bytes(int n, const SumsWanted& wanted, int threads) {
    const double sets = many_sets(n), families = n * many_sets(n - 1);
    const double number = wanted.extended ? 16 : 8;
    const double over_families = (number + 4) * families * (wanted.posteriors ? 2 : 1);
    const double over_sets = sets * (2 * number + 16 + threads * (2 * number + 4 + 12));
    return over_families + over_sets + size_of(wanted.parent_sets) * sets * 4;
}

}  // namespace topdag
