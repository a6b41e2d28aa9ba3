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

constexpr int least_members = 4;
constexpr int size_step = 2;
constexpr int most_steps = 400;
constexpr int most_scale = 16;
constexpr int rough_scale = 60;
constexpr double tiny_share = 1e-6;

// The places of those parents that are members.
std::uint32_t places_of(Parents parents, const Variables& members) {
    std::uint32_t places = 0;
    for (const int p : parents) {
        const auto found = std::lower_bound(members.begin(), members.end(), p);
        if (found != members.end() && *found == p) places |= std::uint32_t{1} << (found - members.begin());
    }
    return places;
}

// What a solution looks like on a few variables.
struct LocalView {
    std::vector<LocalOrders::Option> options;
    std::vector<double> weights;

    LocalView(const Support& support, const Variables& members) {
        for (std::size_t place = 0; place < members.size(); ++place)
            for (const WeightedFamily& family : support[members[place]])
                add(static_cast<int>(place), places_of(family.parents, members), family.weight);
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

std::optional<LocalCut> cut_on(const Support& support, const Variables& members, const LocalCutOptions& options) {
    const LocalView view(support, members);
    LocalOrders orders(static_cast<int>(members.size()), view.options);
    const HullCut found = HullProgram(orders, view.weights).solve(options.least_violation, most_steps);
    if (found.violation < options.least_violation) return std::nullopt;
    int scale = 1;
    const std::vector<double> prices = whole(found.coefficients, scale);
    std::vector<double> otherwise(members.size(), scale);
    const double limit = lower_otherwise(orders, prices, otherwise);
    double weight = 0.0;
    LocalCut cut{members, {}, {}, static_cast<int>(limit)};
    for (const double most : otherwise) cut.otherwise.push_back(static_cast<int>(most));
    for (std::size_t i = 0; i < prices.size(); ++i) {
        const auto [place, parents] = view.options[i];
        weight += view.weights[i] * std::min(prices[i], otherwise[place]);
        if (prices[i] < otherwise[place]) cut.options.push_back({place, parents, static_cast<int>(prices[i])});
    }
    if (limit - weight < options.least_violation * scale) return std::nullopt;
    return cut;
}

// How much each pair of variables has to do with each other.
std::vector<double> ties_of(const Support& support) {
    const int n = static_cast<int>(support.size());
    std::vector<double> ties(static_cast<std::size_t>(n) * n, 0.0);
    for (int v = 0; v < n; ++v)
        for (const WeightedFamily& family : support[v])
            for (const int u : family.parents) {
                ties[static_cast<std::size_t>(u * n + v)] += family.weight;
                ties[static_cast<std::size_t>(v * n + u)] += family.weight;
            }
    return ties;
}

// From a variable of a circle on, always the one of it that has most to do with those taken.
Variables tied_set(const std::vector<double>& ties, int n, int first, const Variables& circle, int most_members) {
    Variables members{first};
    std::vector<double> pull(n, 0.0);
    for (int last = first; static_cast<int>(members.size()) < most_members;) {
        int next = -1;
        for (const int v : circle) {
            pull[v] += ties[static_cast<std::size_t>(last * n + v)];
            const bool is_member = std::find(members.begin(), members.end(), v) != members.end();
            if (!is_member && pull[v] > tiny_share && (next < 0 || pull[v] > pull[next])) next = v;
        }
        if (next < 0) break;
        members.push_back(next);
        last = next;
    }
    std::sort(members.begin(), members.end());
    return members;
}

}  // namespace

int LocalCut::coefficient(int place, Parents parents) const {
    const std::uint32_t inside = places_of(parents, members);
    int least = otherwise[place];
    for (const Option& option : options)
        if (option.place == place && (option.parents & ~inside) == 0) least = std::min(least, option.coefficient);
    return least;
}

std::vector<LocalCut> local_cuts(const Support& support, const LocalCutOptions& options) {
    const int n = static_cast<int>(support.size());
    const std::vector<double> ties = ties_of(support);
    std::vector<Variables> tried;
    std::vector<LocalCut> cuts;
    const auto found_on = [&](const Variables& members) {
        if (std::find(tried.begin(), tried.end(), members) != tried.end()) return false;
        tried.push_back(members);
        std::optional<LocalCut> cut = cut_on(support, members, options);
        if (cut) cuts.push_back(std::move(*cut));
        return cut.has_value();
    };
    for (const Variables& circle : circles_of(support))
        for (auto first = circle.begin(); first != circle.end() && cuts.size() < options.most_cuts; ++first) {
            // Cuts on fewer variables are stronger where they are violated at all.
            for (int most = least_members; most <= options.most_members; most += size_step)
                if (found_on(tied_set(ties, n, *first, circle, most))) break;
        }
    return cuts;
}

}  // namespace topdag
