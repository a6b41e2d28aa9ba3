// sweeps.h: what is done again and again to tables over sets that fit in a core's own cache.
#pragma once

#include <cstddef>

namespace topdag {

// values[Y] becomes the maximum over all subsets of Y, in a table over all sets of `bits` variables.
void max_over_subsets(double* values, int bits);

// to[i] = max(to[i], a[i] + b[i])
void raise_to_sum(double* to, const double* a, const double* b, std::size_t count);

// The largest of a[i] + b[i], and of a[i] + b[i] + c[i]; minus infinity when there are none.
double largest_sum(const double* a, const double* b, std::size_t count);
double largest_sum(const double* a, const double* b, const double* c, std::size_t count);

double largest(const double* values, std::size_t count);

}  // namespace topdag
