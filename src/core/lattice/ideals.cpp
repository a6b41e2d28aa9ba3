#include "lattice/ideals.h"

namespace topdag {

namespace {

// Calls visit(set) for all ideals by growing bits while it says so. Variables are decided from the last on: one that
// another in the set needs must be in it, and one may be in it if nothing it needs was left out. That never leads into
// a dead end, since what comes before one before x comes before x.
template <class Visit>
bool for_each_ideal(int v, VarSet chosen, VarSet needed, VarSet left_out, const Precedence& precedence, Visit& visit) {
    if (v < 0) return visit(chosen);
    if (!has(needed, v) && !for_each_ideal(v - 1, chosen, needed, left_out | only(v), precedence, visit)) return false;
    if ((precedence.before(v) & left_out) != 0) return true;
    return for_each_ideal(v - 1, chosen | only(v), needed | precedence.before(v), left_out, precedence, visit);
}

}  // namespace

std::size_t Ideals::count(int n, const Precedence& precedence, std::size_t most) {
    std::size_t found = 0;
    auto visit = [&](VarSet) { return ++found < most; };
    for_each_ideal(n - 1, 0, 0, 0, precedence, visit);
    return found;
}

Ideals::Ideals(int n, const Precedence& precedence) : words_(n_sets(n) / 64 + 1), ranks_(words_.size()) {
    auto visit = [&](VarSet set) {
        sets_.push_back(set);
        words_[set >> 6] |= only(static_cast<int>(set & 63));
        return true;
    };
    for_each_ideal(n - 1, 0, 0, 0, precedence, visit);
    for (std::size_t word = 1; word < words_.size(); ++word)
        ranks_[word] = ranks_[word - 1] + static_cast<std::uint32_t>(std::popcount(words_[word - 1]));
    begins_.reserve(sets_.size() + 1);
    for (VarSet set : sets_) {
        begins_.push_back(lower_.size());
        for (VarSet rest = set; rest != 0; rest &= rest - 1) {
            const std::uint32_t place = find(set & ~(rest & -rest));
            if (place != absent) lower_.push_back(place);
        }
    }
    begins_.push_back(lower_.size());
}

}  // namespace topdag
