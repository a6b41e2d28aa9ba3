#include "sampling/root_layers.h"

#include <algorithm>

#include "base/parallel.h"
#include "base/simd.h"
#include "sampling/layer_terms.h"

namespace topdag {

namespace {

// The sum over all K of values(all - K) product over K of -factor; spoils the values.
long double alternating_sum(long double* values, int bits, const long double* factors) {
    for (int v = bits - 1; v >= 0; --v) {
        const std::size_t half = n_sets(v);
        for (std::size_t i = 0; i < half; ++i) values[i] = values[i + half] - factors[v] * values[i];
    }
    return values[0];
}

// What one thread needs to fill b.
struct Room {
    std::vector<long double> terms, sums;
    std::vector<double> levels, short_sums;
    double cancellation = 1.0;
};

}  // namespace

TOPDAG_SIMD void fold_levels(double* levels, int bits, const double* factors) {
    for (int v = bits - 1; v >= 0; --v) {
        const std::size_t half = n_sets(v);
        const double* larger = levels + 2 * half;
        for (std::size_t i = 0; i < half; ++i) levels[half + i] = larger[i + half] + factors[v] * larger[i];
    }
}

RootLayers::RootLayers(const ParentWeights& weights)
    : weights_(weights), n_(weights.n_variables()), sums_(n_sets(n_)), exponents_(n_sets(n_)) {}

void RootLayers::fill_exponents(Limits& limits) {
    const VarSet all = all_of(n_);
    parallel_over_sets(n_, limits, [&](VarSet left) {
        std::int64_t most = left == 0 ? 0 : no_exponent;
        const bool can_remain = weights_.precedence().is_ideal(all & ~left);
        for (VarSet rest = can_remain ? left : 0; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            most = std::max(most, std::int64_t{weights_.exponent(x, all & ~left)} + exponents_[left & ~only(x)]);
        }
        exponents_[left] = most < no_exponent / 2 ? no_exponent : static_cast<std::int32_t>(most);
    });
}

bool RootLayers::fill(Limits& limits) {
    const VarSet all = all_of(n_);
    limits.begin(Phase::ordering, n_sets(n_));
    fill_exponents(limits);
    if (limits.stop.load()) return false;
    sums_[0] = 1.0L;
    std::vector<Room> rooms(limits.threads);
    parallel_by_size(n_, true, limits, [&](VarSet left, int worker) {
        ++limits.done;
        if (left == 0 || exponents_[left] == no_exponent) return;  // the sum is known, or stays zero
        const int size = size_of(left);
        Room& room = rooms[worker];
        const std::size_t half = n_sets(size - 1);
        const std::vector<int> own = members_of(left);
        read_sums(weights_, all & ~left, own, room.sums);
        room.short_sums.assign(room.sums.begin(), room.sums.end());
        room.terms.resize(half);
        room.levels.resize(2 * half);
        // The sum of this set itself is still zero, as the formula has it.
        Terms(*this, all & ~left, own).gather_pairs(room.sums.back(), room.terms.data(), room.levels.data() + half);
        fold_levels(room.levels.data(), size - 1, room.short_sums.data());
        sums_[left] = -alternating_sum(room.terms.data(), size - 1, room.sums.data());
        room.cancellation = std::max(room.cancellation, room.levels[1] / static_cast<double>(sums_[left]));
    });
    for (const Room& room : rooms) cancellation_ = std::max(cancellation_, room.cancellation);
    return !limits.stop.load();
}

double RootLayers::error() const { return 4.0 * n_ * long_epsilon * cancellation_; }

}  // namespace topdag
