#include "cuts/path_flow.h"

#include <algorithm>

namespace topdag {

namespace {

constexpr double tiny_flow = 1e-9;
constexpr double least_step = 1e-6;  // so that no walk goes round in circles
constexpr double unlimited = 1e300;

// Places are variables, then families. From parents to families there is no limit, from families to children there is.
class Flow {
public:
    Flow(int n, const std::vector<FlowFamily>& families, int begin, int end, const Variables& between)
        : n_(n), begin_(begin), end_(end) {
        std::vector<char> is_between(n, 0);
        for (const int v : between) is_between[v] = 1;
        for (const FlowFamily& family : families) {
            if (!is_between[family.child] || family.child == begin) continue;
            Used used{family.child, family.weight, 0.0, {}};
            for (const int p : family.parents)
                if (is_between[p] && p != end) used.parents.push_back({p, 0.0});
            if (!used.parents.empty()) used_.push_back(std::move(used));
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

    Variables reached() const {
        Variables found;
        for (int v = 0; v < n_; ++v)
            if (came_from_[v] >= 0) found.push_back(v);
        return found;
    }

    std::vector<double> through() const {
        std::vector<double> found(n_, 0.0);
        for (const Used& used : used_) found[used.child] += used.flow;
        return found;
    }

private:
    struct Parent {
        int variable;
        double flow;
    };
    struct Used {
        int child;
        double weight;
        double flow;
        std::vector<Parent> parents;

        bool has_parent(int v) const {
            return std::any_of(parents.begin(), parents.end(), [v](const Parent& p) { return p.variable == v; });
        }
        Parent& parent(int v) {
            return *std::find_if(parents.begin(), parents.end(), [v](const Parent& p) { return p.variable == v; });
        }
    };

    double left(int from, int to) {
        if (from < n_) {
            const Used& used = used_[to - n_];
            return used.has_parent(from) ? unlimited : used.flow;  // back from the child
        }
        Used& used = used_[from - n_];
        return to == used.child ? used.weight - used.flow : used.parent(to).flow;
    }

    void add(int from, int to, double flow) {
        if (from < n_) {
            Used& used = used_[to - n_];
            if (used.has_parent(from)) used.parent(from).flow += flow; else used.flow -= flow;
            return;
        }
        Used& used = used_[from - n_];
        if (to == used.child) used.flow += flow; else used.parent(to).flow -= flow;
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
            const bool leads = used.has_parent(v) || (used.child == v && used.flow > tiny_flow);
            if (leads) visit(n_ + static_cast<int>(f), v);
        }
    }

    void from_family(int place) {
        const Used& used = used_[place - n_];
        if (used.weight - used.flow > tiny_flow) visit(used.child, place);
        for (const Parent& parent : used.parents)
            if (parent.flow > tiny_flow) visit(parent.variable, place);
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

PathFlow path_flow(int n, const std::vector<FlowFamily>& families, int begin, int end, const Variables& between,
                   double enough) {
    Flow flow(n, families, begin, end, between);
    PathFlow found;
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
