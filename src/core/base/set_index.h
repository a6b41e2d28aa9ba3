// set_index.h: where a set of variables stands in a list; a table of open addresses, filled once, then only read.
#pragma once

#include <cstdint>
#include <vector>

#include "base/var_set.h"

namespace topdag {

class SetIndex {
public:
    static constexpr std::uint32_t absent = 0xffffffff;

    SetIndex() = default;
    // For fewer than 2^32 - 1 different sets.
    explicit SetIndex(const std::vector<VarSet>& sets) {
        slots_.assign(std::bit_ceil(2 * sets.size() + 2), Slot{});
        for (std::uint32_t at = 0; at < sets.size(); ++at) slot_of(sets[at]) = {sets[at], at};
    }

    std::uint32_t find(VarSet set) const {
        if (slots_.empty()) return absent;
        for (std::size_t s = start(set);; s = (s + 1) & (slots_.size() - 1))
            if (slots_[s].at == absent || slots_[s].set == set) return slots_[s].at;
    }

    // Asks for the place where a set will be looked up soon.
    void prefetch(VarSet set) const {
        if (!slots_.empty()) __builtin_prefetch(&slots_[start(set)]);
    }

    static double bytes(std::size_t n) { return 2.0 * sizeof(Slot) * static_cast<double>(std::bit_ceil(n + 1)); }

private:
    struct Slot { VarSet set = 0; std::uint32_t at = absent; };

    std::size_t start(VarSet set) const {
        return (set * 0x9e3779b97f4a7c15ULL) >> std::countl_zero(slots_.size() - 1);  // there are two slots at least
    }
    Slot& slot_of(VarSet set) {
        std::size_t s = start(set);
        while (slots_[s].at != absent) s = (s + 1) & (slots_.size() - 1);
        return slots_[s];
    }

    std::vector<Slot> slots_;
};

}  // namespace topdag
