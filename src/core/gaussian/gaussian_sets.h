// gaussian_sets.h: scores of continuous variables as functions of sets, from log determinants of principal minors.
#pragma once

#include <cmath>
#include <vector>

#include "base/infinity.h"
#include "base/run_limits.h"
#include "base/var_set.h"
#include "gaussian/scatter.h"

namespace topdag {

inline constexpr double not_scored = minus_infinity;

// Set score = constants[size] + factors[size] * ln det of the matrix of the set.
struct MinorFormula {
    std::vector<double> constants;
    std::vector<double> factors;
};

// Calls visit(set, size, ln det) for every set of at most `most` variables, by growing bits. A set in which a variable
// depends on those after it is given to degenerate(set) instead, and what earlier variables would add to it is left
// out.
//
// Variables are decided from the last to the first. Including one eliminates it from the matrix of those before it, so
// that the pivots on the way multiply to the determinant. A step among m variables takes m^2/2 operations and half of
// all steps are among none, a quarter among one ...: about three operations a set.
template <class Visit, class Degenerate>
class MinorWalk {
public:
    MinorWalk(const Scatter& scatter, int most, Visit visit, Degenerate degenerate)
        : scatter_(scatter), most_(most), visit_(visit), degenerate_(degenerate), left_(scatter.n) {
        for (int m = 0; m < scatter.n; ++m) left_[m].resize(triangle_row(m));
    }

    // All sets that have `high` among the variables from `low_variables` on.
    void below(VarSet high, int low_variables) {
        const DoubleDouble* matrix = scatter_.entries.data();
        double log_det = 0.0;
        int size = 0;
        for (int v = scatter_.n - 1; v >= low_variables; --v) {
            if (!has(high, v)) continue;
            if (++size > most_) return;
            if (!eliminate(matrix, v, log_det)) {
                degenerate_(high & ~all_of(v));
                return;
            }
            matrix = left_[v].data();
        }
        decide(matrix, low_variables, high, size, log_det);
    }

private:
    const Scatter& scatter_;
    int most_;
    Visit visit_;
    Degenerate degenerate_;
    std::vector<std::vector<DoubleDouble>> left_;  // left_[v]: the matrix of variables 0 .. v-1 once v is eliminated

    // False when v depends on what was eliminated before.
    bool eliminate(const DoubleDouble* matrix, int v, double& log_det) {
        const DoubleDouble* row = matrix + triangle_row(v);
        const DoubleDouble pivot = row[v];
        if (!(pivot.high > scatter_.least[v])) return false;
        log_det += std::log(pivot.high) + pivot.low / pivot.high;
        if (v == 0) return true;
        DoubleDouble* out = left_[v].data();
        const DoubleDouble inverse = DoubleDouble(1.0) / pivot;
        for (int i = 0; i < v; ++i) {
            const DoubleDouble share = row[i] * inverse;
            for (int j = 0; j <= i; ++j, ++matrix, ++out) *out = *matrix - share * row[j];
        }
        return true;
    }

    void decide(const DoubleDouble* matrix, int m, VarSet set, int size, double log_det) {
        if (m == 0) {
            visit_(set, size, log_det);
            return;
        }
        decide(matrix, m - 1, set, size, log_det);
        if (size == most_) return;
        double with = log_det;
        if (eliminate(matrix, m - 1, with)) {
            decide(left_[m - 1].data(), m - 1, set | only(m - 1), size + 1, with);
        } else {
            degenerate_(set | only(m - 1));
        }
    }
};

// Scores of all sets of at most `most` variables; minus infinity for the others. `degenerate`: the first set, by its
// bits, found to have a dependent variable, or none. False when a limit stopped it.
bool score_minors(const Scatter& scatter, const MinorFormula& formula, int most, Limits& limits,
                  double* scores, VarSet& degenerate);

// The log determinant of the whole matrix, not a number where a variable depends on others.
double log_determinant(const Scatter& scatter);

}  // namespace topdag
