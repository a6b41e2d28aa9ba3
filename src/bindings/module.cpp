// module.cpp: the module that the files of this folder fill.
#include "binding.h"

namespace topdag {

void bind_limits(nb::module_& m) {
    nb::class_<Watch>(m, "Limits", "How many threads may work, how long, and who watches and stops them.")
        .def(
            "__init__",
            [](Watch* self, int threads, std::optional<double> seconds, nb::object on_tick) {
                require(threads >= 1, "at least one thread");
                new (self) Watch{threads, seconds, std::move(on_tick)};
            },
            "threads"_a = 1, "seconds"_a = nb::none(), "on_tick"_a = nb::none(),
            "on_tick(phase, done, total, best, bound) is called now and then and says whether to stop.")
        .def_ro("threads", &Watch::threads)
        .def_ro("seconds", &Watch::seconds, "None: no limit.");
    m.def("count_readings", [](bool wanted) { RunClock::readings = wanted ? 0 : -1; }, "wanted"_a,
          "For tests: whether the clock of all limits counts its readings, a second each, in place of real seconds.");
    m.def("clock_seconds", [] { return std::chrono::duration<double>(RunClock::now().time_since_epoch()).count(); },
          "A reading of the clock of all limits.");
}

}  // namespace topdag

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of topdag: arrays in, arrays out. Not a public interface.";
    topdag::bind_limits(m);
    topdag::bind_scores(m);
    topdag::bind_lattices(m);
    topdag::bind_classes(m);
    topdag::bind_pruned_scores(m);
    topdag::bind_relaxation(m);
    topdag::bind_order_search(m);
    topdag::bind_order_prior(m);
    topdag::bind_partial_networks(m);
    topdag::bind_sums(m);
    topdag::bind_sampling(m);
    topdag::bind_branching(m);
    topdag::bind_gaussian_sets(m);
    topdag::bind_node_averages(m);
    topdag::bind_margins(m);
    topdag::bind_reading(m);
    topdag::bind_climbing(m);
}
