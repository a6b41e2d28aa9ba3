// extension_counter.h: linear extensions of many small networks, one after the other; linear_extensions.h says how.
//
// Up to 33 variables, whose counts fit in 128 bits. The memory of sets is cleared at no cost between networks.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/var_set.h"

namespace topdag {

class ExtensionCounter {
public:
    using Count = unsigned __int128;
    static constexpr int most_variables = 33;

    ExtensionCounter();

    // Of the network on these variables; above: by variable, all that have a path to it.
    Count count(VarSet placed, const std::vector<VarSet>& above);

    static double log_of(Count count) { return static_cast<double>(std::log(static_cast<long double>(count))); }

private:
    struct Known {
        VarSet set = 0;
        std::uint64_t round = 0;  // of the network it belongs to
        Count count = 0;
    };

    Count count_within(VarSet set);
    Count count_connected(VarSet set);
    VarSet part_with(int v, VarSet within) const;
    Known& place_of(VarSet set);
    void grow();

    std::array<VarSet, most_variables> above_{}, below_{};
    std::array<std::array<Count, most_variables + 1>, most_variables + 1> choose_{};
    std::vector<Known> known_;
    std::size_t n_known_ = 0;
    std::uint64_t round_ = 0;
};

}  // namespace topdag
