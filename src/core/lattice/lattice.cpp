#include "lattice/lattice.h"

#include <algorithm>

#include "base/infinity.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "lattice/sweeps.h"

namespace topdag {

namespace {

constexpr std::size_t cache_doubles = 1 << 17;  // what a core's own cache holds of a strip across all blocks
constexpr int block_bits = 12;     // the forward table is filled in blocks of 2^12 sets

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

bool Lattice::sweep(int threads, Limits& limits) {
    const int low = std::min(n_ - 1, cache_bits);
    const int high = n_ - 1 - low;
    const std::size_t blocks = n_sets(high);
    limits.begin(Phase::sweeping, 2 * n_ * n_sets(n_ - 1));
    parallel_for(n_ * blocks, threads, limits, [&](std::size_t task, int) {
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
        parallel_for(n_ * strips, threads, limits, [&](std::size_t task, int) {
            const std::size_t x = task / strips;
            sweep_rows(&best_[x][task % strips * width], high, width, n_sets(low));
            limits.done += width << high;
        });
    if (!scores_.precedence().is_empty())
        parallel_for(n_, threads, limits, [&](std::size_t x, int) { strike_out(static_cast<int>(x)); });
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

// Calls fill_block for all blocks of sets that share their high variables, layer by layer: those with fewer high
// variables first, or last. Blocks of one layer do not need each other, so threads share them.
template <class FillBlock>
bool Lattice::fill_in_layers(bool from_empty, int threads, Limits& limits, FillBlock&& fill_block) {
    const int low = std::min(n_, block_bits);
    limits.begin(Phase::ordering, n_sets(n_));
    std::vector<std::vector<VarSet>> layers(n_ - low + 1);
    for (VarSet block = 0; block < n_sets(n_ - low); ++block) layers[size_of(block)].push_back(block);
    if (!from_empty) std::reverse(layers.begin(), layers.end());
    for (const std::vector<VarSet>& layer : layers)
        parallel_for(layer.size(), threads, limits, [&](std::size_t i, int) {
            fill_block(layer[i]);
            limits.done += n_sets(low);
        });
    return !limits.stop.load();
}

bool Lattice::order(int threads, Limits& limits) {
    forward_ = BigArray(n_sets(n_));
    return fill_in_layers(true, threads, limits, [&](VarSet block) { order_block(block); });
}

bool Lattice::order_backward(int threads, Limits& limits) {
    backward_ = BigArray(n_sets(n_));
    return fill_in_layers(false, threads, limits, [&](VarSet block) { order_block_backward(block); });
}

// best(x, .) over the sets of a block, for its own variables.
std::vector<const double*> Lattice::tables_within(VarSet base) const {
    std::vector<const double*> tables;
    for (int x = 0; x < std::min(n_, block_bits); ++x) tables.push_back(best_[x].data() + without_bit(base, x));
    return tables;
}

// F for all sets whose variables above the block's bits are those of `block`.
void Lattice::order_block(VarSet block) {
    const int low = std::min(n_, block_bits);
    const VarSet base = block << low;
    double* own = &forward_[base];
    std::fill(own, own + n_sets(low), minus_infinity);
    if (!scores_.precedence().can_be_ideal(base, n_sets(low) - 1)) return;
    if (block == 0) own[0] = 0.0;
    for (VarSet rest = base; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        const VarSet before = base & ~only(x);
        raise_to_sum(own, &best_[x][without_bit(before, x)], &forward_[before], n_sets(low));
    }
    order_within(own, tables_within(base).data(), low);
}

// H for the same sets, from those with one more variable.
void Lattice::order_block_backward(VarSet block) {
    const int low = std::min(n_, block_bits);
    const VarSet base = block << low;
    const VarSet everything = n_sets(n_) - 1;
    double* own = &backward_[base];
    std::fill(own, own + n_sets(low), minus_infinity);
    if (!scores_.precedence().can_be_ideal(base, n_sets(low) - 1)) return;
    if (base + n_sets(low) - 1 == everything) own[n_sets(low) - 1] = 0.0;
    for (VarSet rest = everything & ~base & ~(n_sets(low) - 1); rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        raise_to_sum(own, &best_[x][without_bit(base, x)], &backward_[base | only(x)], n_sets(low));
    }
    order_within_backward(own, tables_within(base).data(), low);
    strike_out_no_ideals(own, base, low, scores_.precedence());
}

}  // namespace topdag
