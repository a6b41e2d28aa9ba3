#include "order_prior/shared_bounds.h"

#include <algorithm>
#include <cmath>

#include "base/exp_of.h"
#include "base/infinity.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "lattice/sweeps.h"
#include "order_prior/closed_sets.h"

namespace topdag {

namespace {

// Families are bounded together when their scores differ by less: then nothing that counts underflows.
constexpr double bucket_nats = 200.0;
// More than all orders together can lose by underflow, as a share of the best order: 30! exp(bucket_nats - 700).
const double least_factor = std::exp(-bucket_nats);
const double lost_share = std::exp(-400.0);
constexpr double margin = 2e-9;  // more than the sums can be off by rounding

TOPDAG_SIMD void lower_to_level(const double* shares, const double* best, double level, std::size_t count,
                                double* part) {
    for (std::size_t i = 0; i < count; ++i) {
        const double lowered = shares[i] * exp_of(level - best[i]);
        part[i] = best[i] >= level ? lowered : 0.0;
    }
}

// part[P] = the share of P, but for families that score `level` in place of those chosen; summed over supersets.
// What holds no family of the bucket scores less than `level` and is left out.
void sum_at_level(const double* shares, const double* best, double level, int bits, double* part) {
    lower_to_level(shares, best, level, n_sets(bits), part);
    sum_over_supersets(part, bits);
}

VarSet all_parents(const std::vector<AllowedFamily>& own) {
    VarSet among = 0;
    for (const AllowedFamily& family : own) among |= family.parents;
    return among;
}

// The best score by subsets of all parents that occur.
void fill_best(const std::vector<AllowedFamily>& own, VarSet among, double* best) {
    std::fill(best, best + n_sets(size_of(among)), minus_infinity);
    const ClosedSets closed(among);
    for (const AllowedFamily& family : own) {
        double& place = best[closed.place(family.parents)];
        place = std::max(place, family.score);
    }
    max_over_subsets(best, size_of(among));
}

}  // namespace

double raised_log(double sum, double scale) { return scale + (std::log(sum + lost_share) + margin); }

SharedBounds::Buffers& SharedBounds::buffers(int worker) {
    Buffers& own = buffers_[worker];
    const std::size_t size = n_sets(sums_.n_variables() - 1);
    if (own.part.size() == 0) own = {BigArray(size), BigArray(size), BigArray(size)};
    return own;
}

AllowedFamilies SharedBounds::families_reaching(const Lattice& lattice, double threshold, bool dominated,
                                                Limits& limits) {
    const int n = sums_.n_variables();
    const std::size_t slots = n_sets(n - 1);
    limits.begin(Phase::bounding, n);
    AllowedFamilies kept(n);
    // Enough to be looked at more closely; a sum below surely does not reach the threshold.
    const double enough = std::exp(threshold - sums_.scale()) * 0.999 - lost_share;
    parallel_for(n, threads_, limits, [&](std::size_t variable, int worker) {
        const auto x = static_cast<int>(variable);
        auto& [shares, local, part] = buffers(worker);
        const double* best = lattice.best_by_slot(x);
        sums_.share_out(x, all_of(n) & ~only(x), shares.data(), worker);
        lattice.scores().fill(x, 0, slots, local.data());
        auto is_dominated = [&](VarSet slot) {
            for (VarSet rest = slot; rest != 0; rest &= rest - 1)
                if (best[slot & ~(rest & -rest)] >= local[slot]) return true;
            return false;
        };
        double top = best[slots - 1];
        while (top > minus_infinity) {
            const double level = top - bucket_nats;
            sum_at_level(shares.data(), best, level, n - 1, part.data());
            double next = minus_infinity;
            for (VarSet slot = 0; slot < slots; ++slot) {
                if (local[slot] > top) continue;
                if (local[slot] < level) {
                    next = std::max(next, local[slot]);
                    continue;
                }
                if (part[slot] * exp_of(local[slot] - top) < enough * least_factor) continue;
                const double most = raised_log(part[slot] * std::exp(local[slot] - level), sums_.scale());
                if (most >= threshold && (dominated || !is_dominated(slot)))
                    kept[x].push_back({with_gap(slot, x), local[slot], most});
            }
            top = next < level ? next : minus_infinity;
        }
        ++limits.done;
    });
    if (limits.stop.load()) return {};
    return kept;
}

void SharedBounds::choose(const AllowedFamilies& families, Limits& limits) {
    chosen_.resize(families.size());
    parallel_for(families.size(), threads_, limits, [&](std::size_t x, int worker) {
        std::vector<VarSet> parents;
        for (const AllowedFamily& family : families[x]) parents.push_back(family.parents);
        if (parents == chosen_[x]) return;
        const BestWithin table{all_parents(families[x]), buffers(worker).best.data()};
        fill_best(families[x], table.among, buffers(worker).best.data());
        sums_.choose(static_cast<int>(x), table, worker);
        chosen_[x] = std::move(parents);
    });
}

void SharedBounds::bound(AllowedFamilies& families, Limits& limits) {
    parallel_for(families.size(), threads_, limits, [&](std::size_t x, int worker) {
        auto& [shares, best, part] = buffers(worker);
        const BestWithin table{all_parents(families[x]), best.data()};
        fill_best(families[x], table.among, best.data());
        sums_.share_out(static_cast<int>(x), table.among, shares.data(), worker);
        bound_from(families[x], table, shares.data(), part.data(), 0.0);
    });
}

bool SharedBounds::tabulate(const AllowedFamilies& families, double share, Limits& limits) {
    std::vector<std::size_t> begins{0};
    for (const auto& own : families) begins.push_back(begins.back() + n_sets(size_of(all_parents(own))));
    const double most = share * tables_of_sets * many_sets(sums_.n_variables());
    if (static_cast<double>(begins.back()) > most) return false;
    best_.resize(begins.back());
    tables_.resize(families.size());
    parallel_for(families.size(), threads_, limits, [&](std::size_t x, int) {
        tables_[x] = {all_parents(families[x]), best_.data() + begins[x]};
        fill_best(families[x], tables_[x].among, best_.data() + begins[x]);
    });
    return !limits.stop.load();
}

void SharedBounds::bound(AllowedFamilies& families, const SparseSums& sparse, Limits& limits) {
    shares_.assign(best_.size(), 0.0);
    std::vector<double*> shares;
    for (const BestWithin& table : tables_) shares.push_back(shares_.data() + (table.best - best_.data()));
    sparse.share_out(shares);
    parallel_for(families.size(), threads_, limits, [&](std::size_t x, int worker) {
        bound_from(families[x], tables_[x], shares[x], buffers(worker).part.data(), sparse.left_out());
    });
}

// Family by family from the best score down, those together that lie close to each other.
void SharedBounds::bound_from(std::vector<AllowedFamily>& own, const BestWithin& table, const double* shares,
                              double* part, double left_out) const {
    std::vector<AllowedFamily*> by_score;
    for (AllowedFamily& family : own) by_score.push_back(&family);
    std::sort(by_score.begin(), by_score.end(), [](auto* a, auto* b) { return a->score > b->score; });
    const ClosedSets closed(table.among);
    for (std::size_t i = 0; i < by_score.size();) {
        const double level = by_score[i]->score - bucket_nats;
        sum_at_level(shares, table.best, level, size_of(table.among), part);
        for (; i < by_score.size() && by_score[i]->score >= level; ++i) {
            AllowedFamily& family = *by_score[i];
            const double sum = part[closed.place(family.parents)] * std::exp(family.score - level);
            family.bound = std::min(family.bound, raised_log(sum + left_out, sums_.scale()));
        }
    }
}

}  // namespace topdag
