#include "lattice/sweeps.h"

#include <algorithm>
#include <cstdint>

#include "base/infinity.h"
#include "base/simd.h"
#include "base/slot_runs.h"
#include "base/var_set.h"

namespace topdag {

namespace {

// Eight neighbours in one register; wider than some processors have, which then take two or four.
using Eight = double __attribute__((vector_size(64), aligned(8), may_alias));

constexpr int register_bits = 6;  // eight registers of eight sets: what is swept without going back to memory

// Three bits a pass while they lie in different registers, so that each number is fetched once for three comparisons.
TOPDAG_SIMD void sweep_upper_bits(double* values, int bits) {
    const std::size_t size = n_sets(bits);
    std::size_t step = n_sets(register_bits);
    for (; 8 * step <= size; step *= 8)
        for (std::size_t base = 0; base < size; base += 8 * step)
            for (std::size_t i = base; i < base + step; i += 8) {
                Eight v[8];
                for (int r = 0; r < 8; ++r) v[r] = *reinterpret_cast<Eight*>(values + i + r * step);
                for (int half = 1; half < 8; half *= 2)
                    for (int r = 0; r < 8; ++r)
                        if (r & half) v[r] = v[r] < v[r - half] ? v[r - half] : v[r];
                for (int r = 1; r < 8; ++r) *reinterpret_cast<Eight*>(values + i + r * step) = v[r];
            }
    for (; step < size; step *= 2)
        for (std::size_t base = 0; base < size; base += 2 * step)
            for (std::size_t i = base; i < base + step; ++i)
                values[i + step] = values[i + step] < values[i] ? values[i] : values[i + step];
}

TOPDAG_SIMD void sweep_register_bits(double* values, std::size_t size) {
    for (double* own = values; own != values + size; own += n_sets(register_bits)) {
        Eight v[8];
        for (int r = 0; r < 8; ++r) {
            v[r] = *reinterpret_cast<Eight*>(own + 8 * r);
            Eight less = __builtin_shufflevector(v[r], v[r], 0, 0, 2, 2, 4, 4, 6, 6);
            v[r] = v[r] < less ? less : v[r];
            less = __builtin_shufflevector(v[r], v[r], 0, 1, 0, 1, 4, 5, 4, 5);
            v[r] = v[r] < less ? less : v[r];
            less = __builtin_shufflevector(v[r], v[r], 0, 1, 2, 3, 0, 1, 2, 3);
            v[r] = v[r] < less ? less : v[r];
        }
        for (int half = 1; half < 8; half *= 2)
            for (int r = 0; r < 8; ++r)
                if (r & half) v[r] = v[r] < v[r - half] ? v[r - half] : v[r];
        for (int r = 0; r < 8; ++r) *reinterpret_cast<Eight*>(own + 8 * r) = v[r];
    }
}

void sweep_few(double* values, int bits) {
    for (std::size_t half = 1; half < n_sets(bits); half <<= 1)
        for (std::size_t set = 0; set < n_sets(bits); ++set)
            if ((set & half) != 0 && values[set] < values[set - half]) values[set] = values[set - half];
}

}  // namespace

void max_over_subsets(double* values, int bits) {
    if (bits < register_bits) return sweep_few(values, bits);
    sweep_register_bits(values, n_sets(bits));
    sweep_upper_bits(values, bits);
}

// Maxima in eight lanes side by side: the compiler may not reorder a single chain of comparisons.
TOPDAG_SIMD double largest(const double* values, std::size_t count) {
    double lane[8];
    for (double& most : lane) most = minus_infinity;
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (std::size_t l = 0; l < 8; ++l) lane[l] = lane[l] < values[i + l] ? values[i + l] : lane[l];
    double most = *std::max_element(lane, lane + 8);
    for (; i < count; ++i) most = std::max(most, values[i]);
    return most;
}

TOPDAG_SIMD double largest_sum(const double* a, const double* b, std::size_t count) {
    double lane[8];
    for (double& most : lane) most = minus_infinity;
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (std::size_t l = 0; l < 8; ++l) {
            const double sum = a[i + l] + b[i + l];
            lane[l] = lane[l] < sum ? sum : lane[l];
        }
    double most = *std::max_element(lane, lane + 8);
    for (; i < count; ++i) most = std::max(most, a[i] + b[i]);
    return most;
}

TOPDAG_SIMD void add_by_slots(const double* a, const double* b, std::size_t run, std::size_t count, double* out) {
    for_each_in_runs(run, count, [=](std::size_t slot, std::size_t set) __attribute__((always_inline)) {
        out[slot] = a[set] + b[set];
    });
}

TOPDAG_SIMD void strike_out_below(double* a, const double* b, double least, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) a[i] = a[i] + b[i] < least ? minus_infinity : a[i];
}

TOPDAG_SIMD void flag_sums_reaching(const double* a, const double* b, double least, std::size_t count, bool* flags) {
    for (std::size_t begin = 0; begin < count; begin += sums_in_chunk) {
        const std::size_t end = std::min(count, begin + sums_in_chunk);
        std::int64_t reaching = 0;
        for (std::size_t i = begin; i < end; ++i) reaching += a[i] + b[i] >= least ? 1 : 0;
        flags[begin / sums_in_chunk] = reaching != 0;
    }
}

void strike_out_without(double* values, VarSet wanted, int bits) {
    for (VarSet rest = wanted; rest != 0; rest &= rest - 1) {
        const std::size_t half = rest & -rest;
        for (std::size_t base = 0; base < n_sets(bits); base += 2 * half)
            std::fill(values + base, values + base + half, minus_infinity);
    }
}

void strike_out_no_ideals(double* values, VarSet base, int bits, const Precedence& precedence, double none) {
    if (precedence.is_empty()) return;
    for (VarSet set = 0; set < n_sets(bits); ++set)
        if (!precedence.is_ideal(base | set)) values[set] = none;
}

}  // namespace topdag
