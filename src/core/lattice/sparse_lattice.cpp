#include "lattice/sparse_lattice.h"

#include <algorithm>

#include "base/infinity.h"
#include "base/parallel.h"

namespace topdag {

namespace {

constexpr std::size_t sets_per_task = 1024;

}  // namespace

SparseLattice::SparseLattice(Candidates candidates, std::vector<VarSet> sets, std::vector<double> costs,
                             double threshold, std::vector<VarSet> before)
    : candidates_(std::move(candidates)), threshold_(threshold), before_(std::move(before)), sets_(std::move(sets)),
      forward_(std::move(costs)), index_(sets_) {
    for (double& value : forward_) value = -value;
}

bool SparseLattice::order_backward(Limits& limits) {
    backward_.assign(sets_.size(), minus_infinity);
    limits.begin(Phase::ordering, sets_.size());
    const VarSet everything = all_of(n_variables());
    // Sets of one size need those of the next only, so threads share them.
    for (std::size_t end = sets_.size(); end > 0;) {
        std::size_t begin = end;
        while (begin > 0 && size_of(sets_[begin - 1]) == size_of(sets_[end - 1])) --begin;
        parallel_for((end - begin + sets_per_task - 1) / sets_per_task, limits, [&](std::size_t part, int) {
            const std::size_t stop = std::min(end, begin + (part + 1) * sets_per_task);
            for (std::size_t i = begin + part * sets_per_task; i < stop; ++i) {
                double& most = backward_[i];
                if (sets_[i] == everything) most = 0.0;
                for (VarSet rest = everything & ~sets_[i]; rest != 0; rest &= rest - 1) {
                    const double after = backward(sets_[i] | (rest & -rest));
                    if (after > most) most = std::max(most, best(first_of(rest), sets_[i]) + after);
                }
            }
            limits.done += stop - (begin + part * sets_per_task);
        });
        end = begin;
    }
    if (limits.stop.load()) return false;
    keep_live();
    return true;
}

void SparseLattice::keep_live() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
        if (forward_[i] + backward_[i] < lowest()) continue;
        sets_[kept] = sets_[i];
        forward_[kept] = forward_[i];
        backward_[kept++] = backward_[i];
    }
    sets_.resize(kept);
    forward_.resize(kept);
    backward_.resize(kept);
    index_ = SetIndex(sets_);
}

int SparseLattice::last_variable(VarSet placed) const {
    for (int x = n_variables() - 1;; --x) {
        if (!has(placed, x)) continue;
        const VarSet before = placed & ~only(x);
        if (best(x, before) + forward(before) == forward(placed)) return x;
    }
}

namespace {

// A place for x in an order: after these variables, with this score without the family of x.
struct Place {
    VarSet before;
    double around;
};

std::vector<Place> places_of(const SparseLattice& lattice, int x, double threshold) {
    std::vector<Place> places;
    for (VarSet before : lattice.sets()) {
        if (has(before, x)) continue;
        const double around = lattice.forward(before) + lattice.backward(before | only(x));
        if (around >= threshold) places.push_back({before, around});
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return a.around != b.around ? a.around > b.around : a.before < b.before;
    });
    return places;
}

// The best place that has room for a family gives its bound, so places are tried best first.
std::vector<ScoredFamily> reaching(const SparseLattice& lattice, int x, double threshold) {
    std::vector<ScoredFamily> found;
    std::vector<Candidate> open = lattice.candidates().of(x);  // cheapest first
    for (const Place& place : places_of(lattice, x, threshold)) {
        std::erase_if(open, [&](const Candidate& family) { return place.around - family.cost < threshold; });
        if (open.empty()) break;
        std::erase_if(open, [&](const Candidate& family) {
            if (!is_subset(family.parents, place.before)) return false;
            found.push_back({family.parents, -family.cost, place.around - family.cost});
            return true;
        });
    }
    std::sort(found.begin(), found.end(), [](const ScoredFamily& a, const ScoredFamily& b) {
        return a.score != b.score ? a.score > b.score : a.parents < b.parents;
    });
    return found;
}

}  // namespace

FamilyTable families_reaching(const SparseLattice& lattice, double threshold, Limits& limits) {
    FamilyTable families(lattice.n_variables());
    limits.begin(Phase::bounding, families.size());
    parallel_for(families.size(), limits, [&](std::size_t x, int) {
        families[x] = reaching(lattice, static_cast<int>(x), std::max(threshold, lattice.lowest()));
        ++limits.done;
    });
    if (limits.stop.load()) families.clear();
    return families;
}

// Families are few, so all that the lattice knows of are taken.
KBestFamilies families_for_k_best(const SparseLattice& lattice, std::size_t, bool, Limits& limits) {
    return {families_reaching(lattice, lattice.lowest(), limits), lattice.lowest()};
}

}  // namespace topdag
