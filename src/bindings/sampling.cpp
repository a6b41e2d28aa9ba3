// sampling.cpp: networks drawn from the posterior.
#include "binding.h"

#include "sampling/next_layers.h"
#include "sampling/sampling.h"

namespace topdag {

namespace {

struct Drawn {
    NetworkSamples samples;
    double table_seconds = 0.0;
    double draw_seconds = 0.0;
};

// Fills the tables, then draws from them.
template <class Tables, class Draw>
Drawn fill_and_draw(ParentWeights& weights, Tables& tables, int threads, Limits& limits, Draw&& draw) {
    const auto begin = Limits::Clock::now();
    Drawn result;
    if (!weights.fill(threads, limits) || !tables.fill(threads, limits)) return result;
    const auto filled = Limits::Clock::now();
    result.samples = draw();
    result.table_seconds = std::chrono::duration<double>(filled - begin).count();
    result.draw_seconds = std::chrono::duration<double>(Limits::Clock::now() - filled).count();
    return result;
}

NetworksOut give_samples(Drawn& drawn, int n) { return give_networks(std::move(drawn.samples.parents), n); }

void require_few(const LocalScores& scores) {
    require(scores.n_variables() <= ParentWeights::most_variables, "too many variables");
}

}  // namespace

void bind_sampling(nb::module_& m) {
    nb::class_<Drawn>(m, "DrawnNetworks")
        .def_prop_ro("finished", [](const Drawn& d) { return d.samples.finished; })
        .def_prop_ro("is_possible", [](const Drawn& d) { return d.samples.is_possible; })
        .def_prop_ro("pasts", [](const Drawn& d) { return d.samples.pasts; })
        .def_prop_ro("places", [](const Drawn& d) { return d.samples.places; })
        .def_prop_ro("redone", [](const Drawn& d) { return d.samples.redone; })
        .def_prop_ro("cancellation", [](const Drawn& d) { return d.samples.cancellation; })
        .def_prop_ro("error", [](const Drawn& d) { return d.samples.error; })
        .def_ro("table_seconds", &Drawn::table_seconds)
        .def_ro("draw_seconds", &Drawn::draw_seconds);
    m.def(
        "sample_networks",
        [](const PyScores& scores, std::size_t n_samples, std::uint64_t seed, double tolerance, int threads,
           std::optional<double> seconds, nb::object on_tick) {
            require_few(*scores.scores);
            Drawn drawn = watched(watch_of(seconds, std::move(on_tick)), [&](Limits& limits) {
                ParentWeights weights(*scores.scores);
                RootLayers layers(weights);
                return fill_and_draw(weights, layers, threads, limits, [&] {
                    return sample_by_layers(layers, {n_samples, seed, threads}, tolerance, limits);
                });
            });
            NetworksOut parents = give_samples(drawn, scores.scores->n_variables());
            return std::make_pair(std::move(drawn), std::move(parents));
        },
        "scores"_a, "n_samples"_a, "seed"_a, "tolerance"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "What is known of the draws, and the parents by network; none when stopped or no network is allowed.");
    m.def(
        "sample_ordered_networks",
        [](const PyScores& scores, std::optional<DoublesIn> order_weights, std::size_t n_samples, std::uint64_t seed,
           int threads, std::optional<double> seconds, nb::object on_tick) {
            const int n = scores.scores->n_variables();
            require_few(*scores.scores);
            require(!order_weights || order_weights->shape(0) == n * n_sets(n - 1), "a weight for each slot");
            const double* log_q = order_weights ? order_weights->data() : nullptr;
            Drawn drawn = watched(watch_of(seconds, std::move(on_tick)), [&](Limits& limits) {
                ParentWeights weights(*scores.scores);
                OrderTables sums(weights, log_q);
                return fill_and_draw(weights, sums, threads, limits,
                                     [&] { return sample_by_orders(sums, {n_samples, seed, threads}, limits); });
            });
            NetworksOut parents = give_samples(drawn, n);
            return std::make_pair(std::move(drawn), std::move(parents));
        },
        "scores"_a, "order_weights"_a.none(), "n_samples"_a, "seed"_a, "threads"_a, "seconds"_a.none(),
        "on_tick"_a.none(), "The same, orders first; weights of variables after others by variable and slot.");
    m.def(
        "next_layers",
        [](const PyScores& scores, std::uint64_t past, std::uint64_t last, double tolerance) {
            const int n = scores.scores->n_variables();
            require_few(*scores.scores);
            require(past < all_of(n) && is_subset(last, past), "no such past");
            Limits limits;
            ParentWeights weights(*scores.scores);
            weights.fill(1, limits);
            RootLayers layers(weights);
            layers.fill(1, limits);
            require(layers.sum(all_of(n) & ~past) > 0.0L, "no network has this past");
            NextLayers next(layers, tolerance);
            next.set_past(past);
            next.set_last(last);
            std::vector<double> probabilities(n_sets(n), 0.0);
            for (VarSet set = 1; set < n_sets(n); ++set)
                if ((set & past) == 0) probabilities[set] = next.probability(set);
            return std::make_tuple(give_vector<double, DoublesOut>(std::move(probabilities)), next.error(),
                                   next.is_redone());
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
