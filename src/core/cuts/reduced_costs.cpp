// reduced_costs.cpp
#include "cuts/reduced_costs.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/infinity.h"
#include "base/parallel.h"

namespace topdag {

ReducedCosts above_cheapest(const ListedFamilies& families, std::span<const std::uint8_t> allowed,
                            std::vector<double> paid, long double given_back) {
    long double bound = given_back;  // parts of the sum may be as many times larger as there are variables
    for (int v = 0; v < families.n_variables(); ++v) {
        double least = infinity;
        for (std::size_t i = families.begin_of(v); i < families.end_of(v); ++i)
            if (allowed[i]) least = std::min(least, paid[i]);
        bound += least;
        if (least == infinity) continue;
        for (std::size_t i = families.begin_of(v); i < families.end_of(v); ++i) paid[i] -= least;
    }
    return {static_cast<double>(bound), std::move(paid)};
}

namespace {

constexpr std::size_t too_few_to_share = 1'000;  // with fewer, starting threads takes longer than it saves

// What the families of one variable pay: the multipliers of all clusters that have it as a member, and at least k of the
// family's parents. Clusters of one k stand side by side as bits, so that a family looks at 64 of them at a time.
class Payments {
public:
    Payments(int n, int v, const std::vector<Cluster>& clusters, std::span<const double> multipliers) {
        for (std::size_t c = 0; c < clusters.size(); ++c) {
            const Cluster& cluster = clusters[c];
            if (multipliers[c] <= 0 || !std::binary_search(cluster.members.begin(), cluster.members.end(), v)) continue;
            Group& group = with_place(cluster.k, n);
            const std::uint64_t bit = only(group.size);
            for (const int member : cluster.members) group.holding[member] |= bit;
            std::array<double, bits_each>& sums = group.multipliers[group.size / bits_each];
            sums[group.size++ % bits_each] = multipliers[c];
        }
        for (Group& group : groups_) group.add_up();
    }

    double of(Parents parents) const {
        double total = 0.0;
        for (const Group& group : groups_)
            if (static_cast<int>(parents.size()) >= group.k) total += group.of(parents);
        return total;
    }

private:
    static constexpr int bits_each = 8;

    struct Group {
        explicit Group(int its_k, int n) : k(its_k), holding(n, 0), reached(its_k + 1, 0) {
            for (auto& some : multipliers) some.fill(0.0);
        }

        void add_up() {
            for (int part = 0; part < 64 / bits_each; ++part) {
                sums[part][0] = 0.0;
                for (unsigned set = 1; set < sums[part].size(); ++set)
                    sums[part][set] = sums[part][set & (set - 1)] + multipliers[part][std::countr_zero(set)];
            }
        }

        double of(Parents parents) const {
            std::uint64_t with_k = k == 1 ? any(parents) : at_least_k(parents);
            double total = 0.0;
            for (int part = 0; with_k != 0; ++part, with_k >>= bits_each) total += sums[part][with_k % 256];
            return total;
        }

        std::uint64_t any(Parents parents) const {
            std::uint64_t found = 0;
            for (const int p : parents) found |= holding[p];
            return found;
        }

        std::uint64_t at_least_k(Parents parents) const {
            std::fill(reached.begin(), reached.end(), 0);
            reached[0] = ~std::uint64_t{0};
            for (const int p : parents)
                for (int j = k; j > 0; --j) reached[j] |= reached[j - 1] & holding[p];
            return reached[k];
        }

        int k;
        int size = 0;
        std::vector<std::uint64_t> holding;  // by variable: the clusters it is in
        std::array<std::array<double, bits_each>, 64 / bits_each> multipliers;
        std::array<std::array<double, 1 << bits_each>, 64 / bits_each> sums;  // by set of clusters
        mutable std::vector<std::uint64_t> reached;  // by j: the clusters with at least j of the parents seen so far
    };

    Group& with_place(int k, int n) {
        for (Group& group : groups_)
            if (group.k == k && group.size < 64) return group;
        return groups_.emplace_back(k, n);
    }

    std::vector<Group> groups_;
};

}  // namespace

long double pay_clusters(const ListedFamilies& families, const std::vector<Cluster>& clusters,
                         std::span<const double> multipliers, std::span<double> costs, int threads) {
    const int n = families.n_variables();
    Limits limits;
    parallel_for(n, costs.size() < too_few_to_share ? 1 : threads, limits, [&](std::size_t v, int) {
        const Payments payments(n, static_cast<int>(v), clusters, multipliers);
        for (std::size_t i = families.begin_of(v); i < families.end_of(v); ++i)
            costs[i] += payments.of(families.parents(i));
    });
    long double given_back = 0.0L;
    for (std::size_t c = 0; c < clusters.size(); ++c)
        if (multipliers[c] > 0)
            given_back -= multipliers[c] * static_cast<long double>(clusters[c].members.size() - clusters[c].k);
    return given_back;
}

}  // namespace topdag
