// parent_lookup.cpp
#include "families/parent_lookup.h"

namespace topdag {

ParentLookup::ParentLookup(const Candidates& candidates) : n_(candidates.n_variables()), lists_(n_) {
    for (int x = 0; x < n_; ++x) {
        List& list = lists_[x];
        for (const Candidate& family : candidates.of(x)) {
            list.parents.push_back(family.parents);
            list.costs.push_back(family.cost);
            list.used |= family.parents;
        }
        if (list.parents.size() <= scanned_first) continue;
        list.holds.assign((list.parents.size() - scanned_first + 63) / 64 * n_, 0);
        for (std::size_t i = scanned_first; i < list.parents.size(); ++i)
            for (VarSet rest = list.parents[i]; rest != 0; rest &= rest - 1)
                list.holds[(i - scanned_first) / 64 * n_ + first_of(rest)] |= only((i - scanned_first) % 64);
    }
}

std::size_t ParentLookup::first_by_words(const List& list, VarSet within) const {
    const VarSet missing = list.used & ~within;
    const std::size_t left = list.parents.size() - scanned_first;
    const std::uint64_t* word = list.holds.data();
    for (std::size_t begin = 0; begin < left; begin += 64, word += n_) {
        std::uint64_t ruled_out = 0;
        for (VarSet rest = missing; rest != 0; rest &= rest - 1) ruled_out |= word[first_of(rest)];
        if (~ruled_out == 0) continue;
        const std::size_t at = begin + static_cast<std::size_t>(std::countr_one(ruled_out));
        return at < left ? scanned_first + at : none;
    }
    return none;
}

}  // namespace topdag
