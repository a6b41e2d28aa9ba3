#include "cuts/path_flow.h"

#include <algorithm>

namespace topdag {

namespace {

constexpr double tiny_flow = 1e-9;
constexpr double least_step = 1e-6;  // so that no walk goes round in circles
constexpr double unlimited = 1e300;

// Places are variables, then families. From parents to families there is no limit, from families to children there is.
template <class Set>
class Flow {
public:
    Flow(int n, const std::vector<FlowFamily<Set>>& families, int begin, int end, Set between)
        : n_(n), begin_(begin), end_(end) {
        for (const FlowFamily<Set>& family : families) {
            const Set parents = family.parents & between & ~only<Set>(end);
            if (has(between, family.child) && family.child != begin && parents != 0)
                used_.push_back({{family.child, parents, family.weight}, 0.0, std::vector<double>(n, 0.0)});
        }
    }

    // Along a shortest way; 0 when there is none.
    double push() {
        if (!find_way()) return 0.0;
        double most = unlimited;
        for (int at = end_; at != begin_; at = came_from_[at]) most = std::min(most, left(came_from_[at], at));
        for (int at = end_; at != begin_; at = came_from_[at]) add(came_from_[at], at, most);
        return most;
    }

    Set reached() const {
        Set set = 0;
        for (int v = 0; v < n_; ++v)
            if (came_from_[v] >= 0) set |= only<Set>(v);
        return set;
    }

    std::vector<double> through() const {
        std::vector<double> found(n_, 0.0);
        for (const Used& used : used_) found[used.family.child] += used.flow;
        return found;
    }

private:
    struct Used {
        FlowFamily<Set> family;
        double flow;
        std::vector<double> from;  // by parent
    };

    double left(int from, int to) const {
        if (from < n_) {
            const Used& used = used_[to - n_];
            return has(used.family.parents, from) ? unlimited : used.flow;  // back from the child
        }
        const Used& used = used_[from - n_];
        return to == used.family.child ? used.family.weight - used.flow : used.from[to];
    }

    void add(int from, int to, double flow) {
        if (from < n_) {
            Used& used = used_[to - n_];
            if (has(used.family.parents, from)) used.from[from] += flow; else used.flow -= flow;
            return;
        }
        Used& used = used_[from - n_];
        if (to == used.family.child) used.flow += flow; else used.from[to] -= flow;
    }

    bool find_way() {
        came_from_.assign(n_ + used_.size(), -1);
        came_from_[begin_] = begin_;
        waiting_.assign(1, begin_);
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            if (waiting_[i] < n_) from_variable(waiting_[i]); else from_family(waiting_[i]);
            if (came_from_[end_] >= 0) return true;
        }
        return false;
    }

    void from_variable(int v) {
        for (std::size_t f = 0; f < used_.size(); ++f) {
            const Used& used = used_[f];
            const bool leads = has(used.family.parents, v) || (used.family.child == v && used.flow > tiny_flow);
            if (leads) visit(n_ + static_cast<int>(f), v);
        }
    }

    void from_family(int place) {
        const Used& used = used_[place - n_];
        if (used.family.weight - used.flow > tiny_flow) visit(used.family.child, place);
        for (Set rest = used.family.parents; rest != 0; rest &= rest - 1)
            if (used.from[first_of(rest)] > tiny_flow) visit(first_of(rest), place);
    }

    void visit(int place, int from) {
        if (came_from_[place] >= 0) return;
        came_from_[place] = from;
        waiting_.push_back(place);
    }

    int n_, begin_, end_;
    std::vector<Used> used_;
    std::vector<int> came_from_;
    std::vector<int> waiting_;
};

}  // namespace

template <class Set>
PathFlow<Set> path_flow(int n, const std::vector<FlowFamily<Set>>& families, int begin, int end, Set between,
                        double enough) {
    Flow<Set> flow(n, families, begin, end, between);
    PathFlow<Set> found;
    while (found.total < enough) {
        const double pushed = flow.push();
        if (pushed == 0.0) {
            found.reached = flow.reached();
            break;
        }
        found.total += pushed;
    }
    found.through = flow.through();
    return found;
}

template PathFlow<VarSet> path_flow(int, const std::vector<FlowFamily<VarSet>>&, int, int, VarSet, double);
template PathFlow<WideSet> path_flow(int, const std::vector<FlowFamily<WideSet>>&, int, int, WideSet, double);
template PathFlow<BroadSet> path_flow(int, const std::vector<FlowFamily<BroadSet>>&, int, int, BroadSet, double);
template PathFlow<VastSet> path_flow(int, const std::vector<FlowFamily<VastSet>>&, int, int, VastSet, double);

Walks shortest_walks(int n, std::vector<double> lengths) {
    std::vector<int> nexts(lengths.size());
    for (int from = 0; from < n; ++from)
        for (int to = 0; to < n; ++to) {
            double& length = lengths[from * n + to];
            length = from == to ? 0.0 : std::max(length, least_step);
            nexts[from * n + to] = to;
        }
    for (int middle = 0; middle < n; ++middle)
        for (int from = 0; from < n; ++from)
            for (int to = 0; to < n; ++to) {
                const double through = lengths[from * n + middle] + lengths[middle * n + to];
                if (!(through < lengths[from * n + to] - tiny_flow)) continue;
                lengths[from * n + to] = through;
                nexts[from * n + to] = nexts[from * n + middle];
            }
    return {std::move(lengths), std::move(nexts)};
}

}  // namespace topdag
