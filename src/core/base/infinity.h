// infinity.h: minus infinity is the score of what is not allowed, infinity its cost.
#pragma once

#include <limits>

namespace topdag {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double minus_infinity = -infinity;

}  // namespace topdag
