// scaled_numbers.h: numbers of any size: a mantissa times a power of two that is kept beside it.
//
// Sums over networks span thousands of nats. Each is kept relative to a power of two near its largest term; a term that
// is smaller by a factor of 2^400 is left out, which no sum of doubles, or of double doubles, can tell.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/big_array.h"
#include "base/double_double.h"

namespace topdag {

using Exponent = std::int32_t;

constexpr Exponent zero_exponent = -(1 << 29);  // of the number zero: below any other, and sums of a few still fit
constexpr Exponent negligible = -400;

// 2^k for k <= 0; larger k count as 0, which happens only beside a mantissa of zero.
inline double power_of_two(Exponent k) {
    const std::int64_t bits = static_cast<std::int64_t>(std::min(k, 0) + 1023) << 52;
    return k < negligible ? 0.0 : std::bit_cast<double>(bits);
}

inline Exponent exponent_of_product(Exponent a, Exponent b) {
    return a == zero_exponent || b == zero_exponent ? zero_exponent : a + b;
}

inline double scaled(double value, double power) { return value * power; }
inline DoubleDouble scaled(DoubleDouble value, double power) { return {value.high * power, value.low * power}; }
inline double size_of_number(double value) { return std::abs(value); }
inline double size_of_number(DoubleDouble value) { return std::abs(value.high); }

// Numbers so small would reach the slow range of doubles after another product or two.
template <class Real>
Real without_dust(Real value) {
    return size_of_number(value) < 0x1p-400 ? Real(0.0) : value;
}

template <class Real>
struct ScaledTable {
    BigArrayOf<Real> mantissas;
    BigArrayOf<Exponent> exponents;

    ScaledTable() = default;
    explicit ScaledTable(std::size_t size) : mantissas(size), exponents(size) {}
    std::size_t size() const { return mantissas.size(); }
    // All numbers become zero.
    void clear() {
        std::fill_n(mantissas.data(), size(), Real(0.0));
        std::fill_n(exponents.data(), size(), zero_exponent);
    }
};

// sum += more, number by number; the exponent of a sum is the larger of the two.
template <class Real>
void add_numbers(Real* sum, Exponent* sum_exponents, const Real* more, const Exponent* more_exponents,
                 std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const Exponent e = std::max(sum_exponents[i], more_exponents[i]);
        const Real own = scaled(sum[i], power_of_two(sum_exponents[i] - e));
        sum[i] = own + scaled(more[i], power_of_two(more_exponents[i] - e));
        sum_exponents[i] = e;
    }
}

// sum[i] += terms[i] * factor * 2^(exponent + from[i] - to[i])
template <class Real>
void add_terms(Real* sum, const Real* terms, const Exponent* from, const Exponent* to, Real factor,
               Exponent exponent, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        sum[i] += terms[i] * scaled(factor, power_of_two(exponent + from[i] - to[i]));
}

// out[i] = terms[i] * factor * 2^(exponent + from[i] - to[i])
template <class Real>
void multiply_terms(Real* out, const Real* terms, const Exponent* from, const Exponent* to, Real factor,
                    Exponent exponent, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        out[i] = without_dust(terms[i] * scaled(factor, power_of_two(exponent + from[i] - to[i])));
}

// lower[i] = upper[i] - lower[i] * factor * 2^(exponent + from[i] - to[i])
template <class Real>
void subtract_terms(Real* lower, const Real* upper, const Exponent* from, const Exponent* to, Real factor,
                    Exponent exponent, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        lower[i] = upper[i] - without_dust(lower[i] * scaled(factor, power_of_two(exponent + from[i] - to[i])));
}

// The same for doubles, compiled for several processors.
void add_numbers(double* sum, Exponent* sum_exponents, const double* more, const Exponent* more_exponents,
                 std::size_t count);
void add_terms(double* sum, const double* terms, const Exponent* from, const Exponent* to, double factor,
               Exponent exponent, std::size_t count);
void multiply_terms(double* out, const double* terms, const Exponent* from, const Exponent* to, double factor,
                    Exponent exponent, std::size_t count);
void subtract_terms(double* lower, const double* upper, const Exponent* from, const Exponent* to, double factor,
                    Exponent exponent, std::size_t count);

}  // namespace topdag
