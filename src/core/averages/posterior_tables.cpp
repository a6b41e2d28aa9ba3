#include "averages/posterior_tables.h"

#include <cmath>
#include <numbers>

#include "base/simd.h"

namespace topdag {

namespace {

constexpr double rounding = 1e-9;

// The upper half is added to the lower; returns its sum, in an order of its own.
TOPDAG_SIMD double fold(double* __restrict lower, const double* __restrict upper, std::size_t half) {
    double lanes[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= half; i += 8)
        for (std::size_t lane = 0; lane < 8; ++lane) {
            lanes[lane] += upper[i + lane];
            lower[i + lane] += upper[i + lane];
        }
    double sum = 0.0;
    for (; i < half; ++i) {
        sum += upper[i];
        lower[i] += upper[i];
    }
    for (double lane : lanes) sum += lane;
    return sum;
}

}  // namespace

Marginals marginals(BigArray& values, int bits) {
    Marginals sums{0.0, std::vector<double>(bits)};
    for (int bit = bits - 1; bit >= 0; --bit)
        sums.with_bit[bit] = fold(values.data(), values.data() + n_sets(bit), n_sets(bit));
    sums.total = values[0];
    return sums;
}

template <class Real>
BigArray parent_set_probabilities(const LocalScores& scores, int v, ScaledTable<Real>& g, Real total,
                                  Exponent exponent) {
    const int bits = scores.n_variables() - 1;
    sum_over_supersets(g.mantissas.data(), g.exponents.data(), bits);
    ScaledTable<double> weights(n_sets(bits));
    fill_weights(scores, v, weights);
    BigArray probabilities(n_sets(bits));
    const double whole = static_cast<double>(total);
    for (std::size_t slot = 0; slot < n_sets(bits); ++slot)
        probabilities[slot] = static_cast<double>(g.mantissas[slot]) * weights.mantissas[slot] / whole *
                              power_of_two(g.exponents[slot] + weights.exponents[slot] - exponent);
    return probabilities;
}

template BigArray parent_set_probabilities(const LocalScores&, int, ScaledTable<double>&, double, Exponent);
template BigArray parent_set_probabilities(const LocalScores&, int, ScaledTable<DoubleDouble>&, DoubleDouble, Exponent);

bool clip(double* probabilities, std::size_t count) {
    bool all_right = true;
    for (std::size_t i = 0; i < count; ++i) {
        all_right = all_right && probabilities[i] >= -rounding && probabilities[i] <= 1.0 + rounding;
        probabilities[i] = std::min(std::max(probabilities[i], 0.0), 1.0);
    }
    return all_right;
}

double take_parent_sets(Posteriors& posteriors, int v, int n, BigArray& probabilities, bool keep) {
    bool all_right = true;
    if (keep) {
        posteriors.parent_sets[v] = BigArray(probabilities.size());
        std::copy_n(probabilities.data(), probabilities.size(), posteriors.parent_sets[v].data());
        all_right = clip(posteriors.parent_sets[v].data(), probabilities.size());
    }
    const Marginals sums = marginals(probabilities, n - 1);
    for (int bit = 0; bit < n - 1; ++bit) {
        const int parent = bit < v ? bit : bit + 1;
        posteriors.edges[static_cast<std::size_t>(parent) * n + v] = sums.with_bit[bit];
    }
    return all_right ? std::abs(sums.total - 1.0) : 1.0;
}

void clip_pairs(Posteriors& posteriors) {
    const bool edges_right = clip(posteriors.edges.data(), posteriors.edges.size());
    const bool paths_right = clip(posteriors.paths.data(), posteriors.paths.size());
    if (!edges_right || !paths_right) posteriors.defect = 1.0;
}

double as_log(double mantissa, Exponent exponent) { return std::log(mantissa) + exponent * std::numbers::ln2; }

}  // namespace topdag
