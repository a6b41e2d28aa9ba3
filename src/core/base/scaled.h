// scaled.h: sums of weights whose logs differ by thousands: a long double with an exponent of its own.
//
// Scaling is by powers of two only, so it never rounds, and differences of scaled sums lose no more than those of the
// sums themselves.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace topdag {

constexpr int no_exponent = -1'000'000'000;  // of zero; real ones, and sums of a few dozen, stay above half of it

// Zero, or a mantissa in [1, 2) times 2^exponent.
struct Scaled {
    long double mantissa = 0.0L;
    std::int32_t exponent = no_exponent;
};

// 2^exponent for exponents up to 1000; zero below -1000, where nothing added to one would show.
inline double power_of_two(std::int64_t exponent) {
    return exponent < -1000 ? 0.0 : std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

inline Scaled normalised(long double value, std::int64_t exponent) {
    if (value == 0.0L) return {};
    const int own = std::ilogb(value);
    return {std::scalbn(value, -own), static_cast<std::int32_t>(exponent + own)};
}

// In units of 2^unit, which must not be far below the value.
inline long double in_units(const Scaled& value, std::int64_t unit) {
    return value.mantissa * power_of_two(value.exponent - unit);
}

inline Scaled operator+(const Scaled& a, const Scaled& b) {
    const Scaled& larger = a.exponent < b.exponent ? b : a;
    const Scaled& smaller = a.exponent < b.exponent ? a : b;
    if (smaller.mantissa == 0.0L) return larger;
    const long double sum = larger.mantissa + in_units(smaller, larger.exponent);
    return sum < 2.0L ? Scaled{sum, larger.exponent} : Scaled{sum / 2, larger.exponent + 1};
}

inline Scaled operator*(const Scaled& a, const Scaled& b) {
    if (a.mantissa == 0.0L || b.mantissa == 0.0L) return {};
    const long double product = a.mantissa * b.mantissa;
    const std::int32_t exponent = a.exponent + b.exponent;
    return product < 2.0L ? Scaled{product, exponent} : Scaled{product / 2, exponent + 1};
}

// e^log, to the precision of a double; zero for minus infinity.
inline Scaled exponential(double log) {
    if (std::isinf(log)) return {};
    const long double bits = static_cast<long double>(log) * 1.442695040888963407359924681001892137L;
    const long double whole = std::floor(bits);
    return normalised(static_cast<double>(std::exp2(bits - whole)), static_cast<std::int64_t>(whole));
}

}  // namespace topdag
