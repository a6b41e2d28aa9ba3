// bounds.h: the least that every way of placing the other variables must still cost.
//
// Costs are shortfalls against the best family of each variable (candidates.h), so zero is a bound.
// Every bound is zero when all are placed and never negative. It is *admissible* when it never exceeds the true rest,
// and *consistent* when placing one more variable lowers it by no more than that variable costs. Values lie on a grid
// on which sums are exact.
#pragma once

#include <cstddef>

#include "base/var_set.h"

namespace topdag {

class Bound {
public:
    virtual ~Bound() = default;
    virtual double at(VarSet placed) const = 0;
    // after[x] = at(placed + x) for each x of `wanted`, none of which is placed. With `enough`, anything above
    // enough[x] and not above at(placed + x) will do as well.
    virtual void after_each(VarSet placed, VarSet wanted, double* after, const double* /*enough*/ = nullptr) const {
        for (VarSet rest = wanted; rest != 0; rest &= rest - 1)
            after[first_of(rest)] = at(placed | only(first_of(rest)));
    }
    virtual bool is_consistent() const { return true; }
    // How many values, patterns or clusters it holds.
    virtual std::size_t size() const { return 0; }
};

// Every variable takes its best family, whether or not that makes a cycle [Yuan & Malone 2013, eq. 7].
// Admissible: yes. Consistent: yes.
class SimpleBound : public Bound {
public:
    double at(VarSet) const override { return 0.0; }
    void after_each(VarSet, VarSet wanted, double* after, const double*) const override {
        for (VarSet rest = wanted; rest != 0; rest &= rest - 1) after[first_of(rest)] = 0.0;
    }
};

}  // namespace topdag
