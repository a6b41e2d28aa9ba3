// class_rule.h: the rule by which every Markov equivalence class is built exactly once, a variable at a time.
//
// A state is a class on the variables placed: which edges are compelled, which reversible. Adding x with parents U as
// a leaf to any of its members gives the same larger class, and old edges keep their labels [Chen, Choi & Darwiche
// 2016]. A variable can be last in some member exactly when no compelled edge leaves it and its reversible neighbours
// form a clique: then it is a leaf of the class. So that each class is built once, the variable added must be its
// last leaf in column order.
#pragma once

#include <array>

#include "listing.h"
#include "var_set.h"

namespace topdag {

class ClassRule {
public:
    struct State {
        VarSet placed = 0;
        double score = 0.0;
        VarSet leaves = 0;
        std::array<VarSet, most_listed> adjacent{};
        std::array<VarSet, most_listed> compelled{};   // parents by compelled edges
        std::array<VarSet, most_listed> reversible{};  // neighbours by reversible edges
    };

    // Every old leaf behind x must stop being one: it must become adjacent to x, and not stay a leaf by a
    // reversible edge to x whose other reversible neighbours are adjacent to x too.
    bool may_add(const State& state, const Step& step) const {
        const VarSet later = state.leaves & ~((VarSet{2} << step.x) - 1);
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

    bool has_hope(const State&, double) const { return true; }

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
    static bool has_open_pair(const State& state, VarSet set) {
        for (VarSet rest = set; rest != 0; rest &= rest - 1)
            if (!is_subset(set & ~(rest & -rest), state.adjacent[first_of(rest)])) return true;
        return false;
    }
};

}  // namespace topdag
