// double_double.h: numbers of about 32 digits, as a double and what is left over [Dekker 1971].
#pragma once

namespace topdag {

struct DoubleDouble {
    double high = 0.0;
    double low = 0.0;

    DoubleDouble() = default;
    constexpr DoubleDouble(double value) : high(value) {}
    constexpr DoubleDouble(double high_in, double low_in) : high(high_in), low(low_in) {}
    explicit operator double() const { return high + low; }
};

namespace exact {

// The sum and its rounding error; |a| >= |b|.
inline DoubleDouble ordered_sum(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

inline DoubleDouble sum(double a, double b) {
    const double total = a + b;
    const double part = total - a;
    return {total, (a - (total - part)) + (b - part)};
}

// A double as two halves of 26 bits.
inline DoubleDouble halves(double a) {
    const double shifted = 134217729.0 * a;
    const double high = shifted - (shifted - a);
    return {high, a - high};
}

inline DoubleDouble product(double a, double b) {
    const double p = a * b;
    const DoubleDouble x = halves(a), y = halves(b);
    return {p, ((x.high * y.high - p) + x.high * y.low + x.low * y.high) + x.low * y.low};
}

}  // namespace exact

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble high = exact::sum(a.high, b.high);
    const DoubleDouble low = exact::sum(a.low, b.low);
    const DoubleDouble first = exact::ordered_sum(high.high, high.low + low.high);
    return exact::ordered_sum(first.high, first.low + low.low);
}
inline DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }
inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble p = exact::product(a.high, b.high);
    return exact::ordered_sum(p.high, p.low + (a.high * b.low + a.low * b.high));
}
// Three steps of long division.
inline DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
    const double first = a.high / b.high;
    const DoubleDouble rest = a - DoubleDouble(first) * b;
    const double second = rest.high / b.high;
    const double third = (rest - DoubleDouble(second) * b).high / b.high;
    return exact::ordered_sum(first, second) + DoubleDouble(third);
}
inline DoubleDouble& operator+=(DoubleDouble& a, DoubleDouble b) { return a = a + b; }

}  // namespace topdag
