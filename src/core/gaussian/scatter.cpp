#include "gaussian/scatter.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace topdag {

namespace {

using Rows = std::vector<std::uint32_t>;

struct Means {
    double n_rows = 0.0;
    std::vector<DoubleDouble> at;
};

Means means_of(const Numbers& numbers, const Rows& rows) {
    Means means{0.0, std::vector<DoubleDouble>(numbers.columns.size())};
    for (std::uint32_t row : rows) means.n_rows += numbers.weights[row];
    for (std::size_t v = 0; v < means.at.size(); ++v) {
        DoubleDouble sum;
        for (std::uint32_t row : rows)
            sum += exact::product(numbers.columns[v][row], static_cast<double>(numbers.weights[row]));
        means.at[v] = sum / DoubleDouble(means.n_rows);
    }
    return means;
}

Scatter sum_of_products(const Numbers& numbers, const Rows& rows, const Means& means) {
    const int n = static_cast<int>(numbers.columns.size());
    Scatter scatter{n, std::vector<DoubleDouble>(triangle_row(n)), std::vector<double>(n, 0.0)};
    std::vector<DoubleDouble> deviation(n);
    for (std::uint32_t row : rows) {
        const DoubleDouble weight(static_cast<double>(numbers.weights[row]));
        for (int i = 0; i < n; ++i) {
            deviation[i] = DoubleDouble(numbers.columns[i][row]) - means.at[i];
            const DoubleDouble weighted = deviation[i] * weight;
            for (int j = 0; j <= i; ++j) scatter.at(i, j) += weighted * deviation[j];
        }
    }
    return scatter;
}

Rows all_rows(const Numbers& numbers) {
    Rows rows(numbers.n_distinct);
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

double largest_number(const Numbers& numbers, int v) {
    double largest = 0.0;
    for (std::size_t row = 0; row < numbers.n_distinct; ++row)
        largest = std::max(largest, std::abs(numbers.columns[v][row]));
    return largest;
}

}  // namespace

std::vector<double> least_variances(const Numbers& numbers) {
    const Rows rows = all_rows(numbers);
    const Means means = means_of(numbers, rows);
    std::vector<double> least(numbers.columns.size());
    for (std::size_t v = 0; v < least.size(); ++v) {
        DoubleDouble squares;
        for (std::uint32_t row : rows) {
            const DoubleDouble deviation = DoubleDouble(numbers.columns[v][row]) - means.at[v];
            squares += deviation * deviation * DoubleDouble(static_cast<double>(numbers.weights[row]));
        }
        const double digit = least_digit * largest_number(numbers, static_cast<int>(v));
        least[v] = std::max(least_share * squares.high / means.n_rows, digit * digit);
    }
    return least;
}

Scatter scatter_of(const Numbers& numbers) {
    return scatter_of_rows(numbers, all_rows(numbers), least_variances(numbers));
}

Scatter scatter_of_rows(const Numbers& numbers, const Rows& rows, const std::vector<double>& least) {
    const Means means = means_of(numbers, rows);
    Scatter scatter = sum_of_products(numbers, rows, means);
    for (int v = 0; v < scatter.n; ++v) scatter.least[v] = least[v] * means.n_rows;
    return scatter;
}

Scatter posterior_scatter(const Numbers& numbers, const double* precision, const double* mean, double rows) {
    const Rows every = all_rows(numbers);
    const Means means = means_of(numbers, every);
    Scatter scatter = sum_of_products(numbers, every, means);
    const DoubleDouble before(rows), seen(means.n_rows);
    const DoubleDouble pull = before * seen / (before + seen);
    for (int i = 0; i < scatter.n; ++i) {
        const DoubleDouble pulled = pull * (means.at[i] - DoubleDouble(mean[i]));
        for (int j = 0; j <= i; ++j) {
            const DoubleDouble prior(precision[i * scatter.n + j]);
            scatter.at(i, j) += pulled * (means.at[j] - DoubleDouble(mean[j])) + prior;
        }
        scatter.least[i] = least_digits * scatter.at(i, i).high;
    }
    return scatter;
}

Scatter plain_scatter(const double* matrix, int n) {
    Scatter scatter{n, std::vector<DoubleDouble>(triangle_row(n)), std::vector<double>(n, 0.0)};
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) scatter.at(i, j) = DoubleDouble(matrix[i * n + j]);
        scatter.least[i] = least_digits * scatter.at(i, i).high;
    }
    return scatter;
}

Scatter scatter_among(const Scatter& whole, const std::vector<int>& variables) {
    const int n = static_cast<int>(variables.size());
    Scatter scatter{n, std::vector<DoubleDouble>(triangle_row(n)), std::vector<double>(n)};
    for (int i = 0; i < n; ++i) {
        scatter.least[i] = whole.least[variables[i]];
        for (int j = 0; j <= i; ++j)
            scatter.at(i, j) = whole.at(std::max(variables[i], variables[j]), std::min(variables[i], variables[j]));
    }
    return scatter;
}

}  // namespace topdag
