// careful_sum.h: sums whose error is that of their terms and of one rounding, however many terms there are.
#pragma once

#include "base/double_double.h"

namespace topdag {

// Keeps the rounding errors of its steps [Neumaier 1974].
class CarefulSum {
public:
    void add(double term) {
        const DoubleDouble next = exact::sum(total_, term);
        total_ = next.high;
        lost_ += next.low;
    }
    double value() const { return total_ + lost_; }

private:
    double total_ = 0.0;
    double lost_ = 0.0;
};

}  // namespace topdag
