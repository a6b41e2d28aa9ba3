#include "sweeps.h"

#include <limits>

#include "simd.h"
#include "var_set.h"

namespace topdag {

namespace {

// Eight neighbours in one register; wider than some processors have, which then take two or four.
using Eight = double __attribute__((vector_size(64), aligned(8), may_alias));

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
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

// Maxima in eight lanes side by side: the compiler may not reorder a single chain of comparisons.
template <class Value>
[[gnu::always_inline]] inline double largest_of(std::size_t count, Value&& value) {
    double lane[8];
    for (double& most : lane) most = minus_infinity;
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (std::size_t l = 0; l < 8; ++l) {
            const double v = value(i + l);
            lane[l] = lane[l] < v ? v : lane[l];
        }
    for (; i < count; ++i) {
        const double v = value(i);
        lane[0] = lane[0] < v ? v : lane[0];
    }
    double most = lane[0];
    for (double other : lane) most = most < other ? other : most;
    return most;
}

}  // namespace

void max_over_subsets(double* values, int bits) {
    if (bits < register_bits) return sweep_few(values, bits);
    sweep_register_bits(values, n_sets(bits));
    sweep_upper_bits(values, bits);
}

TOPDAG_SIMD void raise_to_sum(double* to, const double* a, const double* b, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const double sum = a[i] + b[i];
        to[i] = to[i] < sum ? sum : to[i];
    }
}

TOPDAG_SIMD double largest_sum(const double* a, const double* b, std::size_t count) {
    return largest_of(count, [=](std::size_t i) __attribute__((always_inline)) { return a[i] + b[i]; });
}

TOPDAG_SIMD double largest_sum(const double* a, const double* b, const double* c, std::size_t count) {
    return largest_of(count, [=](std::size_t i) __attribute__((always_inline)) { return a[i] + b[i] + c[i]; });
}

TOPDAG_SIMD double largest(const double* values, std::size_t count) {
    return largest_of(count, [=](std::size_t i) __attribute__((always_inline)) { return values[i]; });
}

}  // namespace topdag
