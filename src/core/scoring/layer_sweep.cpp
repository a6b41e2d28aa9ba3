// layer_sweep.cpp
#include "scoring/layer_sweep.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

#include "base/parallel.h"
#include "base/simd.h"
#include "counting/pair_counter.h"

namespace topdag {

namespace {

constexpr std::int32_t not_counted = 1 << 30;
constexpr std::int32_t slack_units = 8;     // what rounding to the units of a layer can do
constexpr double rounding = 1.0 + 0x1p-20;  // more than what rounding to floats can do

// A member of a prefix as the child of the others and one variable more: the score of these for each such variable, and
// for which of them they may be its parents.
struct AsChild {
    const std::int32_t* others;
    std::int32_t penalty;  // of the others for each state of the variable, rounded up
    std::int32_t alone;    // what the child must gain over
    float most_states;
    float most_cost;
};

// What the sets must score for some child, and the most that they can score before they pay for their own cells.
TOPDAG_SIMD void lower_both(const AsChild& child, const std::int32_t* states, const float* costs, std::int32_t* needed,
                            std::int32_t* most, int n) {
    for (int x = 0; x < n; ++x) {
        const bool may_be = (static_cast<float>(states[x]) <= child.most_states) & (costs[x] <= child.most_cost);
        needed[x] = std::min(needed[x], may_be ? child.others[x] + child.alone : not_counted);
        most[x] = std::min(most[x], child.others[x] + child.penalty * states[x]);
    }
}

// The prefix as the parents of the variable.
struct AsParents {
    const std::int32_t* own;  // its score, by place of the variable
    std::int32_t penalty;     // rounded down
    float cells;
    float most_cells;  // where the variable has two states
    bool is_bounded;   // by likelihood
};

// The last that has its say; then the sets pay for their own cells.
TOPDAG_SIMD void add_last(const AsParents& parents, const std::int32_t* states, const float* most_parents,
                          const std::int32_t* alone, std::int32_t* needed, std::int32_t* most, int n) {
    for (int x = 0; x < n; ++x) {
        const bool may_be = (parents.cells <= most_parents[x]) &
                            (parents.cells * static_cast<float>(states[x] - 1) <= parents.most_cells);
        needed[x] = std::min(needed[x], may_be ? parents.own[x] + alone[x] : not_counted) - slack_units;
        const std::int32_t bound = std::min(most[x], parents.own[x] + parents.penalty + 1) - parents.penalty * states[x];
        most[x] = parents.is_bounded ? bound + slack_units : not_counted / 2;
    }
}

}  // namespace

LayerSweep::LayerSweep(const PruningQuestion& question, const SetScorer& scorer, Limits& limits)
    : question_(question), scorer_(scorer), rows_(scorer.rows()), limits_(limits), n_(rows_.n_variables()), ranks_(n_),
      alone_(n_, -not_counted / 2), caps_(n_, {infinity, infinity, infinity}), costs_(n_, 0.0f), most_parents_(n_, std::numeric_limits<float>::infinity()) {
    const ScoreGrid& grid = scorer.grid();
    const int unit_bits = 28 - static_cast<int>(std::ceil(std::log2(grid.largest() + 1.0)));
    units_in_one_ = std::ldexp(1.0, unit_bits);
    scale_of_sums_ = std::ldexp(1.0, -grid.bits());
    for (int x = 0; x < n_; ++x) {
        arities_.push_back(rows_.arity(x));
        widest_ = std::max(widest_, rows_.arity(x));
        below_of_.push_back(question.number_of_below(scorer.variable(x)));
    }
    std::vector<int> sorted = arities_;
    std::sort(sorted.begin(), sorted.end());
    least_cells_.push_back(1.0);
    for (int arity : sorted) least_cells_.push_back(least_cells_.back() * arity);
    const SetFormula& joint = question.joint;
    shrinks_ = joint.kind == CellKind::n_log_n && question.below.empty() && joint.penalty == Penalty::per_cell &&
               joint.penalty_weight >= 0;
    for (int f = 0; f < question_.n_below(); ++f) {
        CountTables tables(rows_.n_looked_up(), fixed(question_.below_at(f)));
        Penalties penalties(rows_.n_rows());
        last_.push_back({in_units(tables.of(1.0)(rows_.n_rows()), penalties.of(question_.below_at(f), 1.0))});
    }
}

void LayerSweep::set_caps(std::vector<CellCaps> caps) {
    caps_ = std::move(caps);
    most_as_child_ = most_in_child_ = 0.0;
    for (int v = 0; v < n_; ++v) {
        most_as_child_ = std::max(most_as_child_, caps_[v].as_child);
        most_in_child_ = std::max(most_in_child_, caps_[v].as_child / rows_.arity(v));
        costs_[v] = static_cast<float>(rows_.arity(v) / caps_[v].in_parents);
        most_parents_[v] = static_cast<float>(caps_[v].as_child / rows_.arity(v));
    }
}

std::int32_t LayerSweep::units_of(double score) const {
    return static_cast<std::int32_t>(std::clamp(score * units_in_one_, -not_counted / 2.0, not_counted / 2.0));
}

// What so many cells cost under a penalty for each, rounded down.
double LayerSweep::penalty_units(double cells) const {
    return std::floor(question_.joint.penalty_weight * cells * units_in_one_);
}

bool LayerSweep::goes_on(int size) const {
    return size < question_.max_parents && size + 1 < n_ && least_cells_[size + 1] <= most_in_child_;
}

double LayerSweep::bytes(int size) const {
    if (size + 1 > most_members) return infinity;
    return layer_bytes(ranks_.of(n_, size) + (goes_on(size) ? ranks_.of(n_, size + 1) : 0));
}

// Where the set stands that has the prefix without member `left_out` (its size: none), and the member 0 if `more`.
std::size_t LayerSweep::rank(const Prefix& prefix, int left_out, bool more) const {
    std::size_t at = 0;
    int k = prefix.size - (left_out < prefix.size) + more;
    for (int i = 0; i < prefix.size; ++i)
        if (i != left_out) at += ranks_.of(prefix.members[i], k--);
    return at;
}

// Whether the prefix and x may be parents in the next layer.
bool LayerSweep::are_parents(const Prefix& prefix, int x, double cells) const {
    return stores_ && cells <= most_in_child_ && cells <= std::min(prefix.caps.least_in_parents, caps_[x].in_parents);
}

// What one thread counts with.
template <class Counter>
class LayerSweep::Worker {
public:
    Worker(LayerSweep& sweep, const std::vector<FixedFunction>& functions, int size, const Consider& consider)
        : sweep_(sweep), rows_(sweep.rows_), size_(size), consider_(consider), counter_(rows_), pairs_(rows_),
          cells_(most_members + 1), penalties_(rows_.n_rows()), needed_(sweep.n_), most_(sweep.n_), own_(sweep.n_) {
        for (const FixedFunction& function : functions) tables_.emplace_back(rows_.n_looked_up(), function);
        counter_.begin(cells_[0]);
    }

    std::uint64_t n_sets = 0;
    std::uint64_t n_families = 0;

    // The sets with some highest members.
    void run(std::size_t task) {
        task_ = task;
        Prefix prefix;
        if (depth(size_) == 2) {
            int high = 1;
            while (sweep_.ranks_.of(high + 1, 2) <= task) ++high;
            const int second = static_cast<int>(task - sweep_.ranks_.of(high, 2));
            if (second < size_ - 1) return;  // too few lie below
            if (!add_member(prefix, high) || !add_member(prefix, second)) return;
        } else if (depth(size_) == 1 && !add_member(prefix, static_cast<int>(task))) {
            return;
        }
        descend(prefix);
    }

private:
    // Sets with the prefix, so many members in it as families have parents, then one more.
    void descend(const Prefix& prefix) {
        if (prefix.size == size_) return finish(prefix);
        if (sweep_.limits_.reached()) return;
        const int remaining = size_ + 1 - prefix.size;
        for (int place = prefix.members[prefix.size - 1] - 1; place >= remaining - 1; --place) {
            Prefix longer = prefix;
            if (add_member(longer, place)) descend(longer);
        }
    }

    // False when no set that begins so can matter.
    bool add_member(Prefix& prefix, int place) {
        prefix.members[prefix.size++] = place;
        prefix.cells *= rows_.arity(place);
        prefix.caps.add(sweep_.caps_[place]);
        const int remaining = size_ + 1 - prefix.size;
        const double least_cells = prefix.cells * sweep_.least_cells_[remaining];
        if (!prefix.caps.fit(least_cells, sweep_.most_as_child_)) return false;
        made_ = std::min(made_, prefix.size - 1);
        if (remaining >= 2) is_paired_ = false;
        return true;
    }

    // Counts the prefix with each lower member in turn.
    void finish(const Prefix& prefix) {
        const int m = prefix.size;
        const int end = m == 0 ? sweep_.n_ : prefix.members[m - 1];
        find_needed(prefix, end);
        is_whole_ = false;
        const std::size_t next = sweep_.rank(prefix, m, true);
        for (int x = 0; x < end; ++x) {
            const bool may_be_family = needed_[x] <= most_[x];
            if (!may_be_family && !sweep_.stores_) continue;
            const double set_cells = prefix.cells * rows_.arity(x);
            const bool may_be_parents = sweep_.are_parents(prefix, x, set_cells);
            if (!may_be_family && !may_be_parents) continue;
            const std::int32_t value = may_be_parents ? count(prefix, x, set_cells, next)
                                                      : count_down(prefix, x, set_cells, needed_[x]);
            n_families += static_cast<std::uint64_t>(m) + 1;
            if (value >= needed_[x]) examine(prefix, x, value);
        }
        sweep_.limits_.done += static_cast<std::uint64_t>(end);
    }

    // For each lower member x: what the prefix with x must score so that some family of them may be worth it, and what it
    // can score at most. More variables split cells, so a set is no more likely than any subset of it.
    void find_needed(const Prefix& prefix, int end) {
        const double for_each_state = sweep_.penalty_units(prefix.cells);
        const bool is_bounded = sweep_.shrinks_ && for_each_state * sweep_.widest_ < not_counted / 2;
        std::fill(needed_.begin(), needed_.begin() + end, not_counted);
        std::fill(most_.begin(), most_.begin() + end, not_counted);
        for (int i = 0; i < prefix.size; ++i)
            lower_both(as_child(prefix, i, is_bounded), sweep_.arities_.data(), sweep_.costs_.data(), needed_.data(),
                       most_.data(), end);
        const std::size_t own = sweep_.rank(prefix, prefix.size, false);
        for (int x = 0; x < end; ++x) own_[x] = sweep_.last_[sweep_.below_of_[x]][own];
        const AsParents parents{own_.data(), is_bounded ? static_cast<std::int32_t>(for_each_state) : 0,
                                static_cast<float>(prefix.cells / rounding),
                                static_cast<float>(prefix.caps.least_in_parents * rounding), is_bounded};
        add_last(parents, sweep_.arities_.data(), sweep_.most_parents_.data(), sweep_.alone_.data(), needed_.data(),
                 most_.data(), end);
    }

    // The penalty and entropy rules, as find_caps in layered_scores.cpp has them: no variable has more states, or costs
    // more for each cell that it multiplies, than makes up for what child or parents can gain.
    AsChild as_child(const Prefix& prefix, int i, bool is_bounded) const {
        const int child = prefix.members[i];
        const double others = prefix.cells / rows_.arity(child);  // cells of them
        const double times = others * (rows_.arity(child) - 1);
        double least_in_parents = infinity;
        for (int j = 0; j < prefix.size; ++j)
            if (j != i) least_in_parents = std::min(least_in_parents, sweep_.caps_[prefix.members[j]].in_parents);
        const double most_states = std::min(sweep_.caps_[child].as_child / prefix.cells, least_in_parents / times);
        return {sweep_.last_[sweep_.below_of_[child]].data() + sweep_.rank(prefix, i, true),
                is_bounded ? static_cast<std::int32_t>(sweep_.penalty_units(others)) + 1 : 0, sweep_.alone_[child],
                static_cast<float>(most_states * rounding), static_cast<float>(rounding / times)};
    }

    // The joint score of the cells with x; stores what the next layer needs.
    std::int32_t count(const Prefix& prefix, int x, double set_cells, std::size_t next) {
        ++n_sets;
        const PruningQuestion& question = sweep_.question_;
        const std::int64_t sum = sum_with(prefix, x, tables_[0].of(set_cells));
        const std::int32_t value = sweep_.in_units(sum, penalties_.of(question.joint, set_cells));
        const std::size_t at = next + static_cast<std::size_t>(x);
        if (question.below.empty()) sweep_.next_[0][at] = value;
        for (std::size_t f = 0; f < question.below.size(); ++f) {
            const std::int64_t own = sum_with(prefix, x, tables_[f + 1].of(set_cells));
            sweep_.next_[f][at] = sweep_.in_units(own, penalties_.of(question.below[f], set_cells));
        }
        return value;
    }

    // As above, or something below `needed` when it is; nothing is stored.
    std::int32_t count_down(const Prefix& prefix, int x, double set_cells, std::int32_t needed) {
        ++n_sets;
        const SetFormula& joint = sweep_.question_.joint;
        const CountTable& f = tables_[0].of(set_cells);
        const double penalty = penalties_.of(joint, set_cells);
        if (joint.kind != CellKind::n_log_n || rows_.arity(x) == 2) return sweep_.in_units(sum_with(prefix, x, f), penalty);
        const auto& cells = made_cells(prefix, prefix.size);
        if (!is_whole_) whole_ = counter_.sum(cells, f);
        is_whole_ = true;
        const double least = ((needed - 1) / sweep_.units_in_one_ + penalty) / sweep_.scale_of_sums_;
        const std::int64_t enough = least > -0x1p62 ? static_cast<std::int64_t>(std::min(least, 0x1p62)) : -(std::int64_t{1} << 62);
        return sweep_.in_units(counter_.split_down_to(enough, whole_, cells, x, f), penalty);
    }

    // The sum of f over the cells of the prefix and x.
    std::int64_t sum_with(const Prefix& prefix, int x, const CountTable& f) {
        if constexpr (std::is_same_v<Counter, BitCounter>)
            if (prefix.size > 1) {
                const int lowest = prefix.members[prefix.size - 1];
                if (rows_.arity(lowest) == 2 && rows_.arity(x) == 2) return paired(prefix).sum(lowest, x, f);
            }
        return counter_.split(made_cells(prefix, prefix.size), x, f);
    }

    PairCounter& paired(const Prefix& prefix) {
        if (!is_paired_) pairs_.begin(made_cells(prefix, prefix.size - 1), prefix.members[prefix.size - 2]);
        is_paired_ = true;
        return pairs_;
    }

    // The cells of the first members of the prefix, made when first asked for.
    const typename Counter::Cells& made_cells(const Prefix& prefix, int size) {
        for (int& i = made_; i < size; ++i) {
            const int place = prefix.members[i];
            counter_.refine(cells_[i], place, cells_[i + 1]);
            counter_.settle_down(cells_[i + 1], place, sweep_.ranks_.of(place, size_ - i));
        }
        return cells_[size];
    }

    // The families of the prefix and x that beat their child alone, by what the layers say.
    void examine(const Prefix& prefix, int x, std::int32_t value) {
        const int m = prefix.size;
        Prefix set = prefix;
        set.members[set.size++] = x;
        for (int i = 0; i <= m; ++i) {
            const int child = set.members[i];
            const std::size_t at = i < m ? sweep_.rank(prefix, i, true) + static_cast<std::size_t>(x) : sweep_.rank(prefix, m, false);
            const std::int32_t own = sweep_.last_[sweep_.below_of_[child]][at];
            if (own == not_counted || value - own + slack_units < sweep_.alone_[child]) continue;
            consider_(task_, set, child, (value - own + slack_units) / sweep_.units_in_one_);
        }
    }

    LayerSweep& sweep_;
    const CountingRows& rows_;
    int size_;
    const Consider& consider_;
    std::size_t task_ = 0;
    Counter counter_;
    PairCounter pairs_;                           // of the set without its two lowest members
    bool is_paired_ = false;                      // whether these are in place
    int made_ = 0;                                // so many members of the prefix have their cells
    std::vector<typename Counter::Cells> cells_;  // by number of members
    std::vector<CountTables> tables_;             // the joint one, then those of the parents
    Penalties penalties_;
    std::vector<std::int32_t> needed_;  // by lowest member: what a set must score,
    std::vector<std::int32_t> most_;    // and what it can
    std::vector<std::int32_t> own_;     // what the prefix scores as the parents
    std::int64_t whole_ = 0;  // the joint sum over the cells of the prefix itself,
    bool is_whole_ = false;   // if it is known
};

template <class Counter>
void LayerSweep::sweep_with(int size, const Consider& consider) {
    std::vector<FixedFunction> functions{fixed(question_.joint)};
    for (const SetFormula& formula : question_.below) functions.push_back(fixed(formula));
    std::vector<std::unique_ptr<Worker<Counter>>> workers(limits_.threads);
    const std::size_t n = n_tasks(size);
    parallel_for(n, limits_, [&](std::size_t task, int worker) {
        if (!workers[worker]) workers[worker] = std::make_unique<Worker<Counter>>(*this, functions, size, consider);
        workers[worker]->run(n - 1 - task);
    });
    for (const auto& worker : workers)
        if (worker) {
            n_sets_ += worker->n_sets * functions.size();
            n_families_ += worker->n_families;
            if (worker->n_families > 0) largest_ = size;
        }
}

void LayerSweep::sweep(int size, const Consider& consider) {
    stores_ = goes_on(size);
    next_.assign(question_.n_below(), {});
    if (stores_)
        for (std::vector<std::int32_t>& values : next_) values.assign(ranks_.of(n_, size + 1), not_counted);
    limits_.begin(Phase::counting, ranks_.of(n_, size + 1));
    if (rows_.is_unweighted())
        sweep_with<BitCounter>(size, consider);
    else
        sweep_with<RowCounter>(size, consider);
    last_ = std::move(next_);
}

}  // namespace topdag
