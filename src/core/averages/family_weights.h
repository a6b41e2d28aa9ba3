// family_weights.h: the weights of families, and their sums over all parent sets inside a set.
//
//   w_v(S) = exp(local(v | S)),   z_v(U) = sum over S inside U of w_v(S)
//
// The exponent of z_v(U) is the largest of its terms, so it does not fall when U grows.
#pragma once

#include <vector>

#include "base/run_limits.h"
#include "base/scaled_numbers.h"
#include "base/var_set.h"
#include "families/local_scores.h"

namespace topdag {

// Local scores further from zero than this do not fit the exponents.
constexpr double largest_local_score = 5e6;

struct Weight { double mantissa; Exponent exponent; };
// exp(local) with a mantissa from 1 up to 2. Throws std::invalid_argument beyond largest_local_score.
Weight weight_of(double local);

// w_v by slot.
template <class Real>
void fill_weights(const LocalScores& scores, int v, ScaledTable<Real>& weights);

// Every number becomes the sum over all subsets, or supersets, of its place.
template <class Real>
void sum_over_subsets(Real* values, Exponent* exponents, int bits);
template <class Real>
void sum_over_supersets(Real* values, Exponent* exponents, int bits);

template <class Real>
class FamilyWeights {
public:
    // False when a limit stopped it.
    bool fill(const LocalScores& scores, Limits& limits);

    int n_variables() const { return static_cast<int>(within_.size()); }
    // z_v(U), for U without v.
    Real mantissa(int v, VarSet within) const { return within_[v].mantissas[without_bit(within, v)]; }
    Exponent exponent(int v, VarSet within) const { return within_[v].exponents[without_bit(within, v)]; }
    const ScaledTable<Real>& table(int v) const { return within_[v]; }
    // From here on z_v(U) is zero where U lacks a variable that comes before v.
    void keep_to(const Precedence& precedence);
    // z_v(U) times a factor for each U, by slot.
    void multiply(int v, const ScaledTable<double>& factors);

private:
    std::vector<ScaledTable<Real>> within_;  // by variable, then by slot
};

}  // namespace topdag
