// pattern_bounds.cpp
#include "orders/pattern_bounds.h"

#include <unordered_map>

#include "families/components.h"

namespace topdag {

// ---- Fixed groups

GroupBound::Group::Group(const ParentLookup& lookup, VarSet variables, VarSet everyone)
    : variables_(variables), places_{}, costs_(n_sets(size_of(variables)), Candidates::no_family) {
    std::vector<int> members;
    for (VarSet rest = variables; rest != 0; rest &= rest - 1) {
        for (int bits = 0; bits < 256; ++bits)
            if (has(bits, first_of(rest) % 8)) places_[first_of(rest) / 8][bits] |= std::uint32_t{1} << members.size();
        members.push_back(first_of(rest));
    }
    costs_[0] = 0.0;
    std::vector<VarSet> spread{0};  // the set that an index stands for, for indices below a power of two
    spread.reserve(costs_.size());
    for (std::size_t index = 1; index < costs_.size(); ++index) {
        spread.push_back(spread[index & (index - 1)] | only(members[first_of(index)]));
        const VarSet placed = everyone & ~spread[index];
        for (VarSet rest = index; rest != 0; rest &= rest - 1) {
            const double cost = lookup.least_cost(members[first_of(rest)], placed);
            costs_[index] = std::min(costs_[index], cost + costs_[index & ~only(first_of(rest))]);
        }
    }
}

GroupBound::GroupBound(const Candidates& candidates, const std::vector<VarSet>& groups)
    : group_of_(candidates.n_variables(), -1) {
    const ParentLookup lookup(candidates);
    for (VarSet group : groups) {
        for (VarSet rest = group; rest != 0; rest &= rest - 1)
            group_of_[first_of(rest)] = static_cast<int>(groups_.size());
        groups_.emplace_back(lookup, group, all_of(candidates.n_variables()));
    }
}

double GroupBound::at(VarSet placed) const {
    double total = 0.0;
    for (const Group& group : groups_) total += group.cost_without(placed);
    return total;
}

// Only one group changes with each; added up anew because costs may be infinite.
void GroupBound::after_each(VarSet placed, VarSet wanted, double* after, const double*) const {
    std::vector<double> costs;
    for (const Group& group : groups_) costs.push_back(group.cost_without(placed));
    for (VarSet rest = wanted; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        after[x] = 0.0;
        for (int g = 0; g < static_cast<int>(groups_.size()); ++g)
            after[x] += g == group_of_[x] ? groups_[g].cost_without(placed | only(x)) : costs[g];
    }
}

std::size_t GroupBound::size() const {
    std::size_t total = 0;
    for (const Group& group : groups_) total += group.size();
    return total;
}

namespace {

std::vector<VarSet> arcs_of_strongest(const Candidates& candidates, std::size_t families) {
    std::vector<VarSet> arcs_into(candidates.n_variables(), 0);
    for (int x = 0; x < candidates.n_variables(); ++x)
        for (std::size_t i = 0; i < std::min(families, candidates.of(x).size()); ++i)
            arcs_into[x] |= candidates.of(x)[i].parents;
    return arcs_into;
}

int largest(const std::vector<VarSet>& sets) {
    int size = 0;
    for (VarSet set : sets) size = std::max(size, size_of(set));
    return size;
}

int arcs_between(const std::vector<VarSet>& arcs_into, VarSet a, VarSet b) {
    int arcs = 0;
    for (VarSet rest = a | b; rest != 0; rest &= rest - 1)
        arcs += size_of(arcs_into[first_of(rest)] & (has(a, first_of(rest)) ? b : a));
    return arcs;
}

// Grows a group from the largest part by the part it has most arcs with among those that fit; then the next group.
std::vector<VarSet> joined(std::vector<VarSet> parts, const std::vector<VarSet>& arcs_into, int most) {
    std::stable_sort(parts.begin(), parts.end(), [](VarSet a, VarSet b) { return size_of(a) > size_of(b); });
    std::vector<VarSet> groups;
    while (!parts.empty()) {
        VarSet group = parts.front();
        parts.erase(parts.begin());
        for (;;) {
            int best = -1, most_arcs = -1;
            for (std::size_t i = 0; i < parts.size(); ++i) {
                const int arcs = arcs_between(arcs_into, group, parts[i]);
                if (size_of(group | parts[i]) > most || arcs <= most_arcs) continue;
                best = static_cast<int>(i);
                most_arcs = arcs;
            }
            if (best < 0) break;
            group |= parts[best];
            parts.erase(parts.begin() + best);
        }
        groups.push_back(group);
    }
    return groups;
}

}  // namespace

std::vector<VarSet> groups_by_strongest_parents(const Candidates& candidates, int most) {
    const VarSet everyone = all_of(candidates.n_variables());
    std::size_t longest = 0;
    for (int x = 0; x < candidates.n_variables(); ++x) longest = std::max(longest, candidates.of(x).size());
    std::vector<VarSet> parts;  // every variable alone, then components while they are small enough
    for (VarSet rest = everyone; rest != 0; rest &= rest - 1) parts.push_back(only(first_of(rest)));
    std::size_t families = 1;
    for (; families <= longest; ++families) {
        std::vector<VarSet> larger = strong_components(arcs_of_strongest(candidates, families), everyone);
        if (largest(larger) > most) break;
        parts = std::move(larger);
    }
    return joined(std::move(parts), arcs_of_strongest(candidates, families), most);
}

// ---- Patterns chosen anew

CycleBound::CycleBound(const Candidates& candidates, int k, PatternChoice choice)
    : everyone_(all_of(candidates.n_variables())),
      choice_(choice),
      of_(candidates.n_variables()),
      shares_(candidates.n_variables(), 0.0) {
    add_patterns(candidates, k);
    std::sort(patterns_.begin(), patterns_.end(), [](const Pattern& a, const Pattern& b) {
        if (a.cost != b.cost) return a.cost > b.cost;
        const int size_a = size_of(a.variables), size_b = size_of(b.variables);
        return size_a != size_b ? size_a < size_b : a.variables < b.variables;
    });
    for (const Pattern& pattern : patterns_)
        for (VarSet rest = pattern.variables; rest != 0; rest &= rest - 1) {
            of_[first_of(rest)].push_back(pattern);
            shares_[first_of(rest)] = std::max(shares_[first_of(rest)], pattern.cost / size_of(pattern.variables));
        }
}

// All patterns by size; those are kept that cost more than what is inside them [Yuan & Malone 2013, Algorithm 5].
void CycleBound::add_patterns(const Candidates& candidates, int k) {
    const ParentLookup lookup(candidates);
    std::unordered_map<VarSet, double> smaller{{0, 0.0}};
    for (int size = 1; size <= k; ++size) {
        std::unordered_map<VarSet, double> costs;
        for (const auto& [inside, unused] : smaller)
            for (VarSet rest = everyone_ & ~inside; rest != 0; rest &= rest - 1)
                costs[inside | only(first_of(rest))] = 0.0;
        for (auto& [pattern, cost] : costs) {
            double most_inside = 0.0;
            cost = Candidates::no_family;
            for (VarSet rest = pattern; rest != 0; rest &= rest - 1) {
                const double without = smaller.at(pattern & ~only(first_of(rest)));
                most_inside = std::max(most_inside, without);
                cost = std::min(cost, without + lookup.least_cost(first_of(rest), everyone_ & ~pattern));
            }
            if (cost > most_inside) patterns_.push_back({pattern, cost});
        }
        smaller = std::move(costs);
    }
}

double CycleBound::greedy(VarSet left) const {
    double total = 0.0;
    for (const Pattern& pattern : patterns_)
        if (is_subset(pattern.variables, left)) {
            left &= ~pattern.variables;
            total += pattern.cost;
            if (left == 0) break;
        }
    return total;
}

// The best disjoint patterns, by trying for the first variable left each of its patterns, and none.
void CycleBound::improve(VarSet left, double chosen, double& best) const {
    best = std::max(best, chosen);
    double most = chosen;
    for (VarSet rest = left; rest != 0; rest &= rest - 1) most += shares_[first_of(rest)];
    if (left == 0 || most + 1e-6 * (1.0 + most) < best) return;
    const int v = first_of(left);
    for (const Pattern& pattern : of_[v])
        if (is_subset(pattern.variables, left)) improve(left & ~pattern.variables, chosen + pattern.cost, best);
    improve(left & ~only(v), chosen, best);
}

double CycleBound::at(VarSet placed) const {
    double best = greedy(everyone_ & ~placed);
    if (choice_ == PatternChoice::optimal) improve(everyone_ & ~placed, 0.0, best);
    return best;
}

}  // namespace topdag
