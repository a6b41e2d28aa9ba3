#include "averages/family_weights.h"

#include <numbers>
#include <stdexcept>

#include "base/infinity.h"
#include "base/parallel.h"

namespace topdag {

namespace {

constexpr int cache_bits = 14;
constexpr std::size_t filled_at_once = std::size_t{1} << 14;
// ln 2 in two parts, the first with so few bits that its multiples are exact.
constexpr double ln2_high = 0x1.62e42feep-1;
constexpr double ln2_low = 0x1.a39ef35793c76p-33;

// Whole halves are added first or last, so that what fits in cache is finished there.
template <class Real, class Join>
void sum_over(Real* values, Exponent* exponents, int bits, bool halves_first, Join&& join) {
    if (bits == 0) return;
    const std::size_t half = n_sets(bits - 1);
    if (halves_first) join(values, exponents, half);
    if (bits > cache_bits) {
        sum_over(values, exponents, bits - 1, halves_first, join);
        sum_over(values + half, exponents + half, bits - 1, halves_first, join);
    } else {
        for (std::size_t width = half >> 1; width > 0; width >>= 1)
            for (std::size_t base = 0; base < 2 * half; base += 2 * width) join(values + base, exponents + base, width);
    }
    if (!halves_first) join(values, exponents, half);
}

}  // namespace

Weight weight_of(double local) {
    if (local == minus_infinity) return {0.0, zero_exponent};
    if (!(std::abs(local) <= largest_local_score))
        throw std::invalid_argument(
            "A local score is further than 5,000,000 from zero, as those of some million rows are: sums over all "
            "networks cannot hold it. Lists (all within a factor, the k best) and samples of networks can be had.");
    const double e = std::floor(local * std::numbers::log2e);
    return {std::exp((local - e * ln2_high) - e * ln2_low), static_cast<Exponent>(e)};
}

template <class Real>
void fill_weights(const LocalScores& scores, int v, ScaledTable<Real>& weights) {
    const std::size_t step = std::min(filled_at_once, weights.size());
    std::vector<double> locals(step);
    for (std::size_t begin = 0; begin < weights.size(); begin += step) {
        scores.fill(v, begin, step, locals.data());
        for (std::size_t i = 0; i < step; ++i) {
            const Weight weight = weight_of(locals[i]);
            weights.mantissas[begin + i] = weight.mantissa;
            weights.exponents[begin + i] = weight.exponent;
        }
    }
}

template <class Real>
void sum_over_subsets(Real* values, Exponent* exponents, int bits) {
    sum_over(values, exponents, bits, false, [](Real* lower, Exponent* lower_exponents, std::size_t half) {
        add_numbers(lower + half, lower_exponents + half, lower, lower_exponents, half);
    });
}

template <class Real>
void sum_over_supersets(Real* values, Exponent* exponents, int bits) {
    sum_over(values, exponents, bits, true, [](Real* lower, Exponent* lower_exponents, std::size_t half) {
        add_numbers(lower, lower_exponents, lower + half, lower_exponents + half, half);
    });
}

template <class Real>
bool FamilyWeights<Real>::fill(const LocalScores& scores, Limits& limits) {
    const int n = scores.n_variables();
    within_.resize(n);
    limits.begin(Phase::sweeping, n);
    parallel_for(n, limits, [&](std::size_t v, int) {
        within_[v] = ScaledTable<Real>(n_sets(n - 1));
        fill_weights(scores, static_cast<int>(v), within_[v]);
        sum_over_subsets(within_[v].mantissas.data(), within_[v].exponents.data(), n - 1);
        ++limits.done;
    });
    return !limits.stop.load();
}

template <class Real>
void FamilyWeights<Real>::multiply(int v, const ScaledTable<double>& factors) {
    for (std::size_t slot = 0; slot < factors.size(); ++slot) {
        within_[v].mantissas[slot] = within_[v].mantissas[slot] * factors.mantissas[slot];
        if (within_[v].exponents[slot] != zero_exponent) within_[v].exponents[slot] += factors.exponents[slot];
    }
}

template <class Real>
void FamilyWeights<Real>::keep_to(const Precedence& precedence) {
    for (int v = 0; v < n_variables(); ++v) {
        const VarSet wanted = without_bit(precedence.before(v), v);
        if (wanted == 0) continue;
        for (std::size_t slot = 0; slot < within_[v].size(); ++slot) {
            if (is_subset(wanted, slot)) continue;
            within_[v].mantissas[slot] = 0.0;
            within_[v].exponents[slot] = zero_exponent;
        }
    }
}

template class FamilyWeights<double>;
template class FamilyWeights<DoubleDouble>;
template void fill_weights(const LocalScores&, int, ScaledTable<double>&);
template void fill_weights(const LocalScores&, int, ScaledTable<DoubleDouble>&);
template void sum_over_supersets(double*, Exponent*, int);
template void sum_over_supersets(DoubleDouble*, Exponent*, int);

}  // namespace topdag
