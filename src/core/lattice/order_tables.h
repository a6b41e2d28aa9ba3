// order_tables.h: tables over all sets of variables, filled along orders: forward from the empty set, where x comes
// last in a set, or backward from the set of all, where x comes next. steps[x] is a table by slot.
//
// An algebra says what is made of the steps: `none` is what no order gives, `empty` what the empty order gives, and
// with(to, step, from) is what a set has when orders by way of another one are taken in. Its other functions are the
// loops below, compiled for several kinds of processors.
#pragma once

#include <algorithm>
#include <vector>

#include "base/big_array.h"
#include "base/infinity.h"
#include "base/parallel.h"
#include "base/var_set.h"
#include "families/precedence.h"
#include "lattice/sweeps.h"

namespace topdag {

// The best score of any order.
struct LargestSums {
    static constexpr double none = minus_infinity, empty = 0.0;
    [[gnu::always_inline]] static double with(double to, double step, double from) {
        const double sum = step + from;
        return to < sum ? sum : to;
    }
    static void take_steps(double* to, const double* steps, const double* from, std::size_t count);
    static void order_within(double* own, const double* const* steps, int bits);
    static void order_within_backward(double* own, const double* const* steps, int bits);
};

// to[i] = with(to[i], steps[i], from[i])
template <class Algebra>
[[gnu::always_inline]] inline void take_steps_in(double* to, const double* steps, const double* from,
                                                 std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) to[i] = Algebra::with(to[i], steps[i], from[i]);
}

constexpr int lane_bits = 3;  // sets that differ in these low bits are handled side by side

// Inside a block, a table over all sets of its `bits` variables: own[set] has what the variables outside offer as last
// ones; now those inside. steps[x] is a table over the block's sets without x.
template <class Algebra>
[[gnu::always_inline]] inline void order_within_in(double* own, const double* const* steps, int bits) {
    const int lanes = std::min(bits, lane_bits);
    for (VarSet group = 0; group < n_sets(bits); group += n_sets(lanes)) {
        for (VarSet rest = group; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            const VarSet before = group & ~only(x);
            take_steps_in<Algebra>(own + group, steps[x] + without_bit(before, x), own + before, n_sets(lanes));
        }
        for (VarSet set = group + 1; set < group + n_sets(lanes); ++set)
            for (int x = 0; x < lanes; ++x)
                if (const VarSet before = set & ~only(x); has(set, x))
                    own[set] = Algebra::with(own[set], steps[x][without_bit(before, x)], own[before]);
    }
}

// Likewise from the sets with one more variable.
template <class Algebra>
[[gnu::always_inline]] inline void order_within_backward_in(double* own, const double* const* steps, int bits) {
    const int lanes = std::min(bits, lane_bits);
    for (VarSet group = n_sets(bits); group != 0;) {
        group -= n_sets(lanes);
        for (VarSet rest = (n_sets(bits) - 1) & ~group & ~(n_sets(lanes) - 1); rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            const double* from = own + (group | only(x));
            take_steps_in<Algebra>(own + group, steps[x] + without_bit(group, x), from, n_sets(lanes));
        }
        for (VarSet set = group + n_sets(lanes); set-- > group;)
            for (int x = 0; x < lanes; ++x)
                if (!has(set, x))
                    own[set] = Algebra::with(own[set], steps[x][without_bit(set, x)], own[set | only(x)]);
    }
}

// A table over all sets of n variables is filled in blocks: those of one block have the same variables above the first
// block_bits_of(n), and are called by them.
constexpr int block_bits_of(int n) { return std::min(n, 12); }

inline std::vector<const double*> steps_within(const std::vector<BigArray>& steps, VarSet base) {
    std::vector<const double*> tables;
    for (int x = 0; x < block_bits_of(static_cast<int>(steps.size())); ++x)
        tables.push_back(steps[x].data() + without_bit(base, x));
    return tables;
}

// The sets of a block from all blocks with fewer variables.
template <class Algebra>
void fill_block(const std::vector<BigArray>& steps, const Precedence& precedence, VarSet block, BigArray& table) {
    const int low = block_bits_of(static_cast<int>(steps.size()));
    const VarSet base = block << low;
    double* own = &table[base];
    std::fill(own, own + n_sets(low), Algebra::none);
    if (!precedence.can_be_ideal(base, n_sets(low) - 1)) return;
    if (block == 0) own[0] = Algebra::empty;
    for (VarSet rest = base; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        const VarSet before = base & ~only(x);
        Algebra::take_steps(own, &steps[x][without_bit(before, x)], &table[before], n_sets(low));
    }
    Algebra::order_within(own, steps_within(steps, base).data(), low);
}

// And backward, from all blocks with more.
template <class Algebra>
void fill_block_backward(const std::vector<BigArray>& steps, const Precedence& precedence, VarSet block,
                         BigArray& table) {
    const int n = static_cast<int>(steps.size()), low = block_bits_of(n);
    const VarSet base = block << low, everything = n_sets(n) - 1;
    double* own = &table[base];
    std::fill(own, own + n_sets(low), Algebra::none);
    if (!precedence.can_be_ideal(base, n_sets(low) - 1)) return;
    if (base + n_sets(low) - 1 == everything) own[n_sets(low) - 1] = Algebra::empty;
    for (VarSet rest = everything & ~base & ~(n_sets(low) - 1); rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        Algebra::take_steps(own, &steps[x][without_bit(base, x)], &table[base | only(x)], n_sets(low));
    }
    Algebra::order_within_backward(own, steps_within(steps, base).data(), low);
    strike_out_no_ideals(own, base, low, precedence, Algebra::none);
}

// Calls fill(block) for all blocks, those with fewer variables first, or last; false when a limit stopped it.
template <class Fill>
bool for_blocks_by_size(int n, bool from_empty, Limits& limits, Fill&& fill) {
    parallel_by_size(n - block_bits_of(n), from_empty, limits, [&](VarSet block, int) { fill(block); });
    return !limits.stop.load();
}

}  // namespace topdag
