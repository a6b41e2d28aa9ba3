// bindings.cpp: arrays in, arrays out. Long work runs in a thread of its own without the interpreter lock, while
// the calling thread watches for Ctrl-C and reports progress. No algorithm lives here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "core/best_lists.h"
#include "core/big_array.h"
#include "core/classes.h"
#include "core/family_bounds.h"
#include "core/lattice.h"
#include "core/local_scores.h"
#include "core/network_search.h"
#include "core/parent_sets.h"
#include "core/set_scores.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace topdag;

namespace {

using Doubles = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using DoublesIn = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using DoublesOut = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Codes = nb::ndarray<const std::uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Masks = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MasksOut = nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>>;
using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr int lattice_limit = 30;  // the core's masks of positions hold no more; what fits in memory is asked before

DoublesOut give(BigArray values) {
    auto* owned = new BigArray(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<BigArray*>(p); });
    return DoublesOut(owned->data(), {owned->size()}, owner);
}

template <class T, class Out>
Out give_vector(std::vector<T> values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out(owned->data(), {owned->size()}, owner);
}

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

// Coded columns, checked once so that the core may trust them.
struct PyTable {
    Codes codes;
    Weights weights;
    Table view;

    PyTable(Codes codes_in, const std::vector<int>& arities, Weights weights_in)
        : codes(std::move(codes_in)), weights(std::move(weights_in)) {
        const std::size_t n = codes.shape(0);
        const std::size_t rows = codes.shape(1);
        require(n >= 1 && rows >= 1, "a table needs a column and a row");
        require(arities.size() == n && weights.shape(0) == rows, "arities and weights must fit the codes");
        view.arities = arities;
        view.weights = weights.data();
        view.n_distinct = rows;
        for (std::size_t v = 0; v < n; ++v) {
            const std::uint16_t* column = codes.data() + v * rows;
            for (std::size_t row = 0; row < rows; ++row) require(column[row] < arities[v], "a code is not below its arity");
            view.columns.push_back(column);
        }
        for (std::size_t row = 0; row < rows; ++row) {
            require(weights.data()[row] > 0, "weights must be positive");
            view.n_rows += weights.data()[row];
        }
        require(view.n_rows <= 0xffffffffULL, "more than 4,294,967,295 rows");
    }
};

// Any form of local scores, with the arrays it looks into kept alive.
struct PyScores {
    std::vector<nb::object> kept;
    std::unique_ptr<LocalScores> scores;
};

const char* phase_name(Phase phase) {
    switch (phase) {
        case Phase::waiting: return "starting";
        case Phase::counting: return "counting";
        case Phase::sweeping: return "sweeping";
        case Phase::ordering: return "ordering";
        case Phase::bounding: return "bounding";
        case Phase::listing: return "listing";
    }
    return "";
}

// How one computation is limited and watched.
struct Watch {
    double seconds_left;  // negative: no limit
    nb::object on_tick;   // called as on_tick(phase, done, total), or None
};

void tick(Limits& limits, const nb::object& on_tick) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!on_tick.is_none())
        on_tick(phase_name(limits.phase.load()), limits.done.load(), limits.total.load());
}

// Runs work(limits) in a thread of its own; every 50 ms the interpreter may handle signals and report progress.
// With `interrupted`, Ctrl-C stops the work and sets it, and what the work returns is kept; else Ctrl-C is raised.
template <class Work>
auto watched(const Watch& watch, Work&& work, bool* interrupted = nullptr) {
    Limits limits;
    if (watch.seconds_left >= 0)
        limits.deadline = Limits::Clock::now() + std::chrono::duration_cast<Limits::Clock::duration>(
                                                     std::chrono::duration<double>(std::min(watch.seconds_left, 1e9)));
    std::optional<decltype(work(limits))> result;
    std::exception_ptr failure;
    std::mutex lock;
    std::condition_variable ended;
    bool is_done = false;
    std::thread worker([&] {
        try {
            result.emplace(work(limits));
        } catch (...) {
            failure = std::current_exception();
        }
        const std::lock_guard guard(lock);
        is_done = true;
        ended.notify_one();
    });
    std::exception_ptr interruption;
    {
        nb::gil_scoped_release released;
        std::unique_lock guard(lock);
        while (!ended.wait_for(guard, std::chrono::milliseconds(50), [&] { return is_done; })) {
            if (interruption) continue;
            guard.unlock();
            {
                nb::gil_scoped_acquire acquired;
                try {
                    tick(limits, watch.on_tick);
                } catch (nb::python_error& error) {
                    limits.stop.store(true);
                    if (interrupted != nullptr && error.matches(PyExc_KeyboardInterrupt)) {
                        *interrupted = true;
                    } else {
                        interruption = std::current_exception();
                    }
                }
            }
            guard.lock();
        }
        guard.unlock();
        worker.join();
    }
    if (interruption) std::rethrow_exception(interruption);
    if (failure) std::rethrow_exception(failure);
    return std::move(*result);
}

Watch watch_of(std::optional<double> seconds_left, nb::object on_tick) {
    return {seconds_left ? std::max(0.0, *seconds_left) : -1.0, std::move(on_tick)};
}

using MaybeArray = std::optional<DoublesOut>;

template <class Fill>
MaybeArray filled(const Watch& watch, std::size_t size, Fill&& fill) {
    BigArray values = watched(watch, [&](Limits& limits) {
        BigArray array(size);
        return fill(limits, array.data()) ? std::move(array) : BigArray();
    });
    if (values.size() == 0) return std::nullopt;
    return give(std::move(values));
}

void check_lattice(const PyTable& table) { require(table.view.n_variables() <= lattice_limit, "too many variables"); }

std::pair<double, int> round_together(std::vector<Doubles> arrays, int n, int threads) {
    Limits limits;
    double magnitude = 0.0;
    nb::gil_scoped_release released;
    for (const Doubles& array : arrays) magnitude = std::max(magnitude, largest_magnitude(array.data(), array.shape(0)));
    const int exponent = grid_exponent(n, magnitude);
    for (const Doubles& array : arrays) round_to_grid(array.data(), array.shape(0), exponent, threads, limits);
    return {magnitude, exponent};
}

struct LatticeResult {
    bool finished = false;
    double score = 0.0;
    std::vector<VarSet> parents;
    std::vector<double> best_alone;  // empty when stopped before it was known
    double sweep_seconds = 0.0;
    double order_seconds = 0.0;
};

LatticeResult run_lattice(const LocalScores& scores, double slack, int threads, Limits& limits) {
    auto seconds_since_last = [begin = Limits::Clock::now()]() mutable {
        const auto now = Limits::Clock::now();
        return std::chrono::duration<double>(now - std::exchange(begin, now)).count();
    };
    LatticeResult result;
    Lattice lattice(scores);
    const bool swept = lattice.sweep(threads, limits);
    result.sweep_seconds = seconds_since_last();
    if (!swept) return result;
    for (int x = 0; x < scores.n_variables(); ++x) result.best_alone.push_back(lattice.best_alone(x));
    const bool ordered = lattice.order(threads, limits);
    result.order_seconds = seconds_since_last();
    if (!ordered) return result;
    BestNetwork best = lattice.read_back(slack);
    result.finished = true;
    result.score = best.score;
    result.parents = std::move(best.parents);
    return result;
}

// F, H and best in memory.
struct PyLattice {
    std::unique_ptr<Lattice> lattice;
};

std::optional<PyLattice> build_lattice(const PyScores& scores, int threads, const Watch& watch) {
    PyLattice built;
    const bool finished = watched(watch, [&](Limits& limits) {
        built.lattice = std::make_unique<Lattice>(*scores.scores);
        return built.lattice->sweep(threads, limits) && built.lattice->order(threads, limits) &&
               built.lattice->order_backward(threads, limits);
    });
    if (!finished) return std::nullopt;
    return built;
}

using NetworksOut = nb::ndarray<nb::numpy, std::uint32_t, nb::ndim<2>>;

NetworksOut give_networks(std::vector<std::uint32_t> masks, std::size_t n) {
    auto* owned = new std::vector<std::uint32_t>(std::move(masks));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::uint32_t>*>(p); });
    return NetworksOut(owned->data(), {owned->size() / n, n}, owner);
}

// A walk that waits in between, for streams.
struct NetworkStream {
    FamilyTable families;
    std::vector<int> order;
    std::unique_ptr<NetworkRule<Lattice>> rule;
    std::unique_ptr<Walk<Lattice, NetworkRule<Lattice>>> walk;
    std::size_t n = 0;
};

std::optional<NetworkStream> open_stream(const PyLattice& tables, double lowest, int threads, const Watch& watch) {
    NetworkStream stream;
    const Lattice& lattice = *tables.lattice;
    stream.n = static_cast<std::size_t>(lattice.n_variables());
    stream.families = watched(watch, [&](Limits& limits) { return families_reaching(lattice, lowest, threads, limits); });
    if (stream.families.empty()) return std::nullopt;
    stream.order = best_order(lattice);
    stream.rule = std::make_unique<NetworkRule<Lattice>>(lattice, stream.families, stream.order);
    return stream;
}

std::pair<DoublesOut, NetworksOut> next_of_stream(NetworkStream& stream, std::size_t most) {
    std::vector<double> scores;
    std::vector<std::uint32_t> parents;
    {
        nb::gil_scoped_release released;
        while (scores.size() < most && stream.walk->next()) {
            scores.push_back(stream.walk->score);
            for (VarSet mask : stream.walk->parents) parents.push_back(static_cast<std::uint32_t>(mask));
        }
    }
    return {give_vector<double, DoublesOut>(std::move(scores)), give_networks(std::move(parents), stream.n)};
}

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
    NetworkSearch search(lattice, needed.families, block);
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

std::vector<VarSet> checked_network(const std::vector<VarSet>& parents) {
    require(!parents.empty() && parents.size() <= 64, "1 to 64 variables");
    const VarSet everything = parents.size() == 64 ? ~VarSet{0} : n_sets(static_cast<int>(parents.size())) - 1;
    for (VarSet mask : parents) require(is_subset(mask, everything), "a parent out of range");
    return parents;
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of topdag: arrays in, arrays out. Not a public interface.";

    nb::enum_<CellKind>(m, "CellKind")
        .value("ONE", CellKind::one)
        .value("N_LOG_N", CellKind::n_log_n)
        .value("N_LOG_N_REGRET", CellKind::n_log_n_regret)
        .value("LOG_RISING", CellKind::log_rising);
    nb::enum_<Penalty>(m, "Penalty")
        .value("NONE", Penalty::none)
        .value("PER_CELL", Penalty::per_cell)
        .value("REGRET", Penalty::regret);

    nb::class_<SetFormula>(m, "SetFormula", "What a set of variables scores: a sum over its cells minus a penalty.")
        .def(
            "__init__",
            [](SetFormula* self, CellKind kind, double parameter, bool spread, Penalty penalty, double penalty_weight) {
                new (self) SetFormula{kind, parameter, spread, penalty, penalty_weight};
            },
            "kind"_a, "parameter"_a = 0.0, "spread"_a = false, "penalty"_a = Penalty::none, "penalty_weight"_a = 0.0)
        .def_ro("parameter", &SetFormula::parameter);

    nb::class_<PyTable>(m, "CodedTable", "Coded columns of distinct rows with weights.")
        .def(nb::init<Codes, const std::vector<int>&, Weights>(), "codes"_a, "arities"_a, "weights"_a)
        .def_prop_ro("n_rows", [](const PyTable& t) { return t.view.n_rows; })
        .def_prop_ro("n_variables", [](const PyTable& t) { return t.view.n_variables(); });

    m.def(
        "score_set",
        [](const PyTable& t, const SetFormula& formula, const std::vector<int>& variables) {
            for (int v : variables) require(v >= 0 && v < t.view.n_variables(), "no such variable");
            return score_one_set(t.view, formula, variables);
        },
        "table"_a, "formula"_a, "variables"_a);
    m.def("most_cells_with_hope", [](const PyTable& t, const SetFormula& f) { return most_cells_with_hope(t.view, f); },
          "table"_a, "formula"_a);
    m.def("scoring_bytes", [](const PyTable& t, const SetFormula& f, int threads) { return scoring_bytes(t.view, f, threads); },
          "table"_a, "formula"_a, "threads"_a);
    m.def("lattice_bytes", &Lattice::bytes, "n_variables"_a);

    m.def(
        "score_all_sets",
        [](const PyTable& t, const SetFormula& formula, int max_size, int threads, std::optional<double> seconds,
           nb::object on_tick) {
            check_lattice(t);
            return filled(watch_of(seconds, std::move(on_tick)), n_sets(t.view.n_variables()), [&](Limits& limits, double* out) {
                return score_all_sets(t.view, formula, max_size, threads, limits, out);
            });
        },
        "table"_a, "formula"_a, "max_size"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "Scores of all sets, indexed by their bits; None when stopped.");
    m.def(
        "score_all_sets_bde",
        [](const PyTable& t, double ess, DoublesIn prior, int max_size, int threads, std::optional<double> seconds,
           nb::object on_tick) {
            check_lattice(t);
            double cells = 1;
            for (int arity : t.view.arities) cells *= arity;
            require(static_cast<double>(prior.shape(0)) == cells, "the prior must have one entry a cell");
            return filled(watch_of(seconds, std::move(on_tick)), n_sets(t.view.n_variables()), [&](Limits& limits, double* out) {
                return score_all_sets_bde(t.view, ess, prior.data(), max_size, threads, limits, out);
            });
        },
        "table"_a, "ess"_a, "prior"_a, "max_size"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none());
    m.def(
        "score_families_bds",
        [](const PyTable& t, double ess, int max_parents, int threads, std::optional<double> seconds, nb::object on_tick) {
            check_lattice(t);
            const int n = t.view.n_variables();
            return filled(watch_of(seconds, std::move(on_tick)), n * n_sets(n - 1), [&](Limits& limits, double* out) {
                return score_families_bds(t.view, ess, max_parents, threads, limits, out);
            });
        },
        "table"_a, "ess"_a, "max_parents"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none());
    m.def("round_together", &round_together, "arrays"_a, "n_variables"_a, "threads"_a,
          "Rounds all arrays in place to one grid; returns the largest magnitude and the grid's exponent.");

    nb::class_<PyScores>(m, "LocalScores", "The local score of any family, however it is stored.");
    m.def(
        "difference_scores",
        [](int n, DoublesIn joint, const std::vector<DoublesIn>& below) {
            require(n >= 1 && n <= lattice_limit && joint.shape(0) == n_sets(n), "joint must have 2^n scores");
            require(below.size() == static_cast<std::size_t>(n), "one array below for each variable");
            std::vector<const double*> pointers;
            PyScores result;
            result.kept.push_back(nb::cast(joint));
            for (const DoublesIn& array : below) {
                require(array.shape(0) == n_sets(n), "below must have 2^n scores");
                pointers.push_back(array.data());
                result.kept.push_back(nb::cast(array));
            }
            result.scores = std::make_unique<DifferenceScores>(n, joint.data(), std::move(pointers));
            return result;
        },
        "n_variables"_a, "joint"_a, "below"_a);
    m.def(
        "family_scores",
        [](int n, DoublesIn families) {
            require(n >= 1 && n <= lattice_limit && families.shape(0) == n * n_sets(n - 1), "n * 2^(n-1) scores");
            PyScores result;
            result.kept.push_back(nb::cast(families));
            result.scores = std::make_unique<FamilyScores>(n, families.data());
            return result;
        },
        "n_variables"_a, "families"_a);
    m.def(
        "listed_scores",
        [](int n, Offsets offsets, Masks parents, DoublesIn scores) {
            require(n >= 1 && n <= lattice_limit, "too many variables");
            require(offsets.shape(0) == static_cast<std::size_t>(n) + 1 && parents.shape(0) == scores.shape(0), "sizes differ");
            require(offsets.data()[0] == 0 && offsets.data()[n] == static_cast<std::int64_t>(scores.shape(0)), "offsets");
            for (int x = 0; x < n; ++x) {
                require(offsets.data()[x] <= offsets.data()[x + 1], "offsets must not fall");
                for (std::int64_t i = offsets.data()[x]; i < offsets.data()[x + 1]; ++i)
                    require(parents.data()[i] < n_sets(n) && !has(parents.data()[i], x), "parents out of range");
            }
            PyScores result;
            result.scores = std::make_unique<ListedScores>(n, offsets.data(), parents.data(), scores.data());
            return result;
        },
        "n_variables"_a, "offsets"_a, "parents"_a, "scores"_a);

    nb::class_<LatticeResult>(m, "LatticeResult")
        .def_ro("finished", &LatticeResult::finished)
        .def_ro("score", &LatticeResult::score)
        .def_ro("parents", &LatticeResult::parents)
        .def_ro("best_alone", &LatticeResult::best_alone)
        .def_ro("sweep_seconds", &LatticeResult::sweep_seconds)
        .def_ro("order_seconds", &LatticeResult::order_seconds);
    m.def(
        "best_network",
        [](const PyScores& scores, double slack, int threads, std::optional<double> seconds, nb::object on_tick) {
            return watched(watch_of(seconds, std::move(on_tick)),
                           [&](Limits& limits) { return run_lattice(*scores.scores, slack, threads, limits); });
        },
        "scores"_a, "slack"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none());
    m.def(
        "families_worth_keeping",
        [](const PyScores& scores, int x, double epsilon) {
            require(x >= 0 && x < scores.scores->n_variables(), "no such variable");
            KeptFamilies kept;
            {
                nb::gil_scoped_release released;
                kept = families_worth_keeping(*scores.scores, x, epsilon);
            }
            return std::make_pair(give_vector<std::uint64_t, MasksOut>(std::move(kept.parents)),
                                  give_vector<double, DoublesOut>(std::move(kept.scores)));
        },
        "scores"_a, "x"_a, "epsilon"_a);

    nb::enum_<Listed>(m, "Listed").value("NETWORKS", Listed::networks).value("CLASSES", Listed::classes);
    nb::class_<WalkCounts>(m, "WalkCounts")
        .def_ro("found", &WalkCounts::found)
        .def_ro("expanded", &WalkCounts::expanded)
        .def_ro("dead_ends", &WalkCounts::dead_ends);
    nb::class_<PyLattice>(m, "Lattice", "Best parents, forward and backward tables over all sets.")
        .def_prop_ro("best_score",
                     [](const PyLattice& t) { return t.lattice->forward(n_sets(t.lattice->n_variables()) - 1); })
        .def("family_bound",
             [](const PyLattice& t, int x, std::uint64_t parents) {
                 const int n = t.lattice->n_variables();
                 require(x >= 0 && x < n && parents < n_sets(n) && !has(parents, x), "no such family");
                 nb::gil_scoped_release released;
                 return family_bound(*t.lattice, x, parents);
             },
             "x"_a, "parents"_a, "The score of the best network that has this family.");
    m.def(
        "build_lattice",
        [](const PyScores& scores, int threads, std::optional<double> seconds, nb::object on_tick) {
            return build_lattice(scores, threads, watch_of(seconds, std::move(on_tick)));
        },
        "scores"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(), nb::keep_alive<0, 1>(), "None when stopped.");
    m.def(
        "edge_bounds",
        [](const PyLattice& t, int threads, std::optional<double> seconds, nb::object on_tick) {
            EdgeBounds bounds = watched(watch_of(seconds, std::move(on_tick)),
                                        [&](Limits& limits) { return edge_bounds(*t.lattice, threads, limits); });
            return std::make_pair(give_vector<double, DoublesOut>(std::move(bounds.with)),
                                  give_vector<double, DoublesOut>(std::move(bounds.without)));
        },
        "lattice"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "The best score with and without each edge parent -> child, at parent * n + child.");
    m.def(
        "list_best",
        [](const PyLattice& t, Listed what, std::size_t most, double lowest, int threads, std::optional<double> seconds,
           nb::object on_tick) {
            bool interrupted = false;
            BestList list = watched(
                watch_of(seconds, std::move(on_tick)),
                [&](Limits& limits) { return list_best(*t.lattice, {what, most, lowest}, threads, limits); }, &interrupted);
            return std::make_tuple(list.finished, interrupted, list.floor, give_vector<double, DoublesOut>(std::move(list.scores)),
                                   give_networks(std::move(list.parents), t.lattice->n_variables()), list.counts);
        },
        "lattice"_a, "what"_a, "most"_a, "lowest"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(),
        "finished, interrupted, floor, scores, parents by network, counts.");
    m.def(
        "count_above",
        [](const PyLattice& t, Listed what, double lowest, int threads, std::optional<double> seconds, nb::object on_tick) {
            Count count = watched(watch_of(seconds, std::move(on_tick)), [&](Limits& limits) {
                return count_above(*t.lattice, what, lowest, threads, limits);
            });
            return std::make_pair(count.finished, count.counts);
        },
        "lattice"_a, "what"_a, "lowest"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none());
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
        .def("next", &next_of_stream, "most"_a, "Scores and parents of the next ones; fewer than asked at the end.");
    m.def(
        "open_stream",
        [](const PyLattice& t, double lowest, int threads, std::optional<double> seconds, nb::object on_tick) {
            std::optional<NetworkStream> stream = open_stream(t, lowest, threads, watch_of(seconds, std::move(on_tick)));
            if (!stream) return std::unique_ptr<NetworkStream>();
            auto opened = std::make_unique<NetworkStream>(std::move(*stream));
            opened->walk = std::make_unique<Walk<Lattice, NetworkRule<Lattice>>>(*t.lattice, opened->families, *opened->rule, lowest);
            opened->walk->begin({NetworkRule<Lattice>::State{}, std::vector<VarSet>(opened->n, 0)});
            return opened;
        },
        "lattice"_a, "lowest"_a, "threads"_a, "seconds"_a.none(), "on_tick"_a.none(), nb::keep_alive<0, 1>());

    nb::class_<MixedGraph>(m, "MixedGraph", "The edges of a class: compelled ones by parents, the others by neighbours.")
        .def("__init__",
             [](MixedGraph* self, const std::vector<VarSet>& parents, const std::vector<VarSet>& neighbours) {
                 require(parents.size() == neighbours.size(), "sizes differ");
                 new (self) MixedGraph{checked_network(parents), checked_network(neighbours)};
             },
             "parents"_a, "neighbours"_a)
        .def_ro("parents", &MixedGraph::parents)
        .def_ro("neighbours", &MixedGraph::neighbours);
    m.def("class_of", [](const std::vector<VarSet>& parents) { return class_of(checked_network(parents)); }, "parents"_a);
    m.def("class_size", &class_size, "graph"_a, "Networks in the class; None when 2^64 or more.");
    nb::class_<Members>(m, "Members", "The networks of a class, one by one.")
        .def(nb::init<MixedGraph>(), "graph"_a)
        .def("next", [](Members& members) -> std::optional<std::vector<VarSet>> {
            if (!members.next()) return std::nullopt;
            return members.parents;
        });
}
