// pattern_bounds.h: bounds from groups of variables that are ordered exactly while all others count as placed.
//
// What a set R of variables costs when all others are available is its *pattern cost*: the cost of the best way from
// V - R to V. Disjoint patterns use different variables, so their costs add up [Yuan & Malone 2013, section 5.3].
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "families/candidates.h"
#include "families/parent_lookup.h"
#include "orders/bounds.h"

namespace topdag {

// Fixed groups, all patterns of each in a table.
// Admissible: yes. Consistent: yes.
class GroupBound : public Bound {
public:
    static constexpr int largest_group = 26;

    // Groups are disjoint; variables in none count nothing. Infinite values stand where no family fits.
    GroupBound(const Candidates& candidates, const std::vector<VarSet>& groups);

    double at(VarSet placed) const override;
    void after_each(VarSet placed, VarSet wanted, double* after, const double* enough) const override;
    std::size_t size() const override;

private:
    class Group {
    public:
        Group(const ParentLookup& lookup, VarSet variables, VarSet everyone);
        double cost_without(VarSet placed) const { return costs_[index_of(variables_ & ~placed)]; }
        VarSet variables() const { return variables_; }
        std::size_t size() const { return costs_.size(); }

    private:
        std::uint32_t index_of(VarSet set) const {
            std::uint32_t index = 0;
            for (int byte = 0; byte < 8; ++byte) index |= places_[byte][(set >> (8 * byte)) & 255];
            return index;
        }

        VarSet variables_;
        std::array<std::array<std::uint32_t, 256>, 8> places_;  // where the bits of each byte stand in an index
        std::vector<double> costs_;
    };

    std::vector<Group> groups_;
    std::vector<int> group_of_;  // -1: none
};

// Groups for the bound above: few, none larger than `most`. Variables that are in a cycle of their strongest parent
// sets stay together as far as they fit; then groups are joined to the one they have most arcs with [Fan & Yuan 2015].
std::vector<VarSet> groups_by_strongest_parents(const Candidates& candidates, int most);

enum class PatternChoice { greedy, optimal };

// Small patterns, disjoint ones chosen anew for every set.
// Admissible: yes. Consistent: when the choice is optimal; a greedy one may lose more than the variable placed costs.
class CycleBound : public Bound {
public:
    // Patterns of up to k variables that cost more than every pattern inside them.
    CycleBound(const Candidates& candidates, int k, PatternChoice choice);

    double at(VarSet placed) const override;
    bool is_consistent() const override { return choice_ == PatternChoice::optimal; }
    std::size_t size() const override { return patterns_.size(); }

private:
    struct Pattern {
        VarSet variables;
        double cost;
    };

    void add_patterns(const Candidates& candidates, int k);
    double greedy(VarSet left) const;
    void improve(VarSet left, double chosen, double& best) const;

    VarSet everyone_;
    PatternChoice choice_;
    std::vector<Pattern> patterns_;          // most costly first
    std::vector<std::vector<Pattern>> of_;   // by variable: those that hold it, most costly first
    std::vector<double> shares_;             // by variable: the most that one of its patterns gives it
};

}  // namespace topdag
