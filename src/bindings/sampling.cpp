// sampling.cpp: networks drawn from the posterior.
#include "binding.h"

#include "sampling/next_layers.h"
#include "sampling/sampling.h"

namespace topdag {

namespace {

// Fills the tables, then draws from them.
template <class Tables, class Draw>
NetworkSamples fill_and_draw(ParentWeights& weights, Tables& tables, Limits& limits, Draw&& draw) {
    const auto begin = Limits::Clock::now();
    if (!weights.fill(limits) || !tables.fill(limits)) return {};
    const double table_seconds = seconds_since(begin);
    const auto filled = Limits::Clock::now();
    NetworkSamples samples = draw();
    samples.table_seconds = table_seconds;
    samples.draw_seconds = seconds_since(filled);
    return samples;
}

std::pair<NetworkSamples, RowsOut<VarSet>> with_networks(NetworkSamples samples, int n) {
    RowsOut<VarSet> parents = give_rows(std::move(samples.parents), n);
    return {std::move(samples), std::move(parents)};
}

void require_few(const LocalScores& scores) {
    require(scores.n_variables() <= ParentWeights::most_variables, "too many variables");
}

}  // namespace

void bind_sampling(nb::module_& m) {
    nb::class_<NetworkSamples>(m, "NetworkSamples")
        .def_ro("finished", &NetworkSamples::finished)
        .def_ro("is_possible", &NetworkSamples::is_possible)
        .def_ro("pasts", &NetworkSamples::pasts)
        .def_ro("places", &NetworkSamples::places)
        .def_ro("redone", &NetworkSamples::redone)
        .def_ro("cancellation", &NetworkSamples::cancellation)
        .def_ro("error", &NetworkSamples::error)
        .def_ro("table_seconds", &NetworkSamples::table_seconds)
        .def_ro("draw_seconds", &NetworkSamples::draw_seconds);
    m.def(
        "sample_networks",
        [](const PyScores& scores, std::size_t n_samples, std::uint64_t seed, double tolerance, const Watch& watch) {
            require_few(*scores.scores);
            NetworkSamples samples = watched(watch, [&](Limits& limits) {
                ParentWeights weights(*scores.scores);
                RootLayers layers(weights);
                return fill_and_draw(weights, layers, limits,
                                     [&] { return sample_by_layers(layers, {n_samples, seed}, tolerance, limits); });
            });
            return with_networks(std::move(samples), scores.scores->n_variables());
        },
        "scores"_a, "n_samples"_a, "seed"_a, "tolerance"_a, "limits"_a,
        "What is known of the draws, and the parents by network; none when stopped or no network is allowed.");
    m.def(
        "sample_ordered_networks",
        [](const PyScores& scores, std::optional<DoublesIn> order_weights, std::size_t n_samples, std::uint64_t seed,
           const Watch& watch) {
            const int n = scores.scores->n_variables();
            require_few(*scores.scores);
            require(!order_weights || order_weights->shape(0) == n * n_sets(n - 1), "a weight for each slot");
            const double* log_q = order_weights ? order_weights->data() : nullptr;
            NetworkSamples samples = watched(watch, [&](Limits& limits) {
                ParentWeights weights(*scores.scores);
                OrderTables sums(weights, log_q);
                return fill_and_draw(weights, sums, limits,
                                     [&] { return sample_by_orders(sums, {n_samples, seed}, limits); });
            });
            return with_networks(std::move(samples), n);
        },
        "scores"_a, "order_weights"_a.none(), "n_samples"_a, "seed"_a, "limits"_a,
        "The same, orders first; weights of variables after others by variable and slot.");
    m.def(
        "next_layers",
        [](const PyScores& scores, std::uint64_t past, std::uint64_t last, double tolerance) {
            const int n = scores.scores->n_variables();
            require_few(*scores.scores);
            require(past < all_of(n) && is_subset(last, past), "no such past");
            Limits limits;
            ParentWeights weights(*scores.scores);
            weights.fill(limits);
            RootLayers layers(weights);
            layers.fill(limits);
            require(layers.sum(all_of(n) & ~past) > 0.0L, "no network has this past");
            NextLayers next(layers, tolerance);
            next.set_past(past);
            next.set_last(last);
            std::vector<double> probabilities(n_sets(n), 0.0);
            for (VarSet set = 1; set < n_sets(n); ++set)
                if ((set & past) == 0) probabilities[set] = next.probability(set);
            return std::make_tuple(give(std::move(probabilities)), next.error(), next.is_redone());
        },
        "scores"_a, "past"_a, "last"_a, "tolerance"_a,
        "By set the probability that it is the next layer; how much of it may be wrong; whether in long doubles.");
    m.def(
        "sampling_bytes",
        [](int n, bool by_orders) {
            return ParentWeights::bytes(n) + (by_orders ? OrderTables::bytes(n) : RootLayers::bytes(n)) +
                   8.0 * static_cast<double>(n_sets(n));
        },
        "n"_a, "by_orders"_a, "What the tables take.");
}

}  // namespace topdag
