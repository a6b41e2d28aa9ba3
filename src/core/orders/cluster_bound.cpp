// cluster_bound.cpp
#include "orders/cluster_bound.h"

#include <cmath>

namespace topdag {

namespace {

// A step so fine that multipliers lose little, and so coarse that every sum the bound makes is exact. Shares only rise
// when clusters close, so none is ever lower than with all of them open.
double grid_step(const Candidates& candidates, const std::vector<WeightedCluster>& clusters) {
    double costs = 1.0, open = 0.0, shares = 0.0, largest = 0.0;
    for (const WeightedCluster& cluster : clusters) open += cluster.multiplier * cluster.k;
    for (int v = 0; v < candidates.n_variables(); ++v) {
        double least = 0.0, own = 0.0;
        for (const WeightedCluster& cluster : clusters)
            if (has(cluster.members, v)) own += cluster.multiplier;
        for (const Candidate& family : candidates.of(v)) {
            if (family.cost - own >= least) break;
            double reduced = family.cost;
            for (const WeightedCluster& cluster : clusters)
                if (has(cluster.members, v) && size_of(family.parents & cluster.members) < cluster.k)
                    reduced -= cluster.multiplier;
            least = std::min(least, reduced);
        }
        costs += candidates.of(v).back().cost;
        shares -= least;
        largest = std::max(largest, own);
    }
    return std::ldexp(1.0, std::ilogb(std::max({costs, open, shares, largest})) - 51);
}

template <class Each>
void each_bit(const std::uint64_t* words, std::size_t n_words, Each&& each) {
    for (std::size_t w = 0; w < n_words; ++w)
        for (std::uint64_t rest = words[w]; rest != 0; rest &= rest - 1)
            each(64 * w + static_cast<std::size_t>(std::countr_zero(rest)));
}

bool is_within(const std::uint64_t* inner, const std::uint64_t* outer, std::size_t n_words) {
    for (std::size_t w = 0; w < n_words; ++w)
        if ((inner[w] & ~outer[w]) != 0) return false;
    return true;
}

}  // namespace

ClusterBound::ClusterBound(const Candidates& candidates, std::vector<WeightedCluster> clusters)
    : n_(candidates.n_variables()), shares_(n_) {
    const double step = grid_step(candidates, clusters);
    for (WeightedCluster& cluster : clusters) {
        cluster.multiplier = std::floor(cluster.multiplier / step) * step;
        if (cluster.multiplier > 0.0) clusters_.push_back(cluster);
    }
    const auto late = std::stable_partition(clusters_.begin(), clusters_.end(),
                                            [](const WeightedCluster& cluster) { return cluster.k == 1; });
    n_early_ = static_cast<std::size_t>(late - clusters_.begin());
    for (int v = 0; v < n_; ++v) {
        fill_share(v, candidates);
        shares_[v].begin = words_;
        words_ += shares_[v].words;
        most_words_ = std::max(most_words_, shares_[v].words);
    }
}

void ClusterBound::fill_share(int v, const Candidates& candidates) {
    Share& share = shares_[v];
    std::vector<WeightedCluster> own;
    for (const WeightedCluster& cluster : clusters_)
        if (has(cluster.members, v)) own.push_back(cluster);
    share.words = (own.size() + 63) / 64;
    share.closed_by.assign(share.words * n_, 0);
    for (std::size_t bit = 0; bit < own.size(); ++bit) {
        const VarSet others = own[bit].members & ~only(v);
        share.multipliers.push_back(own[bit].multiplier);
        share.total += own[bit].multiplier;
        share.neighbours |= others;
        if (own[bit].k > 1) share.late.push_back({own[bit].members, own[bit].k, static_cast<int>(bit)});
        for (VarSet rest = own[bit].k > 1 ? 0 : others; rest != 0; rest &= rest - 1)
            share.closed_by[first_of(rest) * share.words + bit / 64] |= only(bit % 64);
    }

    std::vector<Word> missed(share.words);
    for (const Candidate& family : candidates.of(v)) {
        std::fill(missed.begin(), missed.end(), 0);
        double reduced = family.cost;
        for (std::size_t bit = 0; bit < own.size(); ++bit)
            if (size_of(family.parents & own[bit].members) < own[bit].k) {
                missed[bit / 64] |= only(bit % 64);
                reduced -= own[bit].multiplier;
            }
        const bool is_needed = std::none_of(share.by_cost.begin(), share.by_cost.end(), [&](const Family& cheaper) {
            return is_within(missed.data(), share.missed.data() + cheaper.missed, share.words);
        });
        if (!is_needed) continue;
        share.by_cost.push_back({family.cost, share.missed.size()});
        share.by_reduced_cost.push_back({reduced, share.missed.size()});
        share.missed.insert(share.missed.end(), missed.begin(), missed.end());
    }
    std::stable_sort(share.by_reduced_cost.begin(), share.by_reduced_cost.end(),
                     [](const Family& a, const Family& b) { return a.value < b.value; });
}

// The clusters of a variable that are closed when these are placed.
void ClusterBound::close(const Share& share, VarSet placed, Word* closed) const {
    std::fill(closed, closed + share.words, 0);
    for (VarSet rest = placed & share.neighbours; rest != 0; rest &= rest - 1) {
        const Word* by = share.closed_by.data() + first_of(rest) * share.words;
        for (std::size_t w = 0; w < share.words; ++w) closed[w] |= by[w];
    }
    for (const LateCluster& late : share.late)
        if (size_of(late.members & placed) >= late.k) closed[late.bit / 64] |= only(late.bit % 64);
}

// The same with x placed too; false when nothing changes.
bool ClusterBound::close_more(const Share& share, VarSet placed, int x, const Word* closed, Word* more) const {
    const Word* by = share.closed_by.data() + x * share.words;
    bool changes = false;
    for (std::size_t w = 0; w < share.words; ++w) {
        more[w] = closed[w] | by[w];
        changes |= more[w] != closed[w];
    }
    for (const LateCluster& late : share.late)
        if (has(late.members, x) && size_of(late.members & placed) + 1 == late.k) {
            more[late.bit / 64] |= only(late.bit % 64);
            changes = true;
        }
    return changes;
}

double ClusterBound::open_multipliers(const Share& share, const Word* closed) const {
    double open = share.total;
    each_bit(closed, share.words, [&](std::size_t bit) { open -= share.multipliers[bit]; });
    return open;
}

// The least cost less missed open multipliers. Seen from the reduced cost, closed clusters only add.
double ClusterBound::least(const Share& share, const Word* closed) const {
    double least = 0.0;  // the best family costs nothing
    for (const Family& family : share.by_reduced_cost) {
        double value = family.value;
        if (value >= least) break;
        const Word* missed = share.missed.data() + family.missed;
        for (std::size_t w = 0; w < share.words; ++w)
            for (Word rest = missed[w] & closed[w]; rest != 0; rest &= rest - 1)
                value += share.multipliers[64 * w + std::countr_zero(rest)];
        least = std::min(least, value);
    }
    return least;
}

double ClusterBound::open_clusters(VarSet placed) const {
    double open = 0.0;
    for (std::size_t i = 0; i < n_early_; ++i)
        if ((clusters_[i].members & placed) == 0) open += clusters_[i].multiplier;
    for (std::size_t i = n_early_; i < clusters_.size(); ++i)
        open += clusters_[i].multiplier * std::max(0, clusters_[i].k - size_of(clusters_[i].members & placed));
    return open;
}

double ClusterBound::at(VarSet placed) const {
    thread_local std::vector<Word> closed;
    closed.resize(most_words_);
    double total = open_clusters(placed);
    for (int v = 0; v < n_; ++v) {
        if (has(placed, v) || shares_[v].words == 0) continue;
        close(shares_[v], placed, closed.data());
        total += least(shares_[v], closed.data());
    }
    return std::max(0.0, total);
}

// Placing x takes its share away, and its open clusters' multipliers once; only those change their share with whom x
// closes a cluster, and theirs only rise.
void ClusterBound::after_each(VarSet placed, VarSet wanted, double* after, const double* enough) const {
    if (wanted == 0) return;
    thread_local std::vector<Word> scratch;
    scratch.resize(words_ + most_words_);
    Word* more = scratch.data() + words_;
    double shares[64];
    double total = open_clusters(placed);
    const VarSet others = all_of(n_) & ~placed;
    for (VarSet rest = others; rest != 0; rest &= rest - 1) {
        const int v = first_of(rest);
        close(shares_[v], placed, scratch.data() + shares_[v].begin);
        shares[v] = least(shares_[v], scratch.data() + shares_[v].begin);
        total += shares[v];
    }
    for (VarSet rest = wanted; rest != 0; rest &= rest - 1) {
        const int x = first_of(rest);
        double value = total - shares[x] - open_multipliers(shares_[x], scratch.data() + shares_[x].begin);
        const double high = enough == nullptr ? infinity : enough[x];
        for (VarSet rising = shares_[x].neighbours & others; rising != 0 && value <= high; rising &= rising - 1) {
            const int v = first_of(rising);
            if (close_more(shares_[v], placed, x, scratch.data() + shares_[v].begin, more))
                value += least(shares_[v], more) - shares[v];
        }
        after[x] = std::max(0.0, value);
    }
}

}  // namespace topdag
