// scatter.h: how columns of numbers vary together, in twice the precision of doubles.
//
// Residual variances are small differences of large products; with 32 digits they are right to the last digit of a
// double even where a column nearly follows from others.
#pragma once

#include <cstdint>
#include <vector>

#include "base/double_double.h"

namespace topdag {

// Where row i of a packed lower triangle begins. The first m rows are the triangle of the first m variables.
constexpr std::size_t triangle_row(std::size_t i) { return i * (i + 1) / 2; }

// A symmetric matrix with positive variances. What is left of a variable's entry after eliminating others counts as
// nothing at or below `least`: then the variable depends on them.
struct Scatter {
    int n = 0;
    std::vector<DoubleDouble> entries;
    std::vector<double> least;

    DoubleDouble& at(int row, int column) { return entries[triangle_row(row) + column]; }
    const DoubleDouble& at(int row, int column) const { return entries[triangle_row(row) + column]; }
};

// Columns of numbers of distinct rows, each with how often it occurs.
struct Numbers {
    std::vector<const double*> columns;
    const std::uint32_t* weights;
    std::size_t n_distinct;
};

// A column depends on others when its residual variance is at most this share of its variance ...
inline constexpr double least_share = 1e-20;
// ... or when its residuals are so many times smaller than its largest number as doubles tell apart.
inline constexpr double least_digit = 1e-15;

// A matrix with a prior has no dependent variables; but below this share of an entry too few of 32 digits are left.
inline constexpr double least_digits = 1e-22;

// The residual variance of each column at and below which it depends on others.
std::vector<double> least_variances(const Numbers& numbers);

// Sums of products of deviations from the mean, over all rows.
Scatter scatter_of(const Numbers& numbers);

// The same over these rows only, with means of their own; the least variances stay those of the whole columns.
Scatter scatter_of_rows(const Numbers& numbers, const std::vector<std::uint32_t>& rows,
                        const std::vector<double>& least);

// The parameter of the Wishart distribution after the data: `precision` (n*n numbers) before them, with a prior mean
// that weighs `rows` imaginary rows [Kuipers, Moffa & Heckerman 2014].
Scatter posterior_scatter(const Numbers& numbers, const double* precision, const double* mean, double rows);

// A matrix as given; positive definite if every pivot is positive.
Scatter plain_scatter(const double* matrix, int n);

// Only some variables, in this order.
Scatter scatter_among(const Scatter& whole, const std::vector<int>& variables);

}  // namespace topdag
