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
#include "cuts/reduced_costs.h"

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
    bool is_clause() const { return clusters.empty() && variables.empty() && !local; }
    int limit() const;
};

struct Entry {
    std::int32_t family;
    std::int32_t coefficient;
};

// A cut and its coefficients, which never change: pools share it.
struct PooledCut {
    const Cut cut;
    const std::vector<Entry> row;  // empty where coefficients are made when they are needed

    PooledCut(Cut its_cut, std::vector<Entry> its_row) : cut(std::move(its_cut)), row(std::move(its_row)) { bytes_held += bytes(); }
    ~PooledCut() { bytes_held -= bytes(); }
    PooledCut(const PooledCut&) = delete;
    PooledCut& operator=(const PooledCut&) = delete;

    std::int64_t bytes() const { return static_cast<std::int64_t>(sizeof(PooledCut) + row.size() * sizeof(Entry)); }

    static inline std::atomic<std::int64_t> bytes_held{0};  // by all there are
};

using SharedCuts = std::vector<std::shared_ptr<const PooledCut>>;

// Some of the families, by variable.
class Places {
public:
    // Those for which `has` is true.
    template <class Has>
    Places(const ListedFamilies& families, Has&& has) {
        for (int v = 0; v < families.n_variables(); ++v) {
            for (std::size_t i = families.begin_of(v); i < families.end_of(v); ++i)
                if (has(i)) places_.push_back(static_cast<std::int32_t>(i));
            ends_.push_back(places_.size());
        }
    }

    std::span<const std::int32_t> of(int v) const { return std::span(places_).subspan(ends_[v], ends_[v + 1] - ends_[v]); }

private:
    std::vector<std::int32_t> places_;
    std::vector<std::size_t> ends_{0};
};

// Makes coefficients of cuts. A family number from the number of families on stands for a further family without parents
// of each variable.
class RowMaker {
public:
    // Looks into the families.
    explicit RowMaker(const ListedFamilies& families)
        : families_(families), is_member_(families.n_variables(), 0),
          sums_(families.size() + static_cast<std::size_t>(families.n_variables()), 0) {}

    // Of a cut that is no clause, for families at these places and the further ones; those that are 0 are left out.
    std::vector<Entry> row(const Cut& cut, const Places& places);

private:
    std::vector<Entry> local_row(const LocalCut& cut, const Places& places) const;
    void count(const Cluster& cluster, const Places& places);
    std::int32_t further(int v) const { return static_cast<std::int32_t>(families_.size()) + v; }

    const ListedFamilies& families_;
    // While a row is made: members of a cluster, and by family how many clusters and variables count it.
    std::vector<char> is_member_;
    std::vector<std::int32_t> sums_;
};

// Cuts for fixed families. Their coefficients are kept, or made when they are needed: for long lists they would take
// gigabytes.
class CutPool {
public:
    // Looks into the families.
    CutPool(const ListedFamilies& families, bool keeps_rows)
        : families_(families), all_(families, [](std::size_t) { return true; }), maker_(families),
          keeps_rows_(keeps_rows) {}

    void add(Cut cut);
    // One of the marked families must be there; the further families count too.
    void add_clause(std::span<const std::uint8_t> marks);
    void keep(std::span<const std::uint8_t> kept);
    std::size_t size() const { return cuts_.size(); }
    const Cut& cut(std::size_t c) const { return cuts_[c]->cut; }
    const SharedCuts& cuts() const { return cuts_; }
    // Instead of all it has; they are of the same families.
    void replace(SharedCuts cuts) { cuts_ = std::move(cuts); }
    const ListedFamilies& families() const { return families_; }

    // Calls visit(c, entry) for the cuts from `first` on, and families at places where the marks are; the marks of the
    // further families come last.
    template <class Visit>
    void visit_marked(std::size_t first, std::span<const std::uint8_t> marks, Visit&& visit) const {
        const Places places(families_, [&](std::size_t i) { return marks[i] != 0; });
        RowMaker maker(families_);
        for (std::size_t c = first; c < cuts_.size(); ++c) {
            const std::vector<Entry> made = has_row(c) ? std::vector<Entry>{} : maker.row(cut(c), places);
            for (const Entry& entry : has_row(c) ? row(c) : made)
                if (marks[entry.family]) visit(c, entry);
        }
    }

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
    bool has_row(std::size_t c) const { return keeps_rows_ || cut(c).is_clause(); }
    const std::vector<Entry>& row(std::size_t c) const { return cuts_[c]->row; }

    const ListedFamilies& families_;
    Places all_;
    RowMaker maker_;
    bool keeps_rows_;
    SharedCuts cuts_;
};

}  // namespace topdag
