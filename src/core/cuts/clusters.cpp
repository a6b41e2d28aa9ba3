// clusters.cpp
#include "cuts/clusters.h"

#include <algorithm>

#include "base/parallel.h"
#include "cuts/ancestors.h"

namespace topdag {

std::vector<Variables> circles_of(const Support& support) {
    const int n = static_cast<int>(support.size());
    Ancestors ancestors(n);
    for (int v = 0; v < n; ++v)
        for (const WeightedFamily& family : support[v])
            for (const int p : family.parents) ancestors.add(v, p);
    ancestors.close();
    std::vector<Variables> found;
    std::vector<char> is_seen(n, 0);
    for (int v = 0; v < n; ++v) {
        if (is_seen[v] || !ancestors.has(v, v)) continue;
        Variables circle;
        for (int u = v; u < n; ++u)
            if (ancestors.has(v, u) && ancestors.has(u, v)) circle.push_back(u);
        for (const int u : circle) is_seen[u] = 1;
        found.push_back(std::move(circle));
    }
    return found;
}

namespace {

constexpr double tiny_weight = 1e-9;
constexpr std::size_t pairs_each = 64;  // of a thread, at a time: fewer take less than starting it

struct Pair {
    int u, v;
    const Variables* circle;
    double weight;
};

// Pairs of one circle by how much either leans on the other, strongest first.
std::vector<Pair> leaning_pairs(const Support& support, const std::vector<Variables>& circles) {
    const int n = static_cast<int>(support.size());
    std::vector<double> arc(static_cast<std::size_t>(n) * n, 0.0);
    for (int v = 0; v < n; ++v)
        for (const WeightedFamily& family : support[v])
            for (const int p : family.parents) arc[p * n + v] += family.weight;
    std::vector<Pair> pairs;
    for (const Variables& circle : circles)
        for (auto u = circle.begin(); u != circle.end(); ++u)
            for (auto v = u + 1; v != circle.end(); ++v) {
                const double weight = arc[*u * n + *v] + arc[*v * n + *u];
                if (weight > tiny_weight) pairs.push_back({*u, *v, &circle, weight});
            }
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.weight > b.weight; });
    return pairs;
}

// Clusters that grow variable by variable inside one circle. What each other variable would change is kept up to date,
// so that a step looks only at the families of the variable that joins and at those that have it as a parent.
class Growth {
public:
    Growth(const Support& support, const std::vector<Variables>& circles)
        : own_(support.size()), holding_(support.size()), circle_of_(support.size(), nullptr) {
        for (const Variables& circle : circles)
            for (const int v : circle) circle_of_[v] = &circle;
        for (int v = 0; v < static_cast<int>(support.size()); ++v) {
            double total = 0.0;
            for (const WeightedFamily& family : support[v]) {
                own_[v].push_back(families_.size());
                for (const int p : family.parents) holding_[p].push_back(families_.size());
                families_.push_back({v, family.parents, family.weight});
                total += family.weight;
            }
            alone_.push_back(total);
        }
    }

    // Adds the variable of the circle that helps most until the cluster is violated, and on while that grows: such cuts
    // took half the time of the first ones on lists of 100 to 400 variables. False when it never is violated.
    bool grow(Cluster& cluster, const Variables& circle, double least_violation) {
        begin(cluster, circle);
        while (n_members_ < k_ || weight_ > k_ - least_violation) {
            const int v = best_to_join();
            if (v < 0) return false;
            join(v);
        }
        for (int v = best_to_join(); v >= 0 && change_[v] < -tiny_weight; v = best_to_join()) join(v);
        cluster.members.clear();
        for (const int v : circle)
            if (is_member_[v]) cluster.members.push_back(v);
        return true;
    }

private:
    struct Family {
        int owner;
        Parents parents;
        double weight;
    };

    void begin(const Cluster& cluster, const Variables& circle) {
        k_ = cluster.k;
        circle_ = &circle;
        n_first_ = 0;
        is_member_.assign(alone_.size(), 0);
        n_members_ = 0;
        weight_ = 0.0;
        change_ = alone_;
        is_near_.assign(alone_.size(), 0);
        near_.clear();
        inside_.assign(families_.size(), 0);
        for (const int v : cluster.members) join(v);
    }

    void join(int v) {
        weight_ += change_[v];
        is_member_[v] = 1;
        ++n_members_;
        for (const std::size_t f : own_[v])
            if (inside_[f] == k_ - 1) change_parents(families_[f], -families_[f].weight);
        for (const std::size_t f : holding_[v]) {
            const Family& family = families_[f];
            const int inside = ++inside_[f];
            if (!is_member_[family.owner]) {
                if (inside == k_) change(family.owner, -family.weight);
            } else if (inside == k_) {  // it no longer counts, so no parent can take it away
                change_parents(family, family.weight);
            } else if (inside == k_ - 1) {
                change_parents(family, -family.weight);
            }
        }
    }

    void change_parents(const Family& family, double by) {
        for (const int p : family.parents)
            if (!is_member_[p]) change(p, by);
    }

    void change(int v, double by) {
        change_[v] += by;
        if (is_near_[v]) return;
        is_near_[v] = 1;
        near_.push_back(v);
    }

    // All that are not near change the weight by as much as they weigh alone, which is most: the first stands for them.
    int best_to_join() {
        std::sort(near_.begin(), near_.end());
        std::erase_if(near_, [this](int v) { return is_member_[v]; });
        int best = -1;
        for (const int v : near_)
            if (circle_of_[v] == circle_ && (best < 0 || change_[v] < change_[best] - tiny_weight)) best = v;
        if (best >= 0 && change_[best] < alone_[best] - tiny_weight) return best;
        while (n_first_ < circle_->size() && is_member_[(*circle_)[n_first_]]) ++n_first_;
        return n_first_ < circle_->size() ? (*circle_)[n_first_] : -1;
    }

    std::vector<Family> families_;
    std::vector<std::vector<std::size_t>> own_;      // by variable
    std::vector<std::vector<std::size_t>> holding_;  // by parent
    std::vector<const Variables*> circle_of_;
    std::vector<double> alone_;  // what each variable adds to a cluster it has no parents in
    int k_ = 1;
    const Variables* circle_ = nullptr;
    std::size_t n_first_ = 0;  // so many first ones of the circle are members
    std::vector<char> is_member_;
    int n_members_ = 0;
    double weight_ = 0.0;
    std::vector<char> is_near_;  // whether its change is, or was, another than alone
    std::vector<int> near_;
    std::vector<double> change_;  // of the weight when each other variable joins
    std::vector<int> inside_;     // by family: parents that are members
};

// Depth-first over sets inside a circle that hold a root and none of the roots before it. A set's weight can only fall
// by what undecided variables may still take away, so a branch ends when even that leaves too much.
class ClusterSearch {
public:
    ClusterSearch(const Support& support, int k, const SeparationOptions& options)
        : support_(support), k_(k), options_(options), is_member_(support.size(), 0), is_undecided_(support.size(), 0),
          takes_(support.size()) {}

    std::vector<Cluster> run() {
        for (const Variables& circle : circles_of(support_)) {
            circle_ = &circle;
            for (const int v : circle) is_undecided_[v] = 1;
            for (auto root = circle.begin(); root != circle.end() && goes_on(); ++root) {
                is_undecided_[*root] = 0;
                join(*root);
                extend();
                leave(*root);
            }
            for (const int v : circle) is_undecided_[v] = 0;
        }
        return std::move(found_);
    }

private:
    bool goes_on() const { return steps_ < options_.most_steps && found_.size() < options_.most_cuts; }

    void join(int v) {
        is_member_[v] = 1;
        members_.insert(std::lower_bound(members_.begin(), members_.end(), v), v);
    }
    void leave(int v) {
        is_member_[v] = 0;
        members_.erase(std::lower_bound(members_.begin(), members_.end(), v));
    }

    // The weight of the families that count whatever joins, and the undecided variable that takes most of the rest.
    struct Outlook {
        double weight = 0.0;
        double fixed = 0.0;
        int next = -1;
    };

    Outlook outlook() {
        Outlook seen;
        for (const int v : *circle_) takes_[v] = 0.0;
        for (const int v : members_)
            for (const WeightedFamily& family : support_[v]) {
                const int inside = n_marked(family.parents, is_member_);
                if (inside >= k_) continue;
                seen.weight += family.weight;
                if (inside + n_marked(family.parents, is_undecided_) < k_) {
                    seen.fixed += family.weight;
                    continue;
                }
                for (const int p : family.parents) takes_[p] += family.weight;
            }
        for (const int v : *circle_)
            if (is_undecided_[v] && takes_[v] > 0 && (seen.next < 0 || takes_[v] > takes_[seen.next])) seen.next = v;
        return seen;
    }

    void extend() {
        ++steps_;
        if (!goes_on()) return;
        const Outlook seen = outlook();
        const double enough = k_ - options_.least_violation;
        if (seen.fixed >= enough) return;
        if (seen.weight < enough && static_cast<int>(members_.size()) >= k_) {
            found_.push_back({members_, k_});
            return;
        }
        if (seen.next < 0) return;  // too few members, and none to gain by more
        is_undecided_[seen.next] = 0;
        const std::size_t before = found_.size();
        join(seen.next);
        extend();
        leave(seen.next);
        // One of each root's branch is enough: neighbours of a violated set are found after the next solution.
        if (found_.size() == before) extend();
        is_undecided_[seen.next] = 1;
    }

    const Support& support_;
    const int k_;
    const SeparationOptions& options_;
    const Variables* circle_ = nullptr;
    Variables members_;
    std::vector<char> is_member_, is_undecided_;
    std::vector<double> takes_;  // by undecided variable: the weight that its joining would take away
    std::size_t steps_ = 0;
    std::vector<Cluster> found_;
};

}  // namespace

Support support_of(const ListedFamilies& families, std::span<const double> weights) {
    Support support(families.n_variables());
    for (int v = 0; v < families.n_variables(); ++v)
        for (std::size_t i = families.begin_of(v); i < families.end_of(v); ++i)
            if (weights[i] > tiny_weight) support[v].push_back({families.parents(i), weights[i]});
    return support;
}

std::vector<Cluster> grow_clusters(const Support& support, const SeparationOptions& options, int threads) {
    const std::vector<Variables> circles = circles_of(support);
    const std::vector<Pair> pairs = leaning_pairs(support, circles);
    const std::size_t n_starts = pairs.size() * static_cast<std::size_t>(options.most_k);
    const std::size_t n_workers = std::clamp<std::size_t>(n_starts / pairs_each, 1, static_cast<std::size_t>(threads));
    const std::size_t at_once = n_workers == 1 ? 1 : pairs_each * n_workers;
    std::vector<Growth> growths(n_workers, Growth(support, circles));
    std::vector<Cluster> grown(std::min(at_once, n_starts)), found;
    std::vector<char> is_violated(grown.size());
    Limits unlimited(static_cast<int>(n_workers));
    for (std::size_t begin = 0; begin < n_starts; begin += at_once) {
        const std::size_t size = std::min(at_once, n_starts - begin);
        parallel_for(size, unlimited, [&](std::size_t i, int worker) {
            const Pair& pair = pairs[(begin + i) % pairs.size()];
            grown[i] = {{pair.u, pair.v}, 1 + static_cast<int>((begin + i) / pairs.size())};
            is_violated[i] = growths[worker].grow(grown[i], *pair.circle, options.least_violation);
        });
        for (std::size_t i = 0; i < size; ++i) {
            if (found.size() >= options.most_cuts) return found;
            if (is_violated[i] && std::find(found.begin(), found.end(), grown[i]) == found.end()) found.push_back(grown[i]);
        }
    }
    return found;
}

std::vector<Cluster> search_clusters(const Support& support, int k, const SeparationOptions& options) {
    return ClusterSearch(support, k, options).run();
}

namespace {

// For each variable those that precede it in every network: parents in all its families, and what precedes them.
// False when a variable has no family left or precedes itself.
bool forced_ancestors(const ListedFamilies& families, std::span<const std::uint8_t> allowed, Ancestors& before) {
    const int n = families.n_variables();
    std::vector<std::size_t> n_with(n);  // families, by parent
    for (int v = 0; v < n; ++v) {
        std::size_t n_allowed = 0;
        std::fill(n_with.begin(), n_with.end(), 0);
        for (std::size_t i = families.begin_of(v); i < families.end_of(v); ++i)
            if (allowed[i]) {
                ++n_allowed;
                for (const int p : families.parents(i)) ++n_with[p];
            }
        if (n_allowed == 0) return false;
        for (int p = 0; p < n; ++p)
            if (n_with[p] == n_allowed) before.add(v, p);
    }
    before.close();
    for (int v = 0; v < n; ++v)
        if (before.has(v, v)) return false;
    return true;
}

// Whether some network exists: an order can always be continued by any variable with a family among those placed.
bool has_network(const ListedFamilies& families, std::span<const std::uint8_t> allowed) {
    const int n = families.n_variables();
    std::vector<char> is_placed(n, 0);
    const auto fits = [&](int v) {
        for (std::size_t i = families.begin_of(v); i < families.end_of(v); ++i)
            if (allowed[i] && are_marked(families.parents(i), is_placed)) return true;
        return false;
    };
    int n_placed = 0;
    for (int before = -1; before < n_placed;) {
        before = n_placed;
        for (int v = 0; v < n; ++v)
            if (!is_placed[v] && fits(v)) {
                is_placed[v] = 1;
                ++n_placed;
            }
    }
    return n_placed == n;
}

}  // namespace

bool propagate_orders(const ListedFamilies& families, std::span<std::uint8_t> allowed) {
    const int n = families.n_variables();
    for (bool is_new = true; is_new;) {
        is_new = false;
        Ancestors before(n);
        if (!forced_ancestors(families, allowed, before)) return false;
        for (int v = 0; v < n; ++v)
            for (std::size_t i = families.begin_of(v); i < families.end_of(v); ++i) {
                if (!allowed[i]) continue;
                const Parents parents = families.parents(i);
                if (std::none_of(parents.begin(), parents.end(), [&](int p) { return before.has(p, v); })) continue;
                allowed[i] = 0;
                is_new = true;
            }
    }
    return has_network(families, allowed);
}

}  // namespace topdag
