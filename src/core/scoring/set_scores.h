// set_scores.h: scores as functions of sets of variables. A local score is a difference of two of them:
// local(x | U) = joint(U + x) - below(U); for score-equivalent scores both are the same function.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run_limits.h"
#include "base/table.h"
#include "base/var_set.h"
#include "counting/cell_function.h"
#include "counting/count_plan.h"

namespace topdag {

enum class Penalty : int {
    none,
    per_cell,  // weight * (cells of the set): BIC, AIC
    regret,    // ln C(rows, cells of the set): qNML
};

// Set score = sum over cells of f(count) - penalty.
struct SetFormula {
    CellKind kind;
    double parameter;
    bool spread;  // the parameter is divided by the cells of the set
    Penalty penalty;
    double penalty_weight;
};

// Scores of all sets of at most `max_size` variables; minus infinity for the others and for hopeless ones.
// False when a limit stopped it. `masked`: as in count_plan.h.
bool score_all_sets(const Table& table, const SetFormula& formula, int max_size, Limits& limits, double* scores,
                    int masked = mask_bits);

// A set is hopeless when its penalty alone puts every family on it, (x, U) with U + x the set, further below
// (x, {}) than 1000 nats and all that data can explain. Leaving such sets out keeps the grid fine.
double most_cells_with_hope(const Table& table, const SetFormula& formula);

// The score of one set from the data, in full precision; for any number of variables.
double score_one_set(const Table& table, const SetFormula& formula, const std::vector<int>& variables);

// Counts of the cells of a set that occur, in an order of their own.
std::vector<std::uint64_t> cells_of_set(const Table& table, const std::vector<int>& variables);

// Scores of all families under BDs, which is no difference of set functions: the prior weight is spread over
// the parent states that occur [Scutari 2016]. families[x * 2^(n-1) + U without bit x].
bool score_families_bds(const Table& table, double ess, int max_parents, Limits& limits, double* families);

// Set scores under BDe: prior[cell] is the prior probability of each cell of the full table, first variable
// slowest. Every cell that occurs must have a positive probability.
bool score_all_sets_bde(const Table& table, double ess, const double* prior, int max_size, Limits& limits,
                        double* scores);

// Bytes taken while scoring all sets of at most so many variables, beside the result.
double scoring_bytes(const Table& table, const SetFormula& formula, int max_size, int threads);

// The largest absolute value among the finite ones.
double largest_magnitude(const double* values, std::size_t size, Limits& limits);
// The first value that is not below infinity, or `size`; minus infinity is fine.
std::size_t first_not_finite(const double* values, std::size_t size, Limits& limits);

// Scores are rounded to multiples of 2^-k. A local score, a difference of two, moves by a step at most; so the network
// that is best on the grid is behind the true best by 2n steps, by 2n more where superfluous parents are dropped, and
// by n for what doubles lose in sums over cells.
constexpr double steps_behind = 5;  // for each variable
// The least k for which that is at most 1e-6 nats or, where networks score at least `size` in size, a 1e-11th of it,
// never more than a tenth of a nat: on a coarser grid nothing can be called proved.
int coarsest_exponent(int n, double size = 0.0);

// The largest k for which sums over cells are good to a quarter of a step: they are to a 2^-52th of the `magnitude`, or
// to a half of that on average, which is heeded where it saves the 1e-6.
int finest_exponent(int n, double magnitude);

// The largest k for which sums over 2n such values are exact in doubles, whatever they are. Where an answer could be
// more than 1e-6 nats behind on it, the k for just that, or the finest; then whether sums for the networks at hand are
// exact is for the caller to see: whether none is more than 2^exact_bits steps. None is if `total` is as large as they
// get.
constexpr int exact_bits = 52;
int grid_exponent(int n, double magnitude, double total = 0.0);
void round_to_grid(double* values, std::size_t size, int exponent, Limits& limits);

}  // namespace topdag
