// precedence.h: which variables come before which in every order that counts, whatever the parents are.
//
// A network agrees with it when an order of the network, parents first, does. The sets that can come first in such
// orders are the *ideals*: with a variable they hold all that come before it.
#pragma once

#include <utility>
#include <vector>

#include "base/var_set.h"

namespace topdag {

class Precedence {
public:
    Precedence() = default;
    // By variable those before it: with one that comes before x also those before that one. Empty: none at all.
    explicit Precedence(std::vector<VarSet> before) : before_(std::move(before)) {
        for (std::size_t x = 0; x < before_.size(); ++x)
            if (before_[x] != 0) bound_ |= only(static_cast<int>(x));
    }

    bool is_empty() const { return bound_ == 0; }
    VarSet before(int x) const { return has(bound_, x) ? before_[x] : 0; }
    bool can_follow(int x, VarSet placed) const { return !has(bound_, x) || is_subset(before_[x], placed); }

    bool is_ideal(VarSet set) const {
        for (VarSet rest = set & bound_; rest != 0; rest &= rest - 1)
            if (!is_subset(before_[first_of(rest)], set)) return false;
        return true;
    }

    // Whether some set of these with any of the `free` ones may be an ideal, by what these alone tell.
    bool can_be_ideal(VarSet set, VarSet free) const {
        for (VarSet rest = set & bound_; rest != 0; rest &= rest - 1)
            if (!is_subset(before_[first_of(rest)], set | free)) return false;
        return true;
    }

    // Those of `among` that can come right after the placed ones.
    VarSet open(VarSet among, VarSet placed) const {
        for (VarSet rest = among & bound_; rest != 0; rest &= rest - 1)
            if (!is_subset(before_[first_of(rest)], placed)) among &= ~(rest & -rest);
        return among;
    }

private:
    std::vector<VarSet> before_;
    VarSet bound_ = 0;  // the variables with others before them
};

}  // namespace topdag
