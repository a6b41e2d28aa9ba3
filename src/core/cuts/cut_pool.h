// cut_pool.h: the cuts of a linear program over families, and the bound that any multipliers of them give.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cuts/clusters.h"
#include "cuts/local_cuts.h"

namespace topdag {

// In every network the coefficients of its families add up to at least limit().
//
// One cluster: its families count once. Otherwise the cuts of the clusters are added up, with the equation that each
// of `variables` has one family; all is halved and rounded up. That is safe for the coefficients because weights are
// not negative, and for the limit because networks have whole numbers on the left [Caprara & Fischetti 1996].
// A local cut stands alone. A clause has nothing: its families are given, and every network asked for has one of them.
struct Cut {
    std::vector<Cluster> clusters;
    Variables variables;
    std::optional<LocalCut> local;

    bool operator==(const Cut&) const = default;
    bool is_cluster() const { return clusters.size() == 1 && variables.empty(); }
    bool is_halved() const { return clusters.size() > 1 || !variables.empty(); }
    int limit() const;
};

struct Entry {
    std::int32_t family;
    std::int32_t coefficient;
};

// A cut and its coefficients, which never change: pools share it.
struct PooledCut {
    const Cut cut;
    const std::vector<Entry> row;

    PooledCut(Cut its_cut, std::vector<Entry> its_row) : cut(std::move(its_cut)), row(std::move(its_row)) { bytes_held += bytes(); }
    ~PooledCut() { bytes_held -= bytes(); }
    PooledCut(const PooledCut&) = delete;
    PooledCut& operator=(const PooledCut&) = delete;

    std::int64_t bytes() const { return static_cast<std::int64_t>(sizeof(PooledCut) + row.size() * sizeof(Entry)); }

    static inline std::atomic<std::int64_t> bytes_held{0};  // by all there are
};

using SharedCuts = std::vector<std::shared_ptr<const PooledCut>>;

struct ReducedCosts {
    double bound;                // no network of these families costs less
    std::vector<double> excess;  // no network with the family costs less than bound + excess
};

// Cuts with their coefficients for fixed families. A family number from the number of families on stands for a
// further family without parents of each variable.
class CutPool {
public:
    // Looks into the families.
    explicit CutPool(const ListedFamilies& families)
        : families_(families), is_member_(families.n_variables(), 0),
          sums_(families.size() + static_cast<std::size_t>(families.n_variables()), 0) {}

    void add(Cut cut);
    // One of the marked families must be there; the further families count too.
    void add_clause(std::span<const std::uint8_t> marks);
    void keep(std::span<const std::uint8_t> kept);
    std::size_t size() const { return cuts_.size(); }
    const Cut& cut(std::size_t c) const { return cuts_[c]->cut; }
    const std::vector<Entry>& row(std::size_t c) const { return cuts_[c]->row; }
    const SharedCuts& cuts() const { return cuts_; }
    // Instead of all it has; they are of the same families.
    void replace(SharedCuts cuts) { cuts_ = std::move(cuts); }
    const ListedFamilies& families() const { return families_; }

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
    std::vector<Entry> local_row(const LocalCut& cut) const;
    std::vector<Entry> row_of_sums(const Cut& cut);
    void count(const Cluster& cluster);
    std::int32_t further(int v) const { return static_cast<std::int32_t>(families_.size()) + v; }

    const ListedFamilies& families_;
    SharedCuts cuts_;
    // While a row is made: members of a cluster, and by family how many clusters and variables count it.
    std::vector<char> is_member_;
    std::vector<std::int32_t> sums_;
};

}  // namespace topdag
