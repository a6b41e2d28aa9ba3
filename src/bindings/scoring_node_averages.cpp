// scoring_node_averages.cpp: families scored by the rows that are complete in them.
#include "binding.h"
#include "bitset_arrays.h"

#include "scoring/node_averages.h"

namespace topdag {

void bind_node_averages(nb::module_& m) {
    m.def(
        "average_log_likelihoods",
        [](const PyTable& t, int x, const SetArrays<VastSet>::In& sets, const Watch& watch) {
            const int n = t.view.n_variables(), words = SetArrays<VastSet>::n_words(sets);
            require(x >= 0 && x < n && n <= 64 * words && n <= most_variables<VastSet>, "too many variables, or none such");
            for (int v = 0; v < n; ++v) require(t.view.arities[v] >= 2, "a variable needs a state beside missing");
            const VastSet others = all_of<VastSet>(n) & ~only<VastSet>(x);
            for (std::size_t i = 0; i < sets.shape(0); ++i)
                require(is_subset(SetArrays<VastSet>::at(sets, i), others), "parents out of range");
            return filled(watch, sets.shape(0), [&](Limits& limits, double* out) {
                return average_log_likelihoods(t.view, x, sets.data(), sets.shape(0), words, limits, out);
            });
        },
        "table"_a, "x"_a, "sets"_a, "limits"_a,
        "For each parent set of x, the average log likelihood over the rows in which the last state, for a missing cell, "
        "is neither that of x nor of a parent; None when stopped.");
}

}  // namespace topdag
