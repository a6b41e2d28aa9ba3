// clusters.cpp
#include "cuts/clusters.h"

#include <algorithm>

namespace topdag {

template <class Set>
std::vector<Set> circles_of(const SupportOf<Set>& support) {
    const int n = static_cast<int>(support.size());
    std::vector<Set> before(n, 0);
    for (int v = 0; v < n; ++v)
        for (const WeightedFamilyOf<Set>& family : support[v]) before[v] |= family.parents;
    for (int middle = 0; middle < n; ++middle)
        for (int v = 0; v < n; ++v)
            if (has(before[v], middle)) before[v] |= before[middle];
    std::vector<Set> found;
    Set seen = 0;
    for (int v = 0; v < n; ++v) {
        if (has(seen, v) || !has(before[v], v)) continue;
        Set circle = 0;
        for (Set rest = before[v]; rest; rest &= rest - 1)
            if (has(before[first_of(rest)], v)) circle |= only<Set>(first_of(rest));
        found.push_back(circle);
        seen |= circle;
    }
    return found;
}

namespace {

constexpr double tiny_weight = 1e-9;

template <class Set>
struct PairOf {
    int u, v;
    Set circle;
    double weight;
};

// Pairs of one circle by how much either leans on the other, strongest first.
template <class Set>
std::vector<PairOf<Set>> leaning_pairs(const SupportOf<Set>& support) {
    const int n = static_cast<int>(support.size());
    std::vector<double> arc(static_cast<std::size_t>(n) * n, 0.0);
    for (int v = 0; v < n; ++v)
        for (const WeightedFamilyOf<Set>& family : support[v])
            for (Set rest = family.parents; rest; rest &= rest - 1) arc[first_of(rest) * n + v] += family.weight;
    std::vector<PairOf<Set>> pairs;
    for (const Set& circle : circles_of(support))
        for (Set some = circle; some; some &= some - 1)
            for (Set others = some & (some - 1); others; others &= others - 1) {
                const int u = first_of(some), v = first_of(others);
                const double weight = arc[u * n + v] + arc[v * n + u];
                if (weight > tiny_weight) pairs.push_back({u, v, circle, weight});
            }
    std::stable_sort(pairs.begin(), pairs.end(), [](const PairOf<Set>& a, const PairOf<Set>& b) { return a.weight > b.weight; });
    return pairs;
}

// Clusters that grow variable by variable. What each other variable would change is kept up to date, so that a step looks
// only at the families of the variable that joins and at those that have it as a parent.
template <class Set>
class Growth {
public:
    explicit Growth(const SupportOf<Set>& support) : own_(support.size()), holding_(support.size()) {
        for (int v = 0; v < static_cast<int>(support.size()); ++v) {
            double total = 0.0;
            for (const WeightedFamilyOf<Set>& family : support[v]) {
                own_[v].push_back(families_.size());
                const std::size_t first = parents_.size();
                for (Set rest = family.parents; rest; rest &= rest - 1) parents_.push_back(first_of(rest));
                for (std::size_t i = first; i < parents_.size(); ++i)
                    holding_[parents_[i]].push_back(families_.size());
                families_.push_back({v, first, parents_.size(), family.weight});
                total += family.weight;
            }
            alone_.push_back(total);
        }
    }

    // Adds the variable of the circle that helps most until the cluster is violated, and on while that grows: such cuts
    // took half the time of the first ones on lists of 100 to 400 variables. False when it never is violated.
    bool grow(ClusterOf<Set>& cluster, const Set& circle, double least_violation) {
        begin(cluster);
        while (n_members_ < k_ || weight_ > k_ - least_violation) {
            const int v = best_to_join(circle);
            if (v < 0) return false;
            join(v);
        }
        for (int v = best_to_join(circle); v >= 0 && change_[v] < -tiny_weight; v = best_to_join(circle)) join(v);
        cluster.members = members_;
        return true;
    }

private:
    struct Family {
        int owner;
        std::size_t begin, end;  // of its parents
        double weight;
    };

    void begin(const ClusterOf<Set>& cluster) {
        k_ = cluster.k;
        members_ = 0;
        n_members_ = 0;
        weight_ = 0.0;
        change_ = alone_;
        is_near_.assign(alone_.size(), 0);
        near_.clear();
        inside_.assign(families_.size(), 0);
        for (Set rest = cluster.members; rest; rest &= rest - 1) join(first_of(rest));
    }

    void join(int v) {
        weight_ += change_[v];
        members_ |= only<Set>(v);
        ++n_members_;
        for (const std::size_t f : own_[v])
            if (inside_[f] == k_ - 1) change_parents(families_[f], -families_[f].weight);
        for (const std::size_t f : holding_[v]) {
            const Family& family = families_[f];
            const int inside = ++inside_[f];
            if (!has(members_, family.owner)) {
                if (inside == k_) change(family.owner, -family.weight);
            } else if (inside == k_) {  // it no longer counts, so no parent can take it away
                change_parents(family, family.weight);
            } else if (inside == k_ - 1) {
                change_parents(family, -family.weight);
            }
        }
    }

    void change_parents(const Family& family, double by) {
        for (std::size_t i = family.begin; i < family.end; ++i)
            if (!has(members_, parents_[i])) change(parents_[i], by);
    }

    void change(int v, double by) {
        change_[v] += by;
        if (is_near_[v]) return;
        is_near_[v] = 1;
        near_.push_back(v);
    }

    // All that are not near change the weight by as much as they weigh alone, which is most: the first stands for them.
    int best_to_join(const Set& circle) {
        std::sort(near_.begin(), near_.end());
        std::erase_if(near_, [this](int v) { return has(members_, v); });
        int best = -1;
        for (const int v : near_)
            if (has(circle, v) && (best < 0 || change_[v] < change_[best] - tiny_weight)) best = v;
        if (best >= 0 && change_[best] < alone_[best] - tiny_weight) return best;
        const Set others = circle & ~members_;
        return others ? first_of(others) : -1;
    }

    std::vector<Family> families_;
    std::vector<int> parents_;
    std::vector<std::vector<std::size_t>> own_;      // by variable
    std::vector<std::vector<std::size_t>> holding_;  // by parent
    std::vector<double> alone_;                      // what each variable adds to a cluster it has no parents in
    int k_ = 1;
    Set members_ = 0;
    int n_members_ = 0;
    double weight_ = 0.0;
    std::vector<char> is_near_;  // whether its change is, or was, another than alone
    std::vector<int> near_;
    std::vector<double> change_;  // of the weight when each other variable joins
    std::vector<int> inside_;     // by family: parents that are members
};

template <class Set>
bool add_new(std::vector<ClusterOf<Set>>& found, const ClusterOf<Set>& cluster) {
    if (std::find(found.begin(), found.end(), cluster) != found.end()) return false;
    found.push_back(cluster);
    return true;
}

// Depth-first over sets inside a circle that hold a root and none of the roots before it. A set's weight can only fall
// by what undecided variables may still take away, so a branch ends when even that leaves too much.
template <class Set>
class ClusterSearch {
public:
    ClusterSearch(const SupportOf<Set>& support, int k, const SeparationOptions& options, Limits& limits)
        : support_(support), k_(k), options_(options), limits_(limits), takes_(support.size()) {}

    SearchedClustersOf<Set> run() {
        for (const Set& circle : circles_of(support_))
            for (Set undecided = circle; undecided && goes_on();) {
                const int root = first_of(undecided);
                undecided &= ~only<Set>(root);
                extend(only<Set>(root), undecided);
            }
        return {std::move(found_), steps_ < options_.most_steps && !limits_.stop.load()};
    }

private:
    bool goes_on() {
        if (steps_ >= options_.most_steps || found_.size() >= options_.most_cuts) return false;
        return !Limits::looks_at(steps_, 1024) || !limits_.reached();
    }

    // The weight of the families that count whatever joins, and the undecided variable that takes most of the rest.
    struct Outlook {
        double weight = 0.0;
        double fixed = 0.0;
        int next = -1;
    };

    Outlook outlook(const Set& members, const Set& undecided) {
        Outlook seen;
        std::vector<double>& takes = takes_;
        std::fill(takes.begin(), takes.end(), 0.0);
        for (Set rest = members; rest; rest &= rest - 1)
            for (const WeightedFamilyOf<Set>& family : support_[first_of(rest)]) {
                const int inside = size_of(family.parents & members);
                if (inside >= k_) continue;
                seen.weight += family.weight;
                const Set open = family.parents & undecided;
                if (inside + size_of(open) < k_) {
                    seen.fixed += family.weight;
                    continue;
                }
                for (Set other = open; other; other &= other - 1) takes[first_of(other)] += family.weight;
            }
        for (Set rest = undecided; rest; rest &= rest - 1) {
            const int v = first_of(rest);
            if (takes[v] > 0 && (seen.next < 0 || takes[v] > takes[seen.next])) seen.next = v;
        }
        return seen;
    }

    void extend(Set members, Set undecided) {
        ++steps_;
        if (!goes_on()) return;
        const Outlook seen = outlook(members, undecided);
        const double enough = k_ - options_.least_violation;
        if (seen.fixed >= enough) return;
        if (seen.weight < enough && size_of(members) >= k_) {
            found_.push_back({members, k_});
            return;
        }
        if (seen.next < 0) return;  // too few members, and none to gain by more
        undecided &= ~only<Set>(seen.next);
        const std::size_t before = found_.size();
        extend(members | only<Set>(seen.next), undecided);
        // One of each root's branch is enough: neighbours of a violated set are found after the next solution.
        if (found_.size() == before) extend(members, undecided);
    }

    const SupportOf<Set>& support_;
    const int k_;
    const SeparationOptions& options_;
    Limits& limits_;
    std::size_t steps_ = 0;
    std::vector<double> takes_;  // by undecided variable: the weight that its joining would take away
    std::vector<ClusterOf<Set>> found_;
};

}  // namespace

template <class Set>
SupportOf<Set> support_of(const FamilyViewOf<Set>& families, std::span<const double> weights) {
    SupportOf<Set> support(families.n_variables());
    for (int v = 0; v < families.n_variables(); ++v)
        for (std::int64_t i = families.offsets[v]; i < families.offsets[v + 1]; ++i)
            if (weights[i] > tiny_weight) support[v].push_back({families.parents[i], weights[i]});
    return support;
}

template <class Set>
double cluster_weight(const ClusterOf<Set>& cluster, const SupportOf<Set>& support) {
    double weight = 0.0;
    for (Set rest = cluster.members; rest; rest &= rest - 1)
        for (const WeightedFamilyOf<Set>& family : support[first_of(rest)])
            if (size_of(family.parents & cluster.members) < cluster.k) weight += family.weight;
    return weight;
}

template <class Set>
std::vector<ClusterOf<Set>> grow_clusters(const SupportOf<Set>& support, const SeparationOptions& options) {
    std::vector<ClusterOf<Set>> found;
    Growth<Set> growth(support);
    const std::vector<PairOf<Set>> pairs = leaning_pairs(support);
    for (int k = 1; k <= options.most_k; ++k)
        for (const PairOf<Set>& pair : pairs) {
            if (found.size() >= options.most_cuts) return found;
            ClusterOf<Set> cluster{only<Set>(pair.u) | only<Set>(pair.v), k};
            if (growth.grow(cluster, pair.circle, options.least_violation)) add_new(found, cluster);
        }
    return found;
}

template <class Set>
SearchedClustersOf<Set> search_clusters(const SupportOf<Set>& support, int k, const SeparationOptions& options,
                                        Limits& limits) {
    return ClusterSearch<Set>(support, k, options, limits).run();
}

namespace {

// For each variable those that precede it in every network: parents in all its families, and what precedes them.
// False when a variable has no family left or precedes itself.
template <class Set>
bool forced_ancestors(const FamilyViewOf<Set>& families, std::span<const std::uint8_t> allowed,
                      std::vector<Set>& before) {
    const int n = families.n_variables();
    for (int v = 0; v < n; ++v) {
        Set common = ~Set{0};
        bool is_empty = true;
        for (std::int64_t i = families.offsets[v]; i < families.offsets[v + 1]; ++i)
            if (allowed[i]) {
                common &= families.parents[i];
                is_empty = false;
            }
        if (is_empty) return false;
        before[v] = common;
    }
    for (int middle = 0; middle < n; ++middle)
        for (int v = 0; v < n; ++v)
            if (has(before[v], middle)) before[v] |= before[middle];
    for (int v = 0; v < n; ++v)
        if (has(before[v], v)) return false;
    return true;
}

// Whether some network exists: an order can always be continued by any variable with a family among those placed.
template <class Set>
bool has_network(const FamilyViewOf<Set>& families, std::span<const std::uint8_t> allowed) {
    const int n = families.n_variables();
    Set placed = 0;
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (int v = 0; v < n; ++v) {
            if (has(placed, v)) continue;
            for (std::int64_t i = families.offsets[v]; i < families.offsets[v + 1]; ++i)
                if (allowed[i] && is_subset(families.parents[i], placed)) {
                    placed |= only<Set>(v);
                    is_new = true;
                    break;
                }
        }
    }
    return size_of(placed) == n;
}

}  // namespace

template <class Set>
bool propagate_orders(const FamilyViewOf<Set>& families, std::span<std::uint8_t> allowed) {
    const int n = families.n_variables();
    std::vector<Set> before(n);
    for (bool is_new = true; is_new;) {
        is_new = false;
        if (!forced_ancestors(families, allowed, before)) return false;
        for (int v = 0; v < n; ++v) {
            Set after = 0;
            for (int w = 0; w < n; ++w)
                if (has(before[w], v)) after |= only<Set>(w);
            for (std::int64_t i = families.offsets[v]; i < families.offsets[v + 1]; ++i)
                if (allowed[i] && (families.parents[i] & after)) {
                    allowed[i] = 0;
                    is_new = true;
                }
        }
    }
    return has_network(families, allowed);
}

template SupportOf<VarSet> support_of(const FamilyViewOf<VarSet>&, std::span<const double>);
template std::vector<VarSet> circles_of(const SupportOf<VarSet>&);
template std::vector<ClusterOf<VarSet>> grow_clusters(const SupportOf<VarSet>&, const SeparationOptions&);
template SearchedClustersOf<VarSet> search_clusters(const SupportOf<VarSet>&, int, const SeparationOptions&, Limits&);
template double cluster_weight(const ClusterOf<VarSet>&, const SupportOf<VarSet>&);
template bool propagate_orders(const FamilyViewOf<VarSet>&, std::span<std::uint8_t>);

template SupportOf<WideSet> support_of(const FamilyViewOf<WideSet>&, std::span<const double>);
template std::vector<WideSet> circles_of(const SupportOf<WideSet>&);
template std::vector<ClusterOf<WideSet>> grow_clusters(const SupportOf<WideSet>&, const SeparationOptions&);
template SearchedClustersOf<WideSet> search_clusters(const SupportOf<WideSet>&, int, const SeparationOptions&, Limits&);
template double cluster_weight(const ClusterOf<WideSet>&, const SupportOf<WideSet>&);
template bool propagate_orders(const FamilyViewOf<WideSet>&, std::span<std::uint8_t>);

template SupportOf<BroadSet> support_of(const FamilyViewOf<BroadSet>&, std::span<const double>);
template std::vector<BroadSet> circles_of(const SupportOf<BroadSet>&);
template std::vector<ClusterOf<BroadSet>> grow_clusters(const SupportOf<BroadSet>&, const SeparationOptions&);
template SearchedClustersOf<BroadSet> search_clusters(const SupportOf<BroadSet>&, int, const SeparationOptions&, Limits&);
template double cluster_weight(const ClusterOf<BroadSet>&, const SupportOf<BroadSet>&);
template bool propagate_orders(const FamilyViewOf<BroadSet>&, std::span<std::uint8_t>);

template SupportOf<VastSet> support_of(const FamilyViewOf<VastSet>&, std::span<const double>);
template std::vector<VastSet> circles_of(const SupportOf<VastSet>&);
template std::vector<ClusterOf<VastSet>> grow_clusters(const SupportOf<VastSet>&, const SeparationOptions&);
template SearchedClustersOf<VastSet> search_clusters(const SupportOf<VastSet>&, int, const SeparationOptions&, Limits&);
template double cluster_weight(const ClusterOf<VastSet>&, const SupportOf<VastSet>&);
template bool propagate_orders(const FamilyViewOf<VastSet>&, std::span<std::uint8_t>);

}  // namespace topdag
