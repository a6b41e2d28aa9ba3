// ideals.h: all ideals of a precedence (precedence.h), numbered by growing bits: subsets come first.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/var_set.h"
#include "families/precedence.h"

namespace topdag {

class Ideals {
public:
    static constexpr std::uint32_t absent = ~std::uint32_t{0};

    Ideals(int n, const Precedence& precedence);
    // How many there are, or `most` when there are more.
    static std::size_t count(int n, const Precedence& precedence, std::size_t most);

    std::size_t size() const { return sets_.size(); }
    VarSet set(std::size_t place) const { return sets_[place]; }
    // Where a set stands; absent when it is no ideal.
    std::uint32_t find(VarSet set) const {
        const std::uint64_t word = words_[set >> 6], bit = only(static_cast<int>(set & 63));
        if ((word & bit) == 0) return absent;
        return ranks_[set >> 6] + static_cast<std::uint32_t>(std::popcount(word & (bit - 1)));
    }
    // The ideals with one variable less, from lower(place) to lower(place + 1).
    const std::uint32_t* lower(std::size_t place) const { return lower_.data() + begins_[place]; }

    // Bytes for so many ideals; each holds at most n ideals with one variable less.
    static double bytes(int n, double n_ideals) {
        return n_ideals * (16.0 + 4.0 * n) + 12.0 / 64 * many_sets(n);
    }

private:
    std::vector<VarSet> sets_;
    std::vector<std::uint64_t> words_;  // a bit for each set
    std::vector<std::uint32_t> ranks_;  // ideals before each word
    std::vector<std::uint32_t> lower_;
    std::vector<std::size_t> begins_;
};

}  // namespace topdag
