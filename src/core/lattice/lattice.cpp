#include "lattice/lattice.h"

#include <algorithm>

#include "base/infinity.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "lattice/order_tables.h"
#include "lattice/sweeps.h"

namespace topdag {

namespace {

constexpr std::size_t cache_doubles = 1 << 17;  // what a core's own cache holds of a strip across all blocks

TOPDAG_SIMD void raise_to(double* upper, const double* lower, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) upper[i] = upper[i] < lower[i] ? lower[i] : upper[i];
}

// Maxima over subsets across rows that lie `stride` apart, `width` columns at a time.
void sweep_rows(double* values, int bits, std::size_t width, std::size_t stride) {
    for (std::size_t half = 1; half < n_sets(bits); half <<= 1)
        for (std::size_t base = 0; base < n_sets(bits); base += 2 * half)
            for (std::size_t row = base; row < base + half; ++row)
                raise_to(values + (row + half) * stride, values + row * stride, width);
}

}  // namespace

Lattice::Lattice(const LocalScores& scores) : n_(scores.n_variables()), scores_(scores) {
    for (int x = 0; x < n_; ++x) best_.emplace_back(n_sets(n_ - 1));
}

bool Lattice::sweep(Limits& limits) {
    const int low = std::min(n_ - 1, cache_bits);
    const int high = n_ - 1 - low;
    const std::size_t blocks = n_sets(high);
    limits.begin(Phase::sweeping, 2 * n_ * n_sets(n_ - 1));
    parallel_for(n_ * blocks, limits, [&](std::size_t task, int) {
        const auto x = static_cast<int>(task / blocks);
        const std::size_t begin = task % blocks << low;
        scores_.fill(x, begin, n_sets(low), &best_[x][begin]);
        max_over_subsets(&best_[x][begin], low);
        limits.done += n_sets(low);
    });
    // All high bits at once on a strip of columns narrow enough to stay in cache.
    const std::size_t width = std::max<std::size_t>(8, std::min(n_sets(low), cache_doubles >> high));
    const std::size_t strips = n_sets(low) / width;
    if (high > 0 && !limits.stop.load())
        parallel_for(n_ * strips, limits, [&](std::size_t task, int) {
            const std::size_t x = task / strips;
            sweep_rows(&best_[x][task % strips * width], high, width, n_sets(low));
            limits.done += width << high;
        });
    if (!scores_.precedence().is_empty())
        parallel_for(n_, limits, [&](std::size_t x, int) { strike_out(static_cast<int>(x)); });
    return !limits.stop.load();
}

// x cannot follow sets that lack a variable before it.
void Lattice::strike_out(int x) {
    strike_out_without(best_[x].data(), without_bit(scores_.precedence().before(x), x), n_ - 1);
}

VarSet Lattice::fewest_parents(int x, VarSet available, double slack) const {
    if (scores_.precedence().before(x) != 0)
        return fewest_parents_by_families(scores_, x, available, best(x, available) - slack);
    return fewest_parents_of(*this, x, available, slack);
}

bool Lattice::order(Limits& limits) {
    forward_ = BigArray(n_sets(n_));
    limits.begin(Phase::ordering, n_sets(n_));
    return for_blocks_by_size(n_, true, limits, [&](VarSet block) {
        fill_block<LargestSums>(best_, scores_.precedence(), block, forward_);
        limits.done += n_sets(block_bits_of(n_));
    });
}

bool Lattice::order_backward(Limits& limits) {
    backward_ = BigArray(n_sets(n_));
    limits.begin(Phase::ordering, n_sets(n_));
    return for_blocks_by_size(n_, false, limits, [&](VarSet block) {
        fill_block_backward<LargestSums>(best_, scores_.precedence(), block, backward_);
        limits.done += n_sets(block_bits_of(n_));
    });
}

TOPDAG_SIMD void LargestSums::take_steps(double* to, const double* steps, const double* from, std::size_t count) {
    take_steps_in<LargestSums>(to, steps, from, count);
}

TOPDAG_SIMD void LargestSums::order_within(double* own, const double* const* steps, int bits) {
    order_within_in<LargestSums>(own, steps, bits);
}

TOPDAG_SIMD void LargestSums::order_within_backward(double* own, const double* const* steps, int bits) {
    order_within_backward_in<LargestSums>(own, steps, bits);
}

}  // namespace topdag
