// parent_weights.h: families as weights e^score: their sums over all parent sets inside a set, and draws from them.
//
//   z(x, Y)       = the sum of w(x, U) over all U inside Y
//   ways(x, Y, R) = the same over those U that have a member of R too; over all of them when R is empty
//
// Under a precedence (precedence.h) z(x, Y) is zero where Y lacks a variable before x, and one before x that is in R
// counts as a parent there: then ways(x, Y, R) = z(x, Y).
//
// Weights are relative to the best family of x, which cancels in every probability. Families that score ten million
// less than it count as not allowed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run_limits.h"
#include "base/scaled.h"
#include "base/var_set.h"
#include "families/local_scores.h"

namespace topdag {

class ParentWeights {
public:
    static constexpr int most_variables = 32;  // sets are 32 bits here; the tables then take 2.5 TB

    explicit ParentWeights(const LocalScores& scores);

    // Fills all tables; false when a limit stopped it.
    bool fill(Limits& limits);

    int n_variables() const { return n_; }
    const Precedence& precedence() const { return scores_.precedence(); }
    // In units of 2^exponent(x, within): in [1, 2), or zero.
    long double sum(int x, VarSet within) const { return sums_[x][without_bit(within, x)]; }
    std::int32_t exponent(int x, VarSet within) const { return exponents_[x][without_bit(within, x)]; }
    Scaled scaled_sum(int x, VarSet within) const { return {sum(x, within), exponent(x, within)}; }

    // ways(x, within, meeting) in units of 2^exponent(x, within), as a difference of sums: wrong by up to
    // difference_error() of those units.
    long double ways_by_difference(int x, VarSet within, VarSet meeting) const;
    long double difference_error() const;
    // The same added up family by family: right to a double's precision, but slow.
    double ways_by_families(int x, VarSet within, VarSet meeting) const;

    // A sample that waits for parents of x: it gets the first family at which the running sum of weights passes `at`,
    // which is below ways(x, within, meeting) in units of 2^exponent(x, within).
    struct Draw {
        double at;
        VarSet parents;
    };
    // Draws must be sorted by `at`; some family must be allowed.
    void draw_parents(int x, VarSet within, VarSet meeting, std::vector<Draw>& draws) const;

    // Bytes of all tables.
    static double bytes(int n) { return static_cast<double>(n) * many_sets(n - 1) * (16 + 4 + 16); }

private:
    struct Family {
        double mantissa;
        std::int32_t exponent;
        std::uint32_t parents;
    };
    void fill_variable(int x);
    VarSet still_to_meet(int x, VarSet meeting) const {
        return (scores_.precedence().before(x) & meeting) == 0 ? meeting : 0;
    }
    // Calls use(family, weight) for the families inside `within` that meet `meeting`, heaviest first, until it says no.
    template <class Use>
    void for_each_allowed(int x, VarSet within, VarSet meeting, Use&& use) const;

    int n_;
    const LocalScores& scores_;
    std::vector<std::vector<long double>> sums_;        // by variable, then by slot
    std::vector<std::vector<std::int32_t>> exponents_;  // likewise
    std::vector<std::vector<Family>> families_;         // by variable, heaviest first
};

}  // namespace topdag
