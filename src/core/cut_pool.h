// cut_pool.h: the cuts of a linear program over families, and the bound that any multipliers of them give.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clusters.h"
#include "var_set.h"

namespace topdag {

// In every network the coefficients of its families add up to at least limit().
//
// One cluster: its families count once. Otherwise the cuts of the clusters are added up, with the equation that each
// of `variables` has one family; all is halved and rounded up. That is safe for the coefficients because weights are
// not negative, and for the limit because networks have whole numbers on the left [Caprara & Fischetti 1996].
// A clause has no clusters: its families are given, and every network that is asked for has one of them.
struct Cut {
    std::vector<Cluster> clusters;
    VarSet variables = 0;

    bool operator==(const Cut&) const = default;
    bool is_clause() const { return clusters.empty() && variables == 0; }
    bool is_halved() const { return clusters.size() > 1 || variables != 0; }
    int limit() const;
    int coefficient(int v, VarSet parents) const;
};

struct Entry {
    std::int32_t family;
    std::int32_t coefficient;
};

struct ReducedCosts {
    double bound;                // no network of these families costs less
    std::vector<double> excess;  // no network with the family costs less than bound + excess
};

// Cuts with their coefficients for fixed families. A family number from the number of families on stands for a
// further family without parents of each variable.
class CutPool {
public:
    explicit CutPool(const FamilyView& families) : families_(families) {}

    void add(Cut cut);
    // One of the marked families must be there; the further families count too.
    void add_clause(std::span<const std::uint8_t> marks);
    void keep(std::span<const std::uint8_t> kept);
    std::size_t size() const { return cuts_.size(); }
    const Cut& cut(std::size_t c) const { return cuts_[c]; }
    const std::vector<Entry>& row(std::size_t c) const { return rows_[c]; }
    const FamilyView& families() const { return families_; }

    // The Lagrangean bound of any multipliers >= 0: limits times multipliers, plus for each variable its cheapest
    // family once every cut has paid its multiplier to the families in it. Exact when costs and multipliers lie on one
    // grid and their sums fit; valid whatever made the multipliers. Only allowed families are used.
    ReducedCosts reduced_costs(std::span<const double> costs, std::span<const std::uint8_t> allowed,
                               std::span<const double> multipliers) const;

    // Halved cuts that the weights violate, made of clusters that hold with equality: sums in which every family with
    // weight has an even coefficient and the limit is odd, found by elimination modulo two.
    std::vector<Cut> violated_halves(std::span<const double> weights, std::size_t most_cuts,
                                     double least_violation) const;

private:
    FamilyView families_;
    std::vector<Cut> cuts_;
    std::vector<std::vector<Entry>> rows_;
};

}  // namespace topdag
