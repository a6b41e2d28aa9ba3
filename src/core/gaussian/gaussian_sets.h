// gaussian_sets.h: scores as functions of sets, from log determinants of principal minors of a matrix, in which a
// continuous variable has a row, or each variable a block of rows.
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

// Where the rows of each variable of a matrix begin, and the last of them end: variable v has rows begins[v] to
// begins[v + 1] - 1. Here one row each.
std::vector<int> single_rows(int n);

// The log of what is left of a variable, right where most of its digits are zeros.
inline double log_of(DoubleDouble value) { return std::log(value.high) + value.low / value.high; }

// Eliminates rows begin .. end - 1, the last of a matrix, from the rows before them, which go to `out`: room for the
// triangle of end - 1 rows. Adds the logs of the pivots. False at a pivot that is no more than `least` of its row.
inline bool eliminate_rows(const DoubleDouble* matrix, int begin, int end, const double* least, DoubleDouble* out,
                           double& log_det) {
    for (int v = end - 1; v >= begin; --v) {
        const DoubleDouble* row = matrix + triangle_row(v);
        const DoubleDouble pivot = row[v];
        if (!(pivot.high > least[v])) return false;
        log_det += log_of(pivot);
        if (v == 0) return true;
        const DoubleDouble inverse = DoubleDouble(1.0) / pivot;
        DoubleDouble* left = out;
        for (int i = 0; i < v; ++i) {
            const DoubleDouble share = row[i] * inverse;
            for (int j = 0; j <= i; ++j, ++matrix, ++left) *left = *matrix - share * row[j];
        }
        matrix = out;
    }
    return true;
}

// A set of variables on the way to others.
struct Minor {
    VarSet set = 0;
    int size = 0;          // variables
    int rows = 0;          // of the matrix, of these variables
    int pairs = 0;         // of rows of different variables
    double log_det = 0.0;  // of these rows
};

// Calls visit(minor) for every set of at most `most` variables, by growing bits. A set in which a variable depends on
// those after it is given to degenerate(set) instead, and what earlier variables would add to it is left out. Variables
// from `given` on are conditions: pairs and log determinants leave out what there is among them alone.
//
// Variables are decided from the last to the first. Including one eliminates its rows from the matrix of those before
// it, so that the pivots on the way multiply to the determinant. A step among m rows takes m^2/2 operations and half of
// all steps are among none, a quarter among those of one variable ...: about three operations a set where each has one.
template <class Visit, class Degenerate>
class MinorWalk {
public:
    MinorWalk(const Scatter& scatter, const std::vector<int>& begins, int given, int most, Visit visit,
              Degenerate degenerate)
        : scatter_(scatter), begins_(begins), given_(given), most_(most), visit_(visit), degenerate_(degenerate),
          left_(begins.size() - 1) {
        for (std::size_t v = 0; v < left_.size(); ++v)
            if (begins[v + 1] > begins[v]) left_[v].resize(triangle_row(begins[v + 1] - 1));
    }

    // All sets that have `high` among the variables from `low_variables` on.
    void below(VarSet high, int low_variables) {
        const DoubleDouble* matrix = scatter_.entries.data();
        Minor minor;
        for (int v = static_cast<int>(left_.size()) - 1; v >= low_variables; --v) {
            if (!has(high, v)) continue;
            if (minor.size == most_) return;
            if (!include(matrix, v, minor)) {
                degenerate_(high & ~all_of(v));
                return;
            }
        }
        decide(matrix, low_variables, minor);
    }

private:
    const Scatter& scatter_;
    const std::vector<int>& begins_;
    int given_;
    int most_;
    Visit visit_;
    Degenerate degenerate_;
    std::vector<std::vector<DoubleDouble>> left_;  // left_[v]: the matrix of the rows before v once v is eliminated

    // False when v depends on what was included before.
    bool include(const DoubleDouble*& matrix, int v, Minor& minor) {
        const int begin = begins_[v], end = begins_[v + 1];
        double log_det = 0.0;
        if (!eliminate_rows(matrix, begin, end, scatter_.least.data(), left_[v].data(), log_det)) return false;
        if (v < given_) {
            minor.log_det += log_det;
            minor.pairs += (end - begin) * minor.rows;
        }
        if (end > begin) matrix = left_[v].data();
        minor.set |= only(v);
        ++minor.size;
        minor.rows += end - begin;
        return true;
    }

    void decide(const DoubleDouble* matrix, int m, const Minor& minor) {
        if (m == 0) {
            visit_(minor);
            return;
        }
        decide(matrix, m - 1, minor);
        if (minor.size == most_) return;
        Minor with = minor;
        if (include(matrix, m - 1, with)) {
            decide(matrix, m - 1, with);
        } else {
            degenerate_(minor.set | only(m - 1));
        }
    }
};

// What sets of variables score whose rows of a matrix are one or more each:
// constants[rows] + factors[rows] * ln det - per_pair * pairs, both without what there is among conditions alone, plus
// half_rows * ln det of `squares` for the first variables, as many as it has.
struct BlockScore {
    Scatter matrix;
    std::vector<int> begins;  // as single_rows gives them
    std::vector<int> places;  // where each variable stands among all, as others know them
    int given;                // variables from here on are conditions
    MinorFormula formula;
    double per_pair = 0.0;
    Scatter squares;  // of no variables where nothing is added
    double half_rows = 0.0;
    double floor = 0.0;  // no eigenvalue of the matrix is less

    int n_variables() const { return static_cast<int>(begins.size()) - 1; }
    int n_rows(int v) const { return begins[v + 1] - begins[v]; }
    double of(const Minor& minor) const {
        return formula.constants[minor.rows] + formula.factors[minor.rows] * minor.log_det - per_pair * minor.pairs;
    }
};

// Each variable has a row, and none is a condition.
BlockScore score_of_rows(const Scatter& scatter, const MinorFormula& formula);

// The score of one set, by its bits in the order of the matrix; not a number where a variable depends on others.
double score_of_set(const BlockScore& score, VarSet set);

// Scores of all sets of at most `most` variables; minus infinity for the others. scores[S]: S by places among all.
// `added`: null, or for each set of conditions what is added to all sets that have just these, by their bits from
// `given` on. `degenerate`: the first set, by its bits, found to have a dependent variable, or none. False when a limit
// stopped it.
bool score_all_sets_of(const BlockScore& score, const double* added, int most, Limits& limits,
                       double* scores, VarSet& degenerate);

// The log determinant of the whole matrix, not a number where a variable depends on others.
double log_determinant(const Scatter& scatter);

// The same set with its bits at other places; and all sets of so many variables.
VarSet set_at(const std::vector<int>& places, VarSet set);
std::vector<VarSet> spread_over(const std::vector<int>& places);

}  // namespace topdag
