#include "counting/cell_function.h"

#include <cmath>

#include "base/careful_sum.h"

namespace topdag {

namespace {

constexpr std::uint64_t few = 32;        // up to so many factors a product's log is summed
constexpr double series_from = 10.0;     // from here on Stirling's series is good to the last digits

// lnGamma(x) - [(x - 1/2) ln x - x + ln(2 pi) / 2], for x >= series_from.
double stirling_rest(double x) {
    const double y = 1.0 / (x * x);
    return (1.0 / 12 + y * (-1.0 / 360 + y * (1.0 / 1260 + y * (-1.0 / 1680 + y * (1.0 / 1188 - y * 691.0 / 360360))))) / x;
}

double n_log_n(std::uint64_t count) {
    const double c = static_cast<double>(count);
    return count == 0 ? 0.0 : c * std::log(c);
}

}  // namespace

double log_rising(double a, std::uint64_t count) {
    CarefulSum sum;
    std::uint64_t i = 0;
    for (; i < count && (count <= few || a + static_cast<double>(i) < series_from); ++i)
        sum.add(std::log(a + static_cast<double>(i)));
    if (i == count) return sum.value();
    // lnGamma(x + rest) - lnGamma(x) by Stirling's series, with what is large in both taken out beforehand.
    const double x = a + static_cast<double>(i);
    const double rest = static_cast<double>(count - i);
    sum.add((x - 0.5) * std::log1p(rest / x));
    sum.add(rest * std::log(x + rest));
    sum.add(-rest);
    sum.add(stirling_rest(x + rest) - stirling_rest(x));
    return sum.value();
}

double regret(std::uint64_t n, double k) {
    if (n == 0 || k <= 1.0) return 0.0;
    const double rows = static_cast<double>(n);
    double term = 1.0;
    double sum = 1.0;
    double log_scale = 0.0;
    for (double j = 1.0; j <= rows; j += 1.0) {
        term *= (rows - j + 1.0) / rows * ((k - 2.0 + j) / j);
        sum += term;
        if (sum > 1e200) {
            log_scale += std::log(sum);
            term /= sum;
            sum = 1.0;
        }
        const bool falling = (rows - j) * (k - 1.0 + j) < rows * (j + 1.0);
        if (falling && term < 1e-19 * sum) break;
    }
    return log_scale + std::log(sum);
}

double CellFunction::operator()(std::uint64_t count) const {
    if (count == 0) return 0.0;
    switch (kind) {
        case CellKind::one: return 1.0;
        case CellKind::n_log_n: return n_log_n(count);
        case CellKind::n_log_n_regret: return n_log_n(count) + regret(count, parameter);
        case CellKind::log_rising: return log_rising(parameter, count);
    }
    return 0.0;
}

void CellFunction::tabulate(double* values, std::uint64_t size) const {
    if (kind != CellKind::log_rising) {
        for (std::uint64_t count = 0; count < size; ++count) values[count] = (*this)(count);
        return;
    }
    CarefulSum sum;
    for (std::uint64_t count = 0; count < size; ++count) {
        values[count] = sum.value();
        sum.add(std::log(parameter + static_cast<double>(count)));
    }
}

}  // namespace topdag
