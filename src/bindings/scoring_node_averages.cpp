// scoring_node_averages.cpp: families scored by the rows that are complete in them.
#include "binding.h"
#include "bitset_arrays.h"

#include "scoring/node_averages.h"

namespace topdag {

void bind_node_averages(nb::module_& m) {
    m.def(
        "average_log_likelihoods",
        [](const PyTable& t, int x, const SetsIn& sets, const Watch& watch) {
            const int n = t.view.n_variables(), words = static_cast<int>(words_each(sets));
            require(x >= 0 && x < n && n <= 64 * words, "too many variables, or none such");
            for (int v = 0; v < n; ++v) require(t.view.arities[v] >= 2, "a variable needs a state beside missing");
            for (std::size_t i = 0; i < sets.shape(0); ++i)
                for (int w = 0; w < words; ++w)
                    require(is_subset(sets.data()[i * words + w], others_in_word(n, x, w)), "parents out of range");
            return filled(watch, sets.shape(0), [&](Limits& limits, double* out) {
                return average_log_likelihoods(t.view, x, sets.data(), sets.shape(0), words, limits, out);
            });
        },
        "table"_a, "x"_a, "sets"_a, "limits"_a,
        "For each parent set of x, the average log likelihood over the rows in which the last state, for a missing cell, "
        "is neither that of x nor of a parent; None when stopped.");
}

}  // namespace topdag
