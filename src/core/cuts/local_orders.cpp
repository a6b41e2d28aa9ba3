// local_orders.cpp
#include "cuts/local_orders.h"

#include <algorithm>
#include <utility>

#include "base/infinity.h"

namespace topdag {

LocalOrders::LocalOrders(int n, std::vector<Option> options)
    : n_(n), options_(std::move(options)), offers_(n), least_(std::size_t{1} << n, infinity), from_(least_.size()),
      by_(least_.size()) {}

// What the network costs in which each variable has its cheapest offer.
double LocalOrders::make_offers(std::span<const double> prices, std::span<const double> otherwise) {
    for (int v = 0; v < n_; ++v) offers_[v].assign(1, {otherwise[v], 0, no_option});
    for (std::size_t i = 0; i < options_.size(); ++i)
        if (const auto [v, parents] = options_[i]; prices[i] < otherwise[v])
            offers_[v].push_back({prices[i], parents, static_cast<int>(i)});
    double total = 0.0;
    for (std::vector<Offer>& own : offers_) {
        std::stable_sort(own.begin(), own.end(), [](const Offer& a, const Offer& b) { return a.excess < b.excess; });
        const double least = own.front().excess;
        for (Offer& offer : own) offer.excess -= least;
        total += least;
    }
    return total;
}

const LocalOrders::Offer& LocalOrders::best_offer(int v, std::uint32_t placed) const {
    const Offer* offer = offers_[v].data();
    while (offer->parents & ~placed) ++offer;
    return *offer;
}

std::uint32_t LocalOrders::with_all_free(std::uint32_t placed, std::vector<int>* options) const {
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (int v = 0; v < n_; ++v) {
            if (placed >> v & 1) continue;
            const Offer& offer = best_offer(v, placed);
            if (offer.excess != 0.0) continue;
            if (options) (*options)[v] = offer.option;
            placed |= 1u << v;
            is_new = true;
        }
    }
    return placed;
}

void LocalOrders::meet(std::uint32_t placed, double excess, std::uint32_t from, int by) {
    if (excess >= least_[placed]) return;
    if (least_[placed] == infinity) met_.push_back(placed);
    least_[placed] = excess;
    from_[placed] = from;
    by_[placed] = static_cast<std::uint8_t>(by);
    open_.push_back({excess, placed});
    std::push_heap(open_.begin(), open_.end());
}

LocalNetwork LocalOrders::cheapest(std::span<const double> prices, std::span<const double> otherwise) {
    const double total = make_offers(prices, otherwise);
    const auto all = static_cast<std::uint32_t>(least_.size() - 1);
    const std::uint32_t first = with_all_free(0);
    open_.clear();
    meet(first, 0.0, 0, 0);
    while (open_.front().placed != all) {
        std::pop_heap(open_.begin(), open_.end());
        const auto [excess, placed] = open_.back();
        open_.pop_back();
        if (excess > least_[placed]) continue;
        for (int v = 0; v < n_; ++v)
            if (!(placed >> v & 1))
                meet(with_all_free(placed | 1u << v), excess + best_offer(v, placed).excess, placed, v);
    }
    LocalNetwork network{total + least_[all], std::vector<int>(n_, no_option)};
    with_all_free(0, &network.options);
    for (std::uint32_t placed = all; placed != first; placed = from_[placed]) {
        const int by = by_[placed];
        network.options[by] = best_offer(by, from_[placed]).option;
        with_all_free(from_[placed] | 1u << by, &network.options);
    }
    for (const std::uint32_t placed : met_) least_[placed] = infinity;
    met_.clear();
    return network;
}

}  // namespace topdag
