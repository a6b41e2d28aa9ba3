#include "order_prior/order_weight.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>

#include "listing/linear_extensions.h"

namespace topdag {

namespace {

double log_of(const BigCount& count) { return std::log(std::strtod(("0x" + count.hexadecimal()).c_str(), nullptr)); }

double log_of_sum(double a, double b) {
    const double more = std::max(a, b);
    return more + std::log1p(std::exp(std::min(a, b) - more));
}

bool is_acyclic(const std::vector<VarSet>& parents) {
    const int n = static_cast<int>(parents.size());
    VarSet placed = 0;
    for (VarSet before = all_of(n); before != placed;) {
        before = placed;
        for (int x = 0; x < n; ++x)
            if (is_subset(parents[x], placed)) placed |= only(x);
    }
    return placed == all_of(n);
}

}  // namespace

std::optional<double> OrderWeight::of(std::vector<VarSet> parents) const {
    for (std::size_t x = 0; x < parents.size(); ++x) parents[x] |= precedence_.before(static_cast<int>(x));
    if (!is_acyclic(parents)) return std::nullopt;
    if (!tables_.empty()) return weighted_sum(parents);
    return log_of(*linear_extensions(parents, std::numeric_limits<std::size_t>::max()));
}

// Layer by layer over the sets that can come first, in a fixed order.
double OrderWeight::weighted_sum(const std::vector<VarSet>& parents) const {
    std::map<VarSet, double> sums{{0, 0.0}};
    const int n = static_cast<int>(parents.size());
    for (int size = 0; size < n; ++size) {
        std::map<VarSet, double> next;
        for (const auto& [placed, value] : sums)
            for (int x = 0; x < n; ++x) {
                if (has(placed, x) || !is_subset(parents[x], placed)) continue;
                const double term = value + tables_[x][without_bit(placed, x)];
                const auto [found, is_new] = next.emplace(placed | only(x), term);
                if (!is_new) found->second = log_of_sum(found->second, term);
            }
        sums = std::move(next);
    }
    return sums.begin()->second;
}

}  // namespace topdag
