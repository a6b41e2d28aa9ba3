// sweeps.h: what is done again and again to tables over sets that fit in a core's own cache.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/var_set.h"
#include "families/precedence.h"

namespace topdag {

inline constexpr int cache_bits = 15;  // 2^15 doubles are swept at a time: 256 KiB, inside a core's own cache

// values[Y] becomes the maximum over all subsets of Y, in a table over all sets of `bits` variables.
void max_over_subsets(double* values, int bits);

// out = a + b by the slots of a variable (slot_runs.h).
void add_by_slots(const double* a, const double* b, std::size_t run, std::size_t count, double* out);

// The largest value; minus infinity when there are none.
double largest(const double* values, std::size_t count);

// The largest of a[i] + b[i]; minus infinity when there are none.
double largest_sum(const double* a, const double* b, std::size_t count);

// Where a[i] + b[i] < least, a[i] becomes minus infinity.
void strike_out_below(double* a, const double* b, double least, std::size_t count);

// The values of sets that do not hold all of `wanted` become minus infinity, in a table over all sets of `bits`
// variables.
void strike_out_without(double* values, VarSet wanted, int bits);

// Those of sets that are no ideals become `none`: each of the table's sets with `base` besides.
void strike_out_no_ideals(double* values, VarSet base, int bits, const Precedence& precedence, double none);

// values[Y] becomes what Y and all its supersets make together; take_in(lower, upper, count) takes those of the upper
// ones into the lower ones. Halves first, so that what fits in cache is finished there.
template <class TakeIn>
void gather_supersets(double* values, int bits, TakeIn&& take_in) {
    if (bits == 0) return;
    const std::size_t half = n_sets(bits - 1);
    take_in(values, values + half, half);
    if (bits > cache_bits) {
        gather_supersets(values, bits - 1, take_in);
        gather_supersets(values + half, bits - 1, take_in);
        return;
    }
    for (std::size_t width = half >> 1; width > 0; width >>= 1)
        for (std::size_t base = 0; base < n_sets(bits); base += 2 * width)
            take_in(values + base, values + base + width, width);
}

// Calls visit(i) for all i with a[i] + b[i] >= least, in order; they should be few.
template <class Visit>
void for_each_sum_reaching(const double* a, const double* b, double least, std::size_t count, Visit&& visit);

// Says for each chunk of sums, the last perhaps short, whether one reaches `least`.
constexpr std::size_t sums_in_chunk = 64;
constexpr std::size_t chunks_at_once = 64;
void flag_sums_reaching(const double* a, const double* b, double least, std::size_t count, bool* flags);

template <class Visit>
void for_each_sum_reaching(const double* a, const double* b, double least, std::size_t count, Visit&& visit) {
    bool flags[chunks_at_once];
    for (std::size_t begin = 0; begin < count; begin += sums_in_chunk * chunks_at_once) {
        const std::size_t end = std::min(count, begin + sums_in_chunk * chunks_at_once);
        flag_sums_reaching(a + begin, b + begin, least, end - begin, flags);
        for (std::size_t chunk = begin; chunk < end; chunk += sums_in_chunk) {
            if (!flags[(chunk - begin) / sums_in_chunk]) continue;
            for (std::size_t i = chunk; i < std::min(end, chunk + sums_in_chunk); ++i)
                if (a[i] + b[i] >= least) visit(i);
        }
    }
}

}  // namespace topdag
