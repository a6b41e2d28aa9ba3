#include "counting/sparse_counts.h"

#include <algorithm>
#include <memory>

#include "base/parallel.h"

namespace topdag {

namespace {

constexpr std::size_t sets_per_task = 4096;

// ---- One thread's counting: the cells of the shared part of the last set, from its highest variable down.

template <class Counter, class Set>
class SetWalk {
public:
    SetWalk(const CountingRows& rows, const FixedFunction& function)
        : rows_(rows), counter_(rows), tables_(rows.n_looked_up(), function), is_spread_(function.spread),
          levels_(rows.n_variables() + 1) {
        counter_.begin(levels_[0]);
    }

    // The sets from `set` to `end` come next, ascending.
    std::int64_t sum(const Set* set, const Set* end) {
        const CountTable& f = tables_.of(is_spread_ ? cells_of(*set) : 1.0);
        if (*set == 0) return f(rows_.n_rows());
        return counter_.split(levels_[descend(set, end)], first_of(*set), f);
    }

private:
    double cells_of(Set set) const {
        double cells = 1.0;
        for (; set != 0; set &= set - 1) cells *= rows_.arity(first_of(set));
        return cells;
    }

    // Makes the cells of all but the lowest member; returns their depth.
    int descend(const Set* set, const Set* end) {
        int depth = 0;
        for (Set shared = *set & (*set - 1); shared != 0; ++depth) {
            const int place = last_of(shared);
            shared &= ~only<Set>(place);
            if (depth < depth_ && path_[depth] == place) continue;
            counter_.refine(levels_[depth], place, levels_[depth + 1]);
            path_[depth] = place;
            depth_ = depth + 1;
            const Set lower = only<Set>(place) - 1;
            const Set* same = std::upper_bound(set, end, *set | lower);
            counter_.settle_down(levels_[depth + 1], place, static_cast<std::size_t>(same - set));
        }
        depth_ = depth;
        return depth;
    }

    const CountingRows& rows_;
    Counter counter_;
    CountTables tables_;
    bool is_spread_;
    std::vector<typename Counter::Cells> levels_;
    int path_[8 * sizeof(Set)] = {};
    int depth_ = 0;
};

template <class Counter, class Set>
bool walk_sets(const CountingRows& rows, const FixedFunction& function, const std::vector<Set>& sets,
               Limits& limits, std::vector<std::int64_t>& sums) {
    std::vector<std::unique_ptr<SetWalk<Counter, Set>>> walks(limits.threads);
    parallel_for((sets.size() + sets_per_task - 1) / sets_per_task, limits, [&](std::size_t task, int worker) {
        if (!walks[worker]) walks[worker] = std::make_unique<SetWalk<Counter, Set>>(rows, function);
        const std::size_t begin = task * sets_per_task;
        const std::size_t end = std::min(sets.size(), begin + sets_per_task);
        for (std::size_t i = begin; i < end; ++i)
            sums[i] = walks[worker]->sum(&sets[i], sets.data() + end);
        limits.done += end - begin;
    });
    return !limits.stop.load();
}

}  // namespace

template <class Set>
bool sum_over_listed(const CountingRows& rows, const FixedFunction& function, const std::vector<Set>& sets,
                     Limits& limits, std::vector<std::int64_t>& sums) {
    sums.resize(sets.size());
    return rows.is_unweighted() ? walk_sets<BitCounter>(rows, function, sets, limits, sums)
                                : walk_sets<RowCounter>(rows, function, sets, limits, sums);
}

template bool sum_over_listed(const CountingRows&, const FixedFunction&, const std::vector<VarSet>&, Limits&,
                              std::vector<std::int64_t>&);
template bool sum_over_listed(const CountingRows&, const FixedFunction&, const std::vector<WideSet>&, Limits&,
                              std::vector<std::int64_t>&);
template bool sum_over_listed(const CountingRows&, const FixedFunction&, const std::vector<VastSet>&, Limits&,
                              std::vector<std::int64_t>&);

}  // namespace topdag
