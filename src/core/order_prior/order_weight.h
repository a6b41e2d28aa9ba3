// order_weight.h: what a network weighs under a prior over orders: the sum over the orders that agree with it.
#pragma once

#include <optional>
#include <vector>

#include "base/var_set.h"
#include "families/precedence.h"

namespace topdag {

class OrderWeight {
public:
    // Log weights of x after a set by slot, one table for each variable; none at all: every order weighs 1.
    // Only orders that agree with the precedence count.
    explicit OrderWeight(std::vector<const double*> tables, Precedence precedence = {})
        : tables_(std::move(tables)), precedence_(std::move(precedence)) {}

    // The log of the weight; nothing for parents that go round in a circle, by themselves or with the precedence. For all
    // orders alike it is the log of the number of linear extensions, counted exactly.
    std::optional<double> of(std::vector<VarSet> parents) const;

    const std::vector<const double*>& tables() const { return tables_; }

private:
    double weighted_sum(const std::vector<VarSet>& parents) const;

    std::vector<const double*> tables_;
    Precedence precedence_;
};

}  // namespace topdag
