// grid_scores.cpp
#include "scoring/grid_scores.h"

#include <algorithm>
#include <utility>

#include "scoring/set_scorer.h"

namespace topdag {

template <class Set>
std::vector<double> grid_scores(const Table& table, const PruningQuestion& question, const SetFormula& formula,
                                const std::vector<Set>& sets, int* grid) {
    SetScorer scorer(table, question);
    Limits limits;
    std::vector<int> place_of(table.n_variables());
    for (int p = 0; p < table.n_variables(); ++p) place_of[scorer.variable(p)] = p;
    std::vector<std::pair<Set, std::size_t>> sorted;
    for (std::size_t i = 0; i < sets.size(); ++i) {
        Set at_places = 0;
        for (Set rest = sets[i]; rest != 0; rest &= rest - 1) at_places |= only<Set>(place_of[first_of(rest)]);
        sorted.emplace_back(at_places, i);
    }
    std::sort(sorted.begin(), sorted.end());
    std::vector<Set> listed;
    for (const auto& [set, i] : sorted) listed.push_back(set);
    std::vector<double> found;
    scorer.score(formula, listed, limits, found);
    std::vector<double> scores(sets.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) scores[sorted[i].second] = found[i];
    *grid = scorer.grid().exponent();
    return scores;
}

template std::vector<double> grid_scores(const Table&, const PruningQuestion&, const SetFormula&,
                                         const std::vector<VarSet>&, int*);
template std::vector<double> grid_scores(const Table&, const PruningQuestion&, const SetFormula&,
                                         const std::vector<WideSet>&, int*);
template std::vector<double> grid_scores(const Table&, const PruningQuestion&, const SetFormula&,
                                         const std::vector<VastSet>&, int*);

}  // namespace topdag
