// local_cuts.cpp
#include "cuts/local_cuts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "cuts/hull_program.h"
#include "cuts/local_orders.h"

namespace topdag {

namespace {

constexpr int size_step = 2;
constexpr int most_scale = 16;
constexpr int rough_scale = 60;
constexpr double tiny_share = 1e-6;

// What a solution looks like on a few variables.
template <class Set>
struct LocalView {
    std::vector<int> variables;
    std::vector<LocalOrders::Option> options;
    std::vector<double> weights;

    LocalView(const SupportOf<Set>& support, Set members) {
        for (Set rest = members; rest; rest &= rest - 1) variables.push_back(first_of(rest));
        for (std::size_t place = 0; place < variables.size(); ++place)
            for (const WeightedFamilyOf<Set>& family : support[variables[place]])
                add(static_cast<int>(place), local(family.parents & members), family.weight);
    }

    std::uint32_t local(Set parents) const {
        std::uint32_t mask = 0;
        for (std::size_t place = 0; place < variables.size(); ++place)
            mask |= static_cast<std::uint32_t>(has(parents, variables[place])) << place;
        return mask;
    }

    Set global(std::uint32_t mask) const {
        Set parents = 0;
        for (std::size_t place = 0; place < variables.size(); ++place)
            if (mask >> place & 1) parents |= only<Set>(variables[place]);
        return parents;
    }

private:
    void add(int place, std::uint32_t parents, double weight) {
        for (std::size_t i = options.size(); i-- > 0 && options[i].variable == place;)
            if (options[i].parents == parents) {
                weights[i] += weight;
                return;
            }
        options.push_back({place, parents});
        weights.push_back(weight);
    }
};

// Whole numbers in the proportions of the coefficients, or nearly so.
std::vector<double> whole(const std::vector<double>& coefficients, int& scale) {
    const auto fits = [&coefficients](int by) {
        return std::all_of(coefficients.begin(), coefficients.end(),
                           [by](double c) { return std::abs(by * c - std::round(by * c)) < tiny_share * by; });
    };
    for (scale = 1; scale <= most_scale && !fits(scale);) ++scale;
    if (scale > most_scale) scale = rough_scale;
    std::vector<double> scaled;
    for (const double c : coefficients) scaled.push_back(std::round(scale * c));
    return scaled;
}

// By how much each variable's coefficient without option can fall while the limit stays.
double lower_otherwise(LocalOrders& orders, const std::vector<double>& prices, std::vector<double>& otherwise) {
    const double limit = orders.cheapest(prices, otherwise).price;
    for (int v = 0; v < orders.n_variables(); ++v) {
        std::vector<double> own = prices;
        for (std::size_t i = 0; i < own.size(); ++i)
            if (orders.options()[i].variable == v) own[i] = otherwise[v];
        const double least = orders.cheapest(own, otherwise).price;  // in which v has no option
        otherwise[v] = std::max(0.0, otherwise[v] - (least - limit));
    }
    return limit;
}

template <class Set>
std::optional<LocalCutOf<Set>> cut_on(const SupportOf<Set>& support, Set members, const LocalCutOptions& options) {
    const LocalView<Set> view(support, members);
    LocalOrders orders(static_cast<int>(view.variables.size()), view.options);
    const HullCut found = HullProgram(orders, view.weights).solve(options.least_violation, options.most_steps);
    if (found.violation < options.least_violation) return std::nullopt;
    int scale = 1;
    const std::vector<double> prices = whole(found.coefficients, scale);
    std::vector<double> otherwise(view.variables.size(), scale);
    const double limit = lower_otherwise(orders, prices, otherwise);
    double weight = 0.0;
    LocalCutOf<Set> cut{members, {}, {}, static_cast<int>(limit)};
    for (const double most : otherwise) cut.otherwise.push_back(static_cast<int>(most));
    for (std::size_t i = 0; i < prices.size(); ++i) {
        const auto [place, parents] = view.options[i];
        weight += view.weights[i] * std::min(prices[i], otherwise[place]);
        if (prices[i] < otherwise[place])
            cut.options.push_back({view.variables[place], view.global(parents), static_cast<int>(prices[i])});
    }
    if (limit - weight < options.least_violation * scale) return std::nullopt;
    return cut;
}

// How much each pair of variables has to do with each other.
template <class Set>
std::vector<double> ties_of(const SupportOf<Set>& support) {
    const int n = static_cast<int>(support.size());
    std::vector<double> ties(static_cast<std::size_t>(n) * n, 0.0);
    for (int v = 0; v < n; ++v)
        for (const WeightedFamilyOf<Set>& family : support[v])
            for (Set rest = family.parents; rest; rest &= rest - 1) {
                const int u = first_of(rest);
                ties[static_cast<std::size_t>(u * n + v)] += family.weight;
                ties[static_cast<std::size_t>(v * n + u)] += family.weight;
            }
    return ties;
}

// From a variable on, always the one that has most to do with those taken.
template <class Set>
Set tied_set(const std::vector<double>& ties, int n, int first, Set others, int most_members) {
    Set members = only<Set>(first);
    std::vector<double> pull(n, 0.0);
    for (int last = first; size_of(members) < most_members;) {
        int next = -1;
        for (int v = 0; v < n; ++v) {
            pull[v] += ties[static_cast<std::size_t>(last * n + v)];
            if (has(others & ~members, v) && pull[v] > tiny_share && (next < 0 || pull[v] > pull[next])) next = v;
        }
        if (next < 0) break;
        members |= only<Set>(next);
        last = next;
    }
    return members;
}

}  // namespace

template <class Set>
int LocalCutOf<Set>::coefficient(int v, Set parents) const {
    if (!has(members, v)) return 0;
    int least = otherwise[static_cast<std::size_t>(size_of(members & (only<Set>(v) - 1)))];
    for (const Option& option : options)
        if (option.variable == v && is_subset(option.parents, parents)) least = std::min(least, option.coefficient);
    return least;
}

template <class Set>
std::vector<LocalCutOf<Set>> local_cuts(const SupportOf<Set>& support, const LocalCutOptions& options) {
    const int n = static_cast<int>(support.size());
    const std::vector<double> ties = ties_of(support);
    std::vector<Set> tried;
    std::vector<LocalCutOf<Set>> cuts;
    const auto found_on = [&](Set members) {
        if (std::find(tried.begin(), tried.end(), members) != tried.end()) return false;
        tried.push_back(members);
        std::optional<LocalCutOf<Set>> cut = cut_on(support, members, options);
        if (cut) cuts.push_back(std::move(*cut));
        return cut.has_value();
    };
    for (const Set& circle : circles_of(support))
        for (Set rest = circle; rest && cuts.size() < options.most_cuts; rest &= rest - 1) {
            // Cuts on fewer variables are stronger where they are violated at all.
            for (int most = options.least_members; most <= options.most_members; most += size_step)
                if (found_on(tied_set(ties, n, first_of(rest), circle, most))) break;
        }
    return cuts;
}

template struct LocalCutOf<VarSet>;
template struct LocalCutOf<WideSet>;
template std::vector<LocalCutOf<VarSet>> local_cuts(const SupportOf<VarSet>&, const LocalCutOptions&);
template std::vector<LocalCutOf<WideSet>> local_cuts(const SupportOf<WideSet>&, const LocalCutOptions&);
template struct LocalCutOf<BroadSet>;
template std::vector<LocalCutOf<BroadSet>> local_cuts(const SupportOf<BroadSet>&, const LocalCutOptions&);
template struct LocalCutOf<VastSet>;
template std::vector<LocalCutOf<VastSet>> local_cuts(const SupportOf<VastSet>&, const LocalCutOptions&);

}  // namespace topdag
