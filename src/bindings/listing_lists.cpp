// listing_lists.cpp: lists, counts and streams of networks and classes.
#include "binding.h"
#include "listing_from.h"

#include <limits>
#include <numeric>

#include "lattice/family_bounds.h"
#include "listing/best_lists.h"
#include "partial_networks/network_search.h"

namespace topdag {

namespace {

struct SearchResult {
    BestList list;
    SearchCounts counts;
    bool memory_hit = false;
    double bound_seconds = 0.0;  // families and their bounds
    double search_seconds = 0.0;
};

constexpr double no_epsilon = std::numeric_limits<double>::infinity();

// At most so many, and none further than epsilon behind the first.
void draw(NetworkSearch& search, std::size_t most, double epsilon, Limits& limits, SearchResult& result) {
    BestList& list = result.list;
    const auto begin = Limits::Clock::now();
    limits.begin(Phase::listing, most);
    const auto lowest = [&] { return list.scores.empty() ? -no_epsilon : list.scores.front() - epsilon; };
    while (list.scores.size() < most && search.next(lowest(), limits)) {
        list.scores.push_back(search.score);
        list.parents.insert(list.parents.end(), search.parents.begin(), search.parents.end());
        ++limits.done;
    }
    list.finished = !limits.stop.load();
    // A full list has been given the families that so many need, so of what scores less some may not be in the queue.
    list.floor = list.scores.size() == most ? list.scores.back() : search.bound();
    result.counts = search.counts();
    result.search_seconds = std::chrono::duration<double>(Limits::Clock::now() - begin).count();
}

SearchResult search_networks(const Lattice& lattice, std::size_t most, std::size_t block, int threads, Limits& limits) {
    SearchResult result;
    result.list.floor = lattice.forward(all_of(lattice.n_variables()));
    const auto begin = Limits::Clock::now();
    const KBestFamilies needed = families_for_k_best(lattice, most, false, threads, limits);
    result.bound_seconds = std::chrono::duration<double>(Limits::Clock::now() - begin).count();
    if (needed.families.empty()) return result;
    LatticeOracle oracle(lattice);
    NetworkSearch search(needed.families, oracle, best_order(lattice), block);
    draw(search, most, no_epsilon, limits, result);
    return result;
}

// Scores as shortfalls, negated.
FamilyTable families_from(const Candidates& candidates) {
    FamilyTable families(candidates.n_variables());
    for (int x = 0; x < candidates.n_variables(); ++x)
        for (const Candidate& family : candidates.of(x))
            families[x].push_back({family.parents, -family.cost, no_epsilon});
    return families;
}

std::vector<int> column_order(int n) {
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

struct ListedQuestion {
    std::size_t most;
    double epsilon;
    std::size_t block;
    std::size_t memory;
};

SearchResult search_listed(const Candidates& candidates, const Bound& bound, const ListedQuestion& question,
                           Limits& limits) {
    SearchResult result;
    const FamilyTable families = families_from(candidates);
    OrderOracle oracle(candidates, bound, question.epsilon, question.memory, limits);
    std::vector<int> order = oracle.best_order();
    if (order.empty()) order = column_order(candidates.n_variables());
    NetworkSearch search(families, oracle, std::move(order), question.block);
    draw(search, question.most, question.epsilon, limits, result);
    const double offset = candidates.best_possible();
    for (double& score : result.list.scores) score += offset;
    result.list.floor += offset;
    result.memory_hit = oracle.memory_hit();
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
            SearchResult found = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) { return search_networks(*t.lattice, most, block, threads, limits); });
            BestList& list = found.list;
            return std::make_tuple(list.finished, list.floor, give_vector<double, DoublesOut>(std::move(list.scores)),
                                   give_networks(std::move(list.parents), t.lattice->n_variables()), found.counts,
                                   found.bound_seconds, found.search_seconds);
        },
        "lattice"_a, "most"_a, "block"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "finished, floor, scores, parents by network, counts, seconds for bounds, seconds for the search.");
    m.def(
        "search_listed_networks",
        [](const Candidates& c, const PyBound& b, std::size_t most, double epsilon, std::size_t block,
           std::size_t memory, std::optional<double> seconds, nb::object on_tick) {
            require(block >= 1, "a block has at least one successor");
            require(b.n == c.n_variables(), "a bound for other variables");
            SearchResult found = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) { return search_listed(c, *b.bound, {most, epsilon, block, memory}, limits); });
            BestList& list = found.list;
            return std::make_tuple(list.finished, found.memory_hit, list.floor,
                                   give_vector<double, DoublesOut>(std::move(list.scores)),
                                   give_networks(std::move(list.parents), c.n_variables()), found.counts);
        },
        "candidates"_a, "bound"_a, "most"_a, "epsilon"_a, "block"_a, "memory"_a, "seconds"_a.none(),
        "on_tick"_a.none(),
        "finished, memory hit, floor, scores, parents by network, counts: none further than epsilon behind "
        "the best; what is left scores at most floor.");
    m.def(
        "completion_values",
        [](const Candidates& c, const PyBound& b, double epsilon, const Masks& sets) {
            require(b.n == c.n_variables(), "a bound for other variables");
            std::vector<double> values;
            const std::uint64_t calls = watched(watch_of(std::nullopt, nb::none()), [&](Limits& limits) {
                OrderOracle oracle(c, *b.bound, epsilon, std::numeric_limits<std::size_t>::max(), limits);
                for (std::size_t i = 0; i < sets.shape(0); ++i) values.push_back(oracle.value(sets.data()[i]));
                return oracle.calls();
            });
            return std::make_tuple(give_vector<double, DoublesOut>(std::move(values)), calls);
        },
        "candidates"_a, "bound"_a, "epsilon"_a, "sets"_a,
        "By set, what the others must cost when these come first, negated, or minus infinity where this leads to no "
        "network within epsilon of the best; and how many sets had to be searched for.");
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
