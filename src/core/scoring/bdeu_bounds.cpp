#include "scoring/bdeu_bounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "counting/cell_function.h"

namespace topdag {

namespace {

constexpr std::uint64_t longest_slope = 1 << 14;  // terms; heavier atoms do without the bound that needs the slope

double log_likelihood(const std::vector<std::uint64_t>& counts) {
    const double total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
    double sum = 0.0;
    for (std::uint64_t count : counts) sum += static_cast<double>(count) * std::log(static_cast<double>(count) / total);
    return sum;
}

// The second and later states of an atom meet a cell that has seen the states before them: the factors by which they
// are less probable than 1/r, at least, in logs.
double later_states(const std::vector<std::uint64_t>& counts, double prior) {
    double before = 0.0;
    double sum = 0.0;
    for (std::size_t k = 0; k + 1 < counts.size(); ++k) {
        before += static_cast<double>(counts[k]);
        sum -= std::log1p(before / prior);
    }
    return sum;
}

double dirichlet(const std::vector<std::uint64_t>& counts, int states, double prior) {
    std::uint64_t total = 0;
    double sum = 0.0;
    for (std::uint64_t count : counts) {
        sum += log_rising(prior / states, count);
        total += count;
    }
    return sum - log_rising(prior, total);
}

// The derivative of the above by the prior; where it is not negative, smaller priors score less.
double dirichlet_slope(const std::vector<std::uint64_t>& counts, int states, double prior) {
    std::uint64_t total = 0;
    double slope = 0.0;
    for (std::uint64_t count : counts) {
        for (std::uint64_t l = 0; l < count; ++l) slope += 1.0 / (static_cast<double>(l) * states + prior);
        total += count;
    }
    for (std::uint64_t l = 0; l < total; ++l) slope -= 1.0 / (static_cast<double>(l) + prior);
    return slope;
}

}  // namespace

Atoms::Atoms(const CountingRows& rows) : atoms_(rows.n_variables()), mixed_(rows.n_variables(), false) {
    const int n = rows.n_variables();
    std::vector<std::uint32_t> order(rows.n_units());
    for (int x = 0; x < n; ++x) {
        const auto compare = [&](std::uint32_t a, std::uint32_t b) {
            for (int v = 0; v < n; ++v)
                if (v != x && rows.codes(v)[a] != rows.codes(v)[b]) return rows.codes(v)[a] < rows.codes(v)[b] ? -1 : 1;
            return 0;
        };
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return compare(a, b) < 0; });
        std::vector<std::uint64_t> counts(rows.arity(x));
        for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
            std::fill(counts.begin(), counts.end(), 0);
            for (end = begin; end < order.size() && compare(order[begin], order[end]) == 0; ++end)
                counts[rows.codes(x)[order[end]]] += rows.weight(order[end]);
            Atom atom{order[begin], {}, 0.0};
            for (std::uint64_t count : counts)
                if (count > 0) atom.counts.push_back(count);
            std::sort(atom.counts.rbegin(), atom.counts.rend());
            atom.likelihood = log_likelihood(atom.counts);
            if (atom.counts.size() > 1) mixed_[x] = true;
            atoms_[x].push_back(std::move(atom));
        }
    }
}

double BdeuBounds::most_beyond(int x, VarSet parents, std::int64_t cells) {
    find_labels(parents);
    const Shares& all = shares(x, parents);
    least_.assign(n_labels_, {0.0, 0.0});
    for (std::size_t a = 0; a < all.of_atoms.size(); ++a) {
        Share& least = least_[label_[atoms_.of(x)[a].unit]];
        least.g = std::min(least.g, all.of_atoms[a].g);
        least.h = std::min(least.h, all.of_atoms[a].h);
    }
    double g = -static_cast<double>(cells) * std::log(rows_.arity(x));
    double h = all.likelihood;
    for (const Share& least : least_) {
        g += least.g;
        h += least.h;
    }
    return std::min(g, h);
}

double BdeuBounds::least_hope(int x, VarSet parents, std::int64_t cells) {
    const Shares& all = shares(x, parents);
    const double pure = -static_cast<double>(cells) * std::log(rows_.arity(x));  // each parent state has a cell
    return pure + std::min(all.of_mixed.g, all.likelihood + all.of_mixed.h);
}

void BdeuBounds::find_labels(VarSet parents) {
    if (has_labels_ && labelled_ == parents) return;
    label_.assign(rows_.n_units(), 0);
    n_labels_ = 1;
    for (VarSet rest = parents; rest != 0; rest &= rest - 1) {
        const int v = first_of(rest);
        const std::uint32_t arity = static_cast<std::uint32_t>(rows_.arity(v));
        names_.assign(std::size_t{n_labels_} * arity, 0);
        std::uint32_t next = 0;
        for (std::size_t unit = 0; unit < label_.size(); ++unit) {
            std::uint32_t& name = names_[std::size_t{label_[unit]} * arity + rows_.codes(v)[unit]];
            if (name == 0) name = ++next;
            label_[unit] = name - 1;
        }
        n_labels_ = next;
    }
    labelled_ = parents;
    has_labels_ = true;
}

// Every further parent divides the prior weight of a cell at least by the least arity left.
const BdeuBounds::Shares& BdeuBounds::shares(int x, VarSet parents) {
    double parent_states = 1.0;
    int least_arity = 0;
    for (int v = 0; v < rows_.n_variables(); ++v) {
        if (has(parents, v)) parent_states *= rows_.arity(v);
        const bool can_be_added = v != x && !has(parents, v);
        if (can_be_added && (least_arity == 0 || rows_.arity(v) < least_arity)) least_arity = rows_.arity(v);
    }
    const double prior = ess_ / parent_states / std::max(1, least_arity);
    const auto [found, is_new] = shares_.try_emplace({x, prior});
    Shares& all = found->second;
    if (!is_new) return all;
    for (const Atoms::Atom& atom : atoms_.of(x)) {
        const Share share = share_of(atom, rows_.arity(x), prior);
        all.of_atoms.push_back(share);
        all.likelihood += atom.likelihood;
        if (atom.counts.size() < 2) continue;
        all.of_mixed.g += share.g;
        all.of_mixed.h += share.h;
    }
    return all;
}

BdeuBounds::Share BdeuBounds::share_of(const Atoms::Atom& atom, int states, double prior) const {
    const double g = later_states(atom.counts, prior);
    double first = std::min(atom.likelihood, g - static_cast<double>(atom.counts.size()) * std::log(states));
    const bool is_short = atom.counts.front() <= longest_slope;
    if (prior <= 1.0 && atom.counts.size() > 1 && is_short && dirichlet_slope(atom.counts, states, prior) >= 0)
        first = std::min(first, dirichlet(atom.counts, states, prior));
    return {g, first - atom.likelihood};
}

}  // namespace topdag
