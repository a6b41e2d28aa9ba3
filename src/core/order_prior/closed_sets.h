// closed_sets.h: the bits of sets that lie in a mask, closed up: where they stand in a table over its subsets.
#pragma once

#include <array>

#include "base/var_set.h"

namespace topdag {

// For up to 32 variables, byte by byte from tables.
class ClosedSets {
public:
    explicit ClosedSets(VarSet mask = 0) {
        for (int byte = 0, below = 0; byte < 4; ++byte) {
            const VarSet own = mask >> 8 * byte & 255;
            for (std::size_t bits = 1; bits < 256; ++bits) {
                const int first = first_of(bits);
                const VarSet place = has(own, first) ? only(below + size_of(own & (only(first) - 1))) : 0;
                parts_[byte][bits] = parts_[byte][bits & (bits - 1)] | static_cast<std::uint32_t>(place);
            }
            below += size_of(own);
        }
    }

    std::uint32_t place(VarSet set) const {
        return parts_[0][set & 255] | parts_[1][set >> 8 & 255] | parts_[2][set >> 16 & 255] |
               parts_[3][set >> 24 & 255];
    }

private:
    std::array<std::array<std::uint32_t, 256>, 4> parts_{};
};

}  // namespace topdag
