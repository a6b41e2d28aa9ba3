// path_flow.h: how much of a path from one variable to another weighted families make, and where it is narrowest.
//
// A family leads from each of its parents to its child, with as much as its weight in all. The most that gets from
// `begin` to `end` is the least weight with which families lead out of a set that holds the one and not the other.
#pragma once

#include <vector>

#include "cuts/listed_families.h"

namespace topdag {

struct FlowFamily {
    int child;
    Variables parents;
    double weight;
};

struct PathFlow {
    double total = 0.0;           // at most `enough`, or a little more
    Variables reached;              // if less: the set that is left with least weight
    std::vector<double> through;  // by variable: how much enters it
};

// Only through members of `between`, which holds both ends. Stops when there is `enough`.
PathFlow path_flow(int n, const std::vector<FlowFamily>& families, int begin, int end, const Variables& between,
                   double enough);

// All shortest walks, by lengths >= 0 of single steps, row by row: lengths, and the first step of each.
struct Walks {
    std::vector<double> lengths;
    std::vector<int> nexts;
};
Walks shortest_walks(int n, std::vector<double> lengths);

}  // namespace topdag
