#include "listing/block_family_bounds.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/big_array.h"
#include "base/infinity.h"
#include "base/parallel.h"
#include "lattice/sweeps.h"
#include "lattice/undominated_sets.h"
#include "listing/class_rule.h"
#include "listing/listing.h"

namespace topdag {

namespace {

constexpr double first_depth = 1.0;  // nats below the best where k networks are first looked for
constexpr double deepest = 1 << 14;  // then all families are taken

// The families of one variable with M at least a threshold. All sets are slots of x.
class FamiliesOfVariable {
public:
    // room: throws when there are more.
    FamiliesOfVariable(const BlockLattice& lattice, int x, double threshold, std::size_t room, Limits& limits)
        : lattice_(lattice),
          parents_(lattice.parents_of(x)),
          x_(x),
          threshold_(std::max(threshold, std::numeric_limits<double>::lowest())),  // what is not allowed reaches none
          room_(room),
          limits_(limits),
          around_(lattice.n_variables(), parents_.low_bits()),
          workspaces_(limits.threads) {}

    // Best local score first, ties by their bits; incomplete when a limit stopped it.
    std::vector<ScoredFamily> found() {
        gather();
        bound_tops();
        return sift();
    }

private:
    struct Workspace {
        BigArray values;
        BigArray table;
    };

    std::size_t block_size() const { return n_sets(parents_.low_bits()); }
    VarSet complement(VarSet top) const { return (parents_.n_tops() - 1) ^ top; }

    template <class Visit>
    void for_each_top(const std::vector<VarSet>& tops, Visit&& visit) {
        parallel_for(tops.size(), limits_, [&](std::size_t i, int worker) {
            Workspace& work = workspaces_[worker];
            if (work.values.size() == 0) work = {BigArray(block_size()), BigArray(block_size())};
            visit(tops[i], work);
        });
    }

    // All Y with F(Y) + best(x, Y) + H(Y + x) at the threshold and more F(Y) + H(Y + x) than those that include them.
    // Larger blocks first.
    void gather() {
        std::vector<std::vector<VarSet>> layers(lattice_.n_variables() - parents_.low_bits());
        for (VarSet top = 0; top < parents_.n_tops(); ++top)
            if (lattice_.reach(x_, top) >= threshold_) layers[size_of(complement(top))].push_back(top);
        for (const std::vector<VarSet>& layer : layers)
            for_each_top(layer, [&](VarSet top, Workspace& work) { gather_block(top, work); });
    }

    // Sets that include others are subsets of their complements, so complements are what is kept.
    void gather_block(VarSet top, Workspace& work) {
        double* values = work.values.data();
        double* table = work.table.data();
        parents_.fill(top, table);
        lattice_.fill_around(x_, top, values);
        strike_out_below(values, table, threshold_, block_size());
        std::reverse(values, values + block_size());
        around_.scatter(complement(top), table);
        around_.settle(complement(top), values, table);
    }

    // The most that any gathered set gives whose top includes this one.
    void bound_tops() {
        most_.resize(parents_.n_tops());
        for (VarSet top = 0; top < most_.size(); ++top) most_[top] = around_.largest_local(complement(top));
        for (VarSet bit = 1; bit < most_.size(); bit <<= 1)
            for (VarSet top = 0; top < most_.size(); ++top)
                if ((top & bit) == 0) most_[top] = std::max(most_[top], most_[top | bit]);
    }

    std::vector<ScoredFamily> sift() {
        std::vector<VarSet> hopeful;
        for (VarSet top = 0; top < most_.size(); ++top)
            if (most_[top] + parents_.largest_local(top) >= threshold_) hopeful.push_back(top);
        std::vector<std::vector<ScoredFamily>> by_top(most_.size());
        std::atomic<std::size_t> taken{0};
        for_each_top(hopeful, [&](VarSet top, Workspace& work) {
            by_top[top] = sift_block(top, work);
            if ((taken += by_top[top].size()) > room_) throw TooManyFamilies();
        });
        std::vector<ScoredFamily> families;
        for (const auto& some : by_top) families.insert(families.end(), some.begin(), some.end());
        std::sort(families.begin(), families.end(), [](const ScoredFamily& a, const ScoredFamily& b) {
            return a.score != b.score ? a.score > b.score : a.parents < b.parents;
        });
        return families;
    }

    std::vector<ScoredFamily> sift_block(VarSet top, Workspace& work) const {
        double* local = work.values.data();
        double* table = work.table.data();
        around_.fill(complement(top), table);
        std::reverse(table, table + block_size());
        lattice_.scores().fill(x_, top << parents_.low_bits(), block_size(), local);
        std::vector<ScoredFamily> families;
        for_each_sum_reaching(local, table, threshold_, block_size(), [&](std::size_t low) {
            const VarSet parents = with_gap((top << parents_.low_bits()) | low, x_);
            families.push_back({parents, local[low], local[low] + table[low]});
        });
        return families;
    }

    const BlockLattice& lattice_;
    const UndominatedSets& parents_;
    int x_;
    double threshold_;
    std::size_t room_;
    Limits& limits_;
    UndominatedSets around_;  // complements of the gathered Y, with F(Y) + H(Y + x)
    std::vector<Workspace> workspaces_;
    std::vector<double> most_;  // by top
};

// Whether k finds score at least the threshold, which all their families reach.
template <class Rule>
bool has_so_many(const BlockLattice& lattice, const FamilyTable& families, double threshold, std::size_t k,
                 Limits& limits) {
    const Rule rule(lattice, families, best_order(lattice));
    Walk<BlockLattice, Rule> walk(lattice, families, rule, threshold);
    walk.begin({typename Rule::State{}, std::vector<VarSet>(families.size(), 0)});
    while (walk.counts.found < k) {
        const Walked step = walk.next();
        if (step == Walked::ended || (step == Walked::paused && limits.reached())) return false;
    }
    return true;
}

}  // namespace

FamilyTable families_reaching(const BlockLattice& lattice, double threshold, Limits& limits) {
    const int n = lattice.n_variables();
    FamilyTable families(n);
    limits.begin(Phase::bounding, n);
    std::size_t room = lattice.room_for_families();
    for (int x = 0; x < n; ++x) {
        families[x] = FamiliesOfVariable(lattice, x, threshold, room, limits).found();
        room -= families[x].size();
        ++limits.done;
    }
    if (limits.stop.load()) families.clear();
    return families;
}

KBestFamilies families_for_k_best(const BlockLattice& lattice, std::size_t k, bool of_classes, Limits& limits) {
    const double best = lattice.forward(n_sets(lattice.n_variables()) - 1);
    for (double depth = first_depth; depth <= deepest && best > minus_infinity; depth *= 2) {
        const double floor = best - depth;
        FamilyTable families = families_reaching(lattice, floor, limits);
        if (families.empty()) return {{}, floor};
        const bool is_enough = of_classes
                                   ? has_so_many<ClassRule<BlockLattice>>(lattice, families, floor, k, limits)
                                   : has_so_many<NetworkRule<BlockLattice>>(lattice, families, floor, k, limits);
        if (is_enough) return {std::move(families), floor};
    }
    return {families_reaching(lattice, minus_infinity, limits), minus_infinity};
}

}  // namespace topdag
