// family_counts.h: local scores from counts of the data, of one family or of many that differ by one parent.
//
// Every row is a line of marks, one for each state but the first of each variable. The lines of the rows of a cell added
// up are the counts of that cell for all variables at once: one pass over the rows scores all families with one parent
// more.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/table.h"
#include "climbing/score_source.h"
#include "scoring/pruning_question.h"
#include "scoring/score_grid.h"

namespace topdag {

template <class Set>
class FamilyCounts : public ScoreSource<Set> {
public:
    FamilyCounts(const Table& table, const PruningQuestion& question);

    // Families with too many cells to be counted are hopeless.
    double score(int x, Set parents) override;
    void scores_with_one_more(int x, Set parents, Set more, std::vector<double>& scores) override;

    // Bytes that the marks of a table take.
    static double bytes(const Table& table);

private:
    using ScoreSource<Set>::hopeless;
    using ScoreSource<Set>::work_;

    // The sums over cells of one set formula, for sets of one size in cells.
    struct Values {
        CellFunction function;
        std::vector<double> at;  // by count, while counts are small

        double operator()(std::uint64_t count) const { return count < at.size() ? at[count] : function(count); }
    };

    const SetFormula& below(int x) const;
    const Values& values(const SetFormula& formula, double cells);
    double cells_of(Set set) const;
    // Gives rows the same label where they have the same states of a set; how many labels there are, 0: too many.
    std::uint32_t label_rows(Set set);
    std::uint32_t close_up(std::uint32_t n_labels);
    double sum_over_labels(std::uint32_t n_labels, const Values& f);
    template <class Count>
    void score_all(int x, Set parents, Set more, std::vector<Count>& counts, std::vector<double>& scores);

    const Table& table_;
    const PruningQuestion question_;
    Penalties penalties_;
    std::map<std::pair<int, double>, Values> values_;  // by formula, -1 for the joint one, and cells
    std::size_t width_ = 0;                            // of a line of marks
    std::vector<std::size_t> first_mark_;              // by variable, of its second state
    std::vector<std::uint8_t> marks_;
    std::vector<std::uint32_t> labels_, new_label_;
    std::vector<std::uint64_t> totals_;
    std::vector<std::uint16_t> few_;
    std::vector<std::uint32_t> many_;
};

}  // namespace topdag
