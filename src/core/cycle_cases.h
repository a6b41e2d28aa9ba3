// cycle_cases.h: sets of networks told by edges that must be and edges that must not, and how a cycle splits them.
//
// The best family of each variable that its marks allow, cycles or not, costs no more than any network of a case. Where
// these families make a cycle, a network lacks one of its edges: case i has the edges before the i-th and not the i-th,
// so the cases have no network in common and lose none [de Campos, Zeng & Ji 2009, section 4].
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "candidates.h"
#include "var_set.h"

namespace topdag {

// Of one variable: parents that must be, parents that must not, and where the best family with both stands in the list.
struct Marks {
    VarSet must = 0;
    VarSet without = 0;
    std::uint32_t chosen = 0;
};

struct Case {
    double cost = 0.0;  // of the chosen families; no network of the case costs less
    std::vector<Marks> of;

    std::size_t bytes() const { return sizeof(Case) + of.capacity() * sizeof(Marks); }
};

struct Edge {
    int parent, child;
};

// The edges of a cycle, dearest to do without first; `least`: what a network must pay at least for lacking one.
struct Cycle {
    std::vector<Edge> edges;
    double least = 0.0;
};

class CycleBreaker {
public:
    explicit CycleBreaker(const Candidates& candidates) : candidates_(candidates) {}

    // All networks.
    Case everything() const;
    std::vector<VarSet> chosen_parents(const Case& c) const;

    // One shortest cycle through each variable that lies on some; none when the chosen families are a network.
    std::vector<Cycle> cycles(const Case& c) const;
    // The one that is dearest to break; of such the shortest, then the first.
    static const Cycle& dearest(const std::vector<Cycle>& cycles);

    // The cases of a cycle that have a family for each variable, in the order of its edges.
    std::vector<Case> split(const Case& c, const Cycle& cycle) const;

private:
    bool forbid(Case& c, Edge edge) const;
    bool demand(Case& c, Edge edge) const;
    bool choose(Case& c, int x) const;
    std::size_t first_fitting(int x, const Marks& marks) const;
    double price(const Case& c, Edge edge) const;
    Cycle priced(const Case& c, std::vector<Edge> edges) const;

    const Candidates& candidates_;
};

}  // namespace topdag
