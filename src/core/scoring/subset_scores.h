// subset_scores.h: whether some listed family has its parents within a set and scores more than a bound.
//
// A tree of parent sets by their members, highest first: below a node stand the sets that begin with its members. The best
// score below a node tells whether it is worth looking there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/infinity.h"
#include "base/var_set.h"
#include "scoring/pruning_question.h"

namespace topdag {

template <class Set>
class SubsetScores {
public:
    SubsetScores() = default;

    // Of families of one variable, by growing parents.
    explicit SubsetScores(const std::vector<KeptFamily<Set>>& families) {
        if (families.empty()) return;
        std::vector<Range> ranges{{0, static_cast<std::uint32_t>(families.size()), Set{0}}};
        nodes_.resize(1);
        for (std::size_t at = 0; at < nodes_.size(); ++at) add_below(at, families, ranges);
        for (std::size_t at = nodes_.size(); at-- > 0;) {
            Node& node = nodes_[at];
            for (int i = 0; i < size_of(node.next); ++i) node.most = std::max(node.most, nodes_[node.first + i].most);
        }
    }

    // Whether some of them, with parents in `parents`, scores more than the bound.
    bool has_better(Set parents, double bound) const { return !nodes_.empty() && is_better_below(nodes_[0], parents, bound); }

    double bytes() const { return sizeof(Node) * static_cast<double>(nodes_.size()); }

private:
    struct Node {
        Set next = 0;             // the members that follow
        std::uint32_t first = 0;  // where the node of the lowest of them stands; the others stand behind it
        double own = minus_infinity;   // of the family with just these members
        double most = minus_infinity;  // of all that begin so
    };
    // Families that begin with the members `shared`.
    struct Range { std::uint32_t begin, end; Set shared; };

    void add_below(std::size_t at, const std::vector<KeptFamily<Set>>& families, std::vector<Range>& ranges) {
        const Range range = ranges[at];
        std::uint32_t i = range.begin;
        if (families[i].parents == range.shared) nodes_[at].own = nodes_[at].most = families[i++].score;
        nodes_[at].first = static_cast<std::uint32_t>(nodes_.size());
        while (i < range.end) {
            const int member = last_of(families[i].parents & ~range.shared);
            const Set shared = range.shared | only<Set>(member);
            const std::uint32_t begin = i;
            while (i < range.end && last_of(families[i].parents & ~range.shared) == member) ++i;
            nodes_[at].next |= only<Set>(member);
            nodes_.emplace_back();
            ranges.push_back({begin, i, shared});
        }
    }

    bool is_better_below(const Node& node, Set parents, double bound) const {
        if (!(node.most > bound)) return false;
        if (node.own > bound) return true;
        for (Set rest = node.next & parents; rest != 0; rest &= rest - 1) {
            const int earlier = size_of(node.next & before_first(rest));
            if (is_better_below(nodes_[node.first + earlier], parents, bound)) return true;
        }
        return false;
    }

    std::vector<Node> nodes_;
};

}  // namespace topdag
