// lists.cpp: lists, counts and streams of networks and classes.
#include "binding.h"
#include "listing_from.h"

#include "../core/best_lists.h"
#include "../core/family_bounds.h"
#include "../core/network_search.h"

namespace topdag {

namespace {

struct SearchResult {
    BestList list;
    SearchCounts counts;
    double bound_seconds = 0.0;  // families and their bounds
    double search_seconds = 0.0;
};

SearchResult search_networks(const Lattice& lattice, std::size_t most, std::size_t block, int threads, Limits& limits) {
    SearchResult result;
    const auto begin = Limits::Clock::now();
    const KBestFamilies needed = families_for_k_best(lattice, most, false, threads, limits);
    const auto bounded = Limits::Clock::now();
    result.bound_seconds = std::chrono::duration<double>(bounded - begin).count();
    if (needed.families.empty()) return result;
    NetworkSearch search(lattice, needed.families, best_order(lattice), block);
    limits.begin(Phase::listing, most);
    while (result.list.scores.size() < most && search.next(limits)) {
        result.list.scores.push_back(search.score);
        result.list.parents.insert(result.list.parents.end(), search.parents.begin(), search.parents.end());
        ++limits.done;
    }
    result.list.finished = !limits.stop.load();
    result.list.floor = search.bound();
    result.counts = search.counts();
    result.search_seconds = std::chrono::duration<double>(Limits::Clock::now() - bounded).count();
    return result;
}

}  // namespace

void bind_lists(nb::module_& m) {
    nb::enum_<Listed>(m, "Listed").value("NETWORKS", Listed::networks).value("CLASSES", Listed::classes);
    nb::class_<WalkCounts>(m, "WalkCounts")
        .def_ro("found", &WalkCounts::found)
        .def_ro("expanded", &WalkCounts::expanded)
        .def_ro("dead_ends", &WalkCounts::dead_ends);
    nb::class_<SearchCounts>(m, "SearchCounts")
        .def_ro("generated", &SearchCounts::generated)
        .def_ro("expanded", &SearchCounts::expanded)
        .def_ro("re_expanded", &SearchCounts::re_expanded)
        .def_ro("oracle_calls", &SearchCounts::oracle_calls);
    m.def(
        "search_networks",
        [](const PyLattice& t, std::size_t most, std::size_t block, int threads, std::optional<double> seconds, nb::object on_tick) {
            require(block >= 1, "a block has at least one successor");
            bool interrupted = false;
            SearchResult found = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) { return search_networks(*t.lattice, most, block, threads, limits); }, &interrupted);
            BestList& list = found.list;
            return std::make_tuple(list.finished, interrupted, list.floor, give_vector<double, DoublesOut>(std::move(list.scores)),
                                   give_networks(std::move(list.parents), t.lattice->n_variables()), found.counts,
                                   found.bound_seconds, found.search_seconds);
        },
        "lattice"_a, "most"_a, "block"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "finished, interrupted, floor, scores, parents by network, counts, seconds for bounds, seconds for the search.");
    nb::class_<NetworkStream>(m, "NetworkStream", "All networks above a threshold, in no particular order.")
        .def(
            "next",
            [](NetworkStream& stream, std::size_t most, std::optional<double> seconds, nb::object on_tick) {
                Batch batch = watched(watch_of(seconds, std::move(on_tick)),
                                      [&](Limits& limits) { return stream.next(most, limits); });
                return std::make_tuple(batch.finished, give_vector<double, DoublesOut>(std::move(batch.scores)),
                                       give_networks(std::move(batch.parents), stream.n_variables()));
            },
            "most"_a, "seconds"_a.none(), "on_tick"_a.none(),
            "Whether none is left, and scores and parents of the next ones; fewer than asked at the end or when time is up.");
    bind_listing_from<PyLattice>(m);
}

}  // namespace topdag
