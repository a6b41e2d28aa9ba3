#include "base/scaled_numbers.h"

#include "base/simd.h"

namespace topdag {

namespace {

// As power_of_two, but without a branch: loops over it become vector code.
inline double power(Exponent k) {
    const Exponent bounded = std::min(std::max(k, negligible - 1), 0);
    const std::int64_t bits = static_cast<std::int64_t>(bounded + 1023) << 52;
    return bounded < negligible ? 0.0 : std::bit_cast<double>(bits);
}

inline double dusted(double value) { return std::abs(value) < 0x1p-400 ? 0.0 : value; }

}  // namespace

TOPDAG_SIMD void add_numbers(double* __restrict sum, Exponent* __restrict sum_exponents, const double* __restrict more,
                             const Exponent* __restrict more_exponents, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const Exponent e = std::max(sum_exponents[i], more_exponents[i]);
        sum[i] = sum[i] * power(sum_exponents[i] - e) + more[i] * power(more_exponents[i] - e);
        sum_exponents[i] = e;
    }
}

TOPDAG_SIMD void add_terms(double* __restrict sum, const double* __restrict terms, const Exponent* from,
                           const Exponent* to, double factor, Exponent exponent, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) sum[i] += terms[i] * (factor * power(exponent + from[i] - to[i]));
}

TOPDAG_SIMD void multiply_terms(double* __restrict out, const double* __restrict terms, const Exponent* from,
                                const Exponent* to, double factor, Exponent exponent, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out[i] = dusted(terms[i] * (factor * power(exponent + from[i] - to[i])));
}

TOPDAG_SIMD void subtract_terms(double* __restrict lower, const double* __restrict upper, const Exponent* from,
                                const Exponent* to, double factor, Exponent exponent, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        lower[i] = upper[i] - dusted(lower[i] * (factor * power(exponent + from[i] - to[i])));
}

}  // namespace topdag
