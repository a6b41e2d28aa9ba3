// components.h: variables that can be ordered one group after another.
#pragma once

#include <vector>

#include "base/var_set.h"
#include "families/candidates.h"

namespace topdag {

// Strongly connected components of a graph given by the sets of arcs into each variable, ancestors first.
template <class Set>
std::vector<Set> strong_components(const std::vector<Set>& arcs_into, Set among);

template <class Set>
struct ComponentOf {
    Set variables;
    Set before;  // all that come earlier: free as parents
};

// For the best network: with an arc for each parent in a family that may be of use, the variables of a component can
// be placed when all those before are, and need none that come later [Fan, Malone & Yuan 2014]. With those before free,
// fewer families are of use, which may split a component again.
template <class Set>
std::vector<ComponentOf<Set>> components(const CandidatesOf<Set>& candidates);

// The families of x that fit the component, least cost first, with only the parents inside it, unless a cheaper one asks
// for less.
template <class Set>
std::vector<CandidateOf<Set>> useful_families(const CandidatesOf<Set>& candidates, int x, const ComponentOf<Set>& component);

// Families of one component, by variable in ascending order: parents before it left out, the others numbered by their
// place in the component. Of those that fit a set, only what may be best is there.
template <class Set>
std::vector<std::vector<CandidateOf<Set>>> families_of(const CandidatesOf<Set>& candidates, const ComponentOf<Set>& component);

using Component = ComponentOf<VarSet>;

}  // namespace topdag
