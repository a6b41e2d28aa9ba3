// class_rule.h: the rule by which every Markov equivalence class is built exactly once, a variable at a time.
//
// A state is a class on the variables placed: which edges are compelled, which reversible. Adding x with parents U as
// a leaf to any of its members gives the same larger class, and old edges keep their labels [Chen, Choi & Darwiche
// 2016]. A variable can be last in some member exactly when no compelled edge leaves it and its reversible neighbours
// form a clique: then it is a leaf of the class. So that each class is built once, the variable added must be its
// last leaf in a reference order.
//
// So a leaf y with a variable still to come that stands before it must stop being one, for which some x still to come
// must have it as a parent. A state is left when no family (x, U) with y in U has M(x, U) - (F(Y) - g) >= t; listing.h
// says why that is safe.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "base/infinity.h"
#include "base/var_set.h"
#include "listing/listing.h"

namespace topdag {

template <class Lattice>
class ClassRule {
public:
    struct State {
        VarSet placed = 0;
        double score = 0.0;
        VarSet leaves = 0;
        std::array<VarSet, Lattice::most_variables> adjacent{};
        std::array<VarSet, Lattice::most_variables> compelled{};   // parents by compelled edges
        std::array<VarSet, Lattice::most_variables> reversible{};  // neighbours by reversible edges
    };

    ClassRule(const Lattice& lattice, const FamilyTable& families, const std::vector<int>& order)
        : lattice_(lattice),
          n_(order.size()),
          before_(n_),
          later_(n_),
          with_parent_(n_ * n_, minus_infinity) {
        for (int x : order) {
            before_[x] = everything_;
            everything_ |= only(x);
        }
        for (std::size_t x = 0; x < n_; ++x) {
            later_[x] = everything_ & ~before_[x] & ~only(static_cast<int>(x));
            for (const ScoredFamily& family : families[x])
                for (VarSet rest = family.parents; rest != 0; rest &= rest - 1) {
                    double& most = with_parent_[static_cast<std::size_t>(first_of(rest)) * n_ + x];
                    most = std::max(most, family.bound);
                }
        }
    }

    // Every old leaf behind x must stop being one: it must become adjacent to x, and not stay a leaf by a
    // reversible edge to x whose other reversible neighbours are adjacent to x too.
    bool may_add(const State& state, const Step& step) const {
        const VarSet later = state.leaves & later_[step.x];
        if (!is_subset(later, step.parents)) return false;
        if (later == 0) return true;
        const VarSet compelled = compelled_edges(state, step.parents);
        for (VarSet rest = later & ~compelled; rest != 0; rest &= rest - 1)
            if (is_subset(state.reversible[first_of(rest)], step.parents)) return false;
        return true;
    }

    State after(const State& state, const Step& step) const {
        State larger = state;
        larger.placed |= only(step.x);
        larger.score += step.score;
        const VarSet compelled = compelled_edges(state, step.parents);
        larger.adjacent[step.x] = step.parents;
        larger.compelled[step.x] = compelled;
        larger.reversible[step.x] = step.parents & ~compelled;
        for (VarSet rest = step.parents; rest != 0; rest &= rest - 1) {
            const int p = first_of(rest);
            larger.adjacent[p] |= only(step.x);
            if (!has(compelled, p)) larger.reversible[p] |= only(step.x);
        }
        // Old leaves stay leaves unless x changes their edges; x itself is one.
        larger.leaves = (state.leaves & ~step.parents) | only(step.x);
        for (VarSet rest = state.leaves & step.parents & ~compelled; rest != 0; rest &= rest - 1)
            if (is_subset(state.reversible[first_of(rest)], step.parents)) larger.leaves |= rest & -rest;
        return larger;
    }

    bool has_hope(const State& state, double threshold) const {
        const double lost = lattice_.forward(state.placed) - state.score;
        const VarSet to_come = everything_ & ~state.placed;
        for (VarSet rest = state.leaves; rest != 0; rest &= rest - 1) {
            const int y = first_of(rest);
            if ((to_come & before_[y]) != 0 && !can_be_a_parent(y, to_come, lost, threshold)) return false;
        }
        return true;
    }

    // The parents of a new leaf whose edges to it are compelled: the least set that holds u if
    //   (a) u is not adjacent to another parent, or (b) a compelled parent of u is no parent, or
    //   (c) u -> w is compelled for some w in the set, or
    //   (d) two non-adjacent members of the set are both reversible neighbours of u.
    static VarSet compelled_edges(const State& state, VarSet parents) {
        VarSet compelled = 0;
        for (VarSet rest = parents; rest != 0; rest &= rest - 1) {
            const int u = first_of(rest);
            const bool misses_a_parent = !is_subset(parents & ~only(u), state.adjacent[u]);
            if (misses_a_parent || !is_subset(state.compelled[u], parents)) compelled |= only(u);
        }
        for (bool grows = compelled != 0; grows;) {
            grows = false;
            VarSet before_compelled = 0;
            for (VarSet rest = compelled; rest != 0; rest &= rest - 1) before_compelled |= state.compelled[first_of(rest)];
            for (VarSet rest = parents & ~compelled; rest != 0; rest &= rest - 1) {
                const int u = first_of(rest);
                if (!has(before_compelled, u) && !has_open_pair(state, compelled & state.reversible[u])) continue;
                compelled |= only(u);
                grows = true;
            }
        }
        return compelled;
    }

private:
    bool can_be_a_parent(int y, VarSet to_come, double lost, double threshold) const {
        const double* most = &with_parent_[static_cast<std::size_t>(y) * n_];
        for (; to_come != 0; to_come &= to_come - 1)
            if (most[first_of(to_come)] - lost >= threshold) return true;
        return false;
    }

    static bool has_open_pair(const State& state, VarSet set) {
        for (VarSet rest = set; rest != 0; rest &= rest - 1)
            if (!is_subset(set & ~(rest & -rest), state.adjacent[first_of(rest)])) return true;
        return false;
    }

    const Lattice& lattice_;
    std::size_t n_;
    VarSet everything_ = 0;
    std::vector<VarSet> before_;       // by variable: those before it in the reference order
    std::vector<VarSet> later_;        // and those behind it
    std::vector<double> with_parent_;  // [y * n + x]: the largest M(x, U) with y in U
};

}  // namespace topdag
