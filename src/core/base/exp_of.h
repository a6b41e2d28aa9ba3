// exp_of.h: exp to a relative 1e-11, for exponents up to 1; nothing below exp(-700). Written so that neighbours go
// side by side.
#pragma once

#include <bit>
#include <cstdint>

namespace topdag {

inline constexpr double least_exponent = -700.0;

[[gnu::always_inline]] inline double exp_of(double x) {
    constexpr double shift = 0x1.8p52;
    const double limited = x < least_exponent ? least_exponent : x > 1.0 ? 1.0 : x;
    const double rounded = limited * 1.4426950408889634 + shift;
    const double k = rounded - shift;
    const double r = (limited - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
    double p = 1.0 / 3628800 * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const auto power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(rounded) + 1023) << 52);
    return x < least_exponent ? 0.0 : p * power;
}

}  // namespace topdag
