// module.cpp: the module that the files of this folder fill.
#include "binding.h"

namespace topdag {

void bind_clock(nb::module_& m) {
    m.def("count_readings", [](bool wanted) { RunClock::readings = wanted ? 0 : -1; }, "wanted"_a,
          "For tests: whether the clock of all limits counts its readings, a second each, in place of real seconds.");
    m.def("clock_seconds", [] { return std::chrono::duration<double>(RunClock::now().time_since_epoch()).count(); },
          "A reading of the clock of all limits.");
}

}  // namespace topdag

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of topdag: arrays in, arrays out. Not a public interface.";
    topdag::bind_clock(m);
    topdag::bind_scores(m);
    topdag::bind_lattice(m);
    topdag::bind_lists(m);
    topdag::bind_classes(m);
    topdag::bind_pruned_scores(m);
    topdag::bind_relaxation(m);
    topdag::bind_order_search(m);
    topdag::bind_block_lattice(m);
    topdag::bind_sparse_lattice(m);
    topdag::bind_ideal_lattice(m);
    topdag::bind_order_prior(m);
    topdag::bind_prior_search(m);
    topdag::bind_sums(m);
    topdag::bind_sampling(m);
    topdag::bind_branching(m);
    topdag::bind_path_flow(m);
    topdag::bind_gaussian_sets(m);
    topdag::bind_reading(m);
}
