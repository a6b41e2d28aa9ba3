#include "scoring/layered_scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>

#include "base/parallel.h"
#include "base/simd.h"
#include "base/var_set.h"
#include "counting/cell_counters.h"
#include "counting/counting_rows.h"
#include "counting/pair_counter.h"
#include "scoring/set_scorer.h"
#include "scoring/subset_scores.h"

namespace topdag {

namespace {

constexpr int most_members = 24;  // of a set that is counted
constexpr std::int32_t not_counted = 1 << 30;
constexpr std::int32_t slack_units = 8;  // what rounding to the units of a layer can do
constexpr double infinite = std::numeric_limits<double>::infinity();

// needed = min(needed, layer + alone), for so many sets that stand one after the other.
TOPDAG_SIMD void lower_needed(std::int32_t* needed, const std::int32_t* layer, std::int32_t alone, int n) {
    for (int i = 0; i < n; ++i) needed[i] = std::min(needed[i], layer[i] + alone);
}

// Binomial coefficients; those that no memory could hold stay at the largest number.
class Ranks {
public:
    explicit Ranks(int n) : rows_(static_cast<std::size_t>(n) + 1) {
        for (std::size_t place = 0; place < rows_.size(); ++place) {
            rows_[place][0] = 1;
            for (int k = 1; k <= most_members && place > 0; ++k)
                rows_[place][k] = std::min(most, rows_[place - 1][k] + rows_[place - 1][k - 1]);
        }
    }

    // How many sets of k members stand below `place`: also what a member there adds to the rank as the k-th lowest.
    std::size_t of(int place, int k) const { return rows_[static_cast<std::size_t>(place)][k]; }

private:
    static constexpr std::size_t most = std::size_t{1} << 60;

    std::vector<std::array<std::size_t, most_members + 1>> rows_;
};

// How many cells a set may have so that a member can be worth it.
struct CellCaps {
    double as_child;   // of the set, when the member is the child
    double as_parent;  // of the set, when it is a parent
    double in_parents; // of the parent set it belongs to
};

// What the caps of some members say about sets that hold them all.
struct SharedCaps {
    double most_as_child = 0.0;
    double least_as_parent = infinite;  // the smallest cap of a member as a parent,
    double its_as_child = infinite;     // that member's as a child,
    double next_as_parent = infinite;   // and the second smallest
    double least_in_parents = infinite;

    void add(const CellCaps& caps) {
        most_as_child = std::max(most_as_child, caps.as_child);
        least_in_parents = std::min(least_in_parents, caps.in_parents);
        if (caps.as_parent < least_as_parent) {
            next_as_parent = least_as_parent;
            least_as_parent = caps.as_parent;
            its_as_child = caps.as_child;
        } else {
            next_as_parent = std::min(next_as_parent, caps.as_parent);
        }
    }

    // Whether a set with so many cells may be a family's: all but the child can be parents, and one can be the child.
    bool fit(double cells, double most_child) const {
        if (cells > next_as_parent) return false;
        return cells <= (cells > least_as_parent ? its_as_child : most_child);
    }
};

// The members of a set but for the lowest, highest first.
struct Prefix {
    int members[most_members];  // places
    int size = 0;
    double cells = 1.0;
    SharedCaps caps;
};

// The scores of all sets of one size, in units, by their rank; one array for each function of the parents.
using Layer = std::vector<std::vector<std::int32_t>>;

template <class WideSet>
class LayeredScorer {
public:
    // A family that may be worth keeping.
    using Hopeful = KeptFamily<WideSet>;

    LayeredScorer(const Table& table, const PruningQuestion& question, const std::vector<WideSet>& must, Limits& limits)
        : question_(question), limits_(limits), n_(table.n_variables()), scorer_(table, question), rows_(scorer_.rows()),
          grid_(scorer_.grid()), ranks_(n_), kept_(n_), better_(n_), must_(n_, 0), alone_(n_, -not_counted / 2),
          caps_(n_, {infinite, infinite, infinite}) {
        const int unit_bits = 28 - static_cast<int>(std::ceil(std::log2(grid_.largest() + 1.0)));
        units_in_one_ = std::ldexp(1.0, unit_bits);
        scale_of_sums_ = std::ldexp(1.0, -grid_.bits());
        epsilon_ = std::max(0.0, question.epsilon);
        std::vector<int> arities = table.arities;
        std::sort(arities.begin(), arities.end());
        least_cells_.push_back(1.0);
        for (int arity : arities) least_cells_.push_back(least_cells_.back() * arity);
        result_.grid = grid_.exponent();
        result_.words = words_for(n_);
        if (!must.empty()) place_must(must);
    }

    PrunedFamilies run() {
        result_.finished = add_must() && (rows_.is_unweighted() ? sweep_all<BitCounter>() : sweep_all<RowCounter>());
        if (result_.finished) sort_out();
        return std::move(result_);
    }

private:
    template <class Counter>
    struct Worker {
        Worker(const CountingRows& rows, const std::vector<FixedFunction>& functions, int n)
            : counter(rows), pairs(rows), cells(most_members + 1), penalties(rows.n_rows()), needed(n) {
            for (const FixedFunction& function : functions) tables.emplace_back(rows, function);
            counter.begin(cells[0]);
        }

        Counter counter;
        PairCounter pairs;                           // of the set without its two lowest members
        bool is_paired = false;                      // whether these are in place
        int set_size = 0;                            // members of the sets counted
        int made = 0;                                // so many members of the prefix have their cells
        std::vector<typename Counter::Cells> cells;  // by number of members
        std::vector<CountTables> tables;             // the joint one, then those of the parents
        Penalties penalties;
        std::vector<std::int32_t> needed;
        std::int64_t whole = 0;                      // the joint sum over the cells of the prefix itself,
        bool is_whole = false;                       // if it is known
        std::vector<Hopeful> hopeful;
        std::uint64_t n_sets = 0;
        std::uint64_t n_families = 0;
    };

    template <class Counter>
    bool sweep_all() {
        last_.assign(n_below(), {});
        for (int f = 0; f < n_below(); ++f) {
            CountTables tables(rows_, fixed(below(f)));
            Penalties penalties(rows_.n_rows());
            last_[f] = {in_units(tables.of(1.0)(rows_.n_rows()), penalties.of(below(f), 1.0))};
        }
        for (int size = 0; size < n_ && (size == 0 || goes_on(size - 1)); ++size) {
            if (!has_memory(size)) return false;
            std::vector<Hopeful> hopeful = sweep<Counter>(size);
            if (limits_.stop.load() || !add_kept(std::move(hopeful))) return false;
            if (size > 0) continue;
            for (int x = 0; x < n_; ++x)
                alone_[x] = units_of(kept_[x].front().score - std::min(epsilon_, grid_.largest() * 2)) - 1;
            if (!find_caps()) return false;
        }
        return true;
    }

    void place_must(const std::vector<WideSet>& must) {
        std::vector<int> place_of(n_);
        for (int place = 0; place < n_; ++place) place_of[scorer_.variable(place)] = place;
        for (int x = 0; x < n_; ++x)
            for (WideSet rest = must[x]; rest != 0; rest &= rest - 1)
                must_[place_of[x]] |= only<WideSet>(place_of[first_of(rest)]);
        for (WideSet own : must_) in_some_must_ |= own;
    }

    // The smallest families of variables that must have parents.
    bool add_must() {
        std::vector<Hopeful> families;
        for (int x = 0; x < n_; ++x)
            if (must_[x] != 0) families.push_back({x, must_[x]});
        return add_kept(std::move(families));
    }

    bool may_use(CutRule rule) const { return question_.rules >> static_cast<int>(rule) & 1; }
    bool has_caps() const { return question_.joint.penalty == Penalty::per_cell && question_.joint.penalty_weight > 0; }
    bool has_own_below() const { return !question_.below.empty(); }
    int n_below() const { return std::max<int>(1, static_cast<int>(question_.below.size())); }
    int below_of(int x) const { return has_own_below() ? question_.below_of[scorer_.variable(x)] : 0; }
    const SetFormula& below(int f) const { return has_own_below() ? question_.below[f] : question_.joint; }
    FixedFunction fixed(const SetFormula& formula) const {
        return {formula.kind, formula.parameter, formula.spread, grid_.bits()};
    }

    std::int32_t in_units(std::int64_t sum, double penalty) const {
        return units_of(static_cast<double>(sum) * scale_of_sums_ - penalty);
    }

    std::int32_t units_of(double score) const {
        return static_cast<std::int32_t>(std::clamp(score * units_in_one_, -not_counted / 2.0, not_counted / 2.0));
    }

    // ---- What may be left out

    // A family (X, T) can go when the penalty of T alone is more than X can gain over having no parents but those that
    // must be, or when a parent Y costs more than its own entropy, which is all it can explain, whatever the other
    // parents; unless Y must be a parent.
    bool find_caps() {
        if (!has_caps()) return true;
        const double weight = question_.joint.penalty_weight;
        const double slack = slack_steps * grid_.step();
        std::vector<double> most_likely;
        std::vector<Hopeful> alone;
        for (int v = 0; v < n_; ++v) alone.push_back({v, 0});
        if (!scorer_.most_likely<WideSet>(limits_, most_likely) || !score(alone)) return false;
        for (int v = 0; v < n_; ++v) {
            const double arity = rows_.arity(v);
            if (arity < 2) continue;
            if (may_use(CutRule::penalty)) {
                const double room = most_likely[v] - kept_[v].front().score + epsilon_ + slack;
                caps_[v].as_child = room / (weight * (arity - 1)) * arity;
            }
            if (may_use(CutRule::entropy) && !has(in_some_must_, v)) {
                const double entropy = -alone[v].score - weight * (arity - 1) + epsilon_ + slack;
                caps_[v].in_parents = entropy / (weight * (arity - 1)) * arity;
                caps_[v].as_parent = caps_[v].in_parents * 2.0;  // and r/(r-1) times more with a child of r states
            }
        }
        most_as_child_ = most_in_child_ = 0.0;
        for (int v = 0; v < n_; ++v) {
            most_as_child_ = std::max(most_as_child_, caps_[v].as_child);
            most_in_child_ = std::max(most_in_child_, caps_[v].as_child / rows_.arity(v));
        }
        return true;
    }

    // Whether some family with so many parents may be worth it.
    bool is_possible(int size) const {
        return size == 0 || least_cells_[size] <= most_in_child_;
    }

    bool goes_on(int size) const { return size < question_.max_parents && size + 1 < n_ && is_possible(size + 1); }

    bool has_memory(int size) {
        double bytes = infinite;
        if (size + 1 <= most_members) {
            const std::size_t more = goes_on(size) ? ranks_.of(n_, size + 1) : 0;
            bytes = 4.0 * n_below() * static_cast<double>(ranks_.of(n_, size) + more);
        }
        return is_allowed(bytes);
    }

    // Whether so many bytes may be taken beside the families kept.
    bool is_allowed(double bytes) {
        for (int x = 0; x < n_; ++x) bytes += sizeof(Hopeful) * static_cast<double>(kept_[x].size()) + better_[x].bytes();
        if (bytes > question_.memory) result_.memory_needed = bytes;
        return bytes <= question_.memory;
    }

    // ---- One layer

    // Families with so many parents that no smaller one beats for certain. Makes the layer of sets with one member more.
    template <class Counter>
    std::vector<Hopeful> sweep(int size) {
        stores_ = goes_on(size);
        next_.assign(n_below(), {});
        if (stores_)
            for (std::vector<std::int32_t>& values : next_) values.assign(ranks_.of(n_, size + 1), not_counted);
        std::vector<FixedFunction> functions{fixed(question_.joint)};
        for (const SetFormula& formula : question_.below) functions.push_back(fixed(formula));
        const int depth = std::min(2, size);
        const std::size_t n_tasks = ranks_.of(n_, depth);
        std::vector<std::unique_ptr<Worker<Counter>>> workers(limits_.threads);
        std::vector<std::vector<Hopeful>> found(n_tasks);
        limits_.begin(Phase::counting, ranks_.of(n_, size + 1));
        parallel_for(n_tasks, limits_, [&](std::size_t task, int worker) {
            if (!workers[worker]) workers[worker] = std::make_unique<Worker<Counter>>(rows_, functions, n_);
            Worker<Counter>& own = *workers[worker];
            begin_task(own, n_tasks - 1 - task, depth, size);
            found[task] = std::move(own.hopeful);
            own.hopeful.clear();
        });
        std::uint64_t n_families = 0;
        for (const auto& worker : workers)
            if (worker) {
                result_.n_sets += worker->n_sets * functions.size();
                n_families += worker->n_families;
            }
        result_.n_scored += n_families;
        if (n_families > 0) result_.limit = size;
        std::vector<Hopeful> hopeful;
        for (std::vector<Hopeful>& some : found) {
            hopeful.insert(hopeful.end(), some.begin(), some.end());
            std::vector<Hopeful>().swap(some);
        }
        last_ = std::move(next_);
        return hopeful;
    }

    // Tasks are told apart by the two highest members.
    template <class Counter>
    void begin_task(Worker<Counter>& worker, std::size_t task, int depth, int size) {
        Prefix prefix;
        worker.set_size = size + 1;
        if (depth == 2) {
            int high = 1;
            while (ranks_.of(high + 1, 2) <= task) ++high;
            const int second = static_cast<int>(task - ranks_.of(high, 2));
            if (second < size - 1) return;  // too few lie below
            if (!add_member(worker, prefix, high, size) || !add_member(worker, prefix, second, size)) return;
        } else if (depth == 1 && !add_member(worker, prefix, static_cast<int>(task), size)) {
            return;
        }
        descend(worker, prefix, size);
    }

    // Sets with the prefix and `size` members in it, then one more.
    template <class Counter>
    void descend(Worker<Counter>& worker, const Prefix& prefix, int size) {
        if (prefix.size == size) return finish(worker, prefix);
        if (limits_.reached()) return;
        const int remaining = size + 1 - prefix.size;
        for (int place = prefix.members[prefix.size - 1] - 1; place >= remaining - 1; --place) {
            Prefix longer = prefix;
            if (add_member(worker, longer, place, size)) descend(worker, longer, size);
        }
    }

    // False when no set that begins so can matter.
    template <class Counter>
    bool add_member(Worker<Counter>& worker, Prefix& prefix, int place, int size) {
        prefix.members[prefix.size++] = place;
        prefix.cells *= rows_.arity(place);
        prefix.caps.add(caps_[place]);
        const int remaining = size + 1 - prefix.size;
        const double least_cells = prefix.cells * least_cells_[remaining];
        if (!prefix.caps.fit(least_cells, most_as_child_)) return false;
        worker.made = std::min(worker.made, prefix.size - 1);
        if (remaining >= 2) worker.is_paired = false;
        return true;
    }

    // The cells of the first members of the prefix, made when first asked for.
    template <class Counter>
    const typename Counter::Cells& made_cells(Worker<Counter>& worker, const Prefix& prefix, int size) {
        for (int& i = worker.made; i < size; ++i) {
            const int place = prefix.members[i];
            worker.counter.refine(worker.cells[i], place, worker.cells[i + 1]);
            worker.counter.settle_down(worker.cells[i + 1], place, ranks_.of(place, worker.set_size - i - 1));
        }
        return worker.cells[size];
    }

    // Where the set stands that has the prefix without member `left_out` (its size: none), and the member 0 if `more`.
    std::size_t rank(const Prefix& prefix, int left_out, bool more) const {
        std::size_t at = 0;
        int k = prefix.size - (left_out < prefix.size) + more;
        for (int i = 0; i < prefix.size; ++i)
            if (i != left_out) at += ranks_.of(prefix.members[i], k--);
        return at;
    }

    // Counts the prefix with each lower member in turn.
    template <class Counter>
    void finish(Worker<Counter>& worker, const Prefix& prefix) {
        const int m = prefix.size;
        const int end = m == 0 ? n_ : prefix.members[m - 1];
        std::fill(worker.needed.begin(), worker.needed.begin() + end, not_counted);
        worker.is_whole = false;
        for (int i = 0; i < m; ++i) {
            const int child = prefix.members[i];
            lower_needed(worker.needed.data(), last_[below_of(child)].data() + rank(prefix, i, true), alone_[child], end);
        }
        const std::size_t own = rank(prefix, m, false);
        const std::size_t next = rank(prefix, m, true);
        for (int x = 0; x < end; ++x) {
            const double set_cells = prefix.cells * rows_.arity(x);
            if (!is_wanted(prefix, x, set_cells)) continue;
            const std::int32_t needed = std::min(worker.needed[x], last_[below_of(x)][own] + alone_[x]) - slack_units;
            const std::int32_t value = are_parents(prefix, x, set_cells) ? count(worker, prefix, x, set_cells, next)
                                                                         : count_down(worker, prefix, x, set_cells, needed);
            worker.n_families += static_cast<std::uint64_t>(m) + 1;
            if (value >= needed) examine(worker, prefix, x, value);
        }
        limits_.done += static_cast<std::uint64_t>(end);
    }

    bool is_wanted(const Prefix& prefix, int x, double cells) const {
        SharedCaps caps = prefix.caps;
        caps.add(caps_[x]);
        return caps.fit(cells, caps.most_as_child) || are_parents(prefix, x, cells);
    }

    // Whether the prefix and x may be parents in the next layer.
    bool are_parents(const Prefix& prefix, int x, double cells) const {
        return stores_ && cells <= most_in_child_ && cells <= std::min(prefix.caps.least_in_parents, caps_[x].in_parents);
    }

    // The joint score of the cells with x; stores what the next layer needs.
    template <class Counter>
    std::int32_t count(Worker<Counter>& worker, const Prefix& prefix, int x, double set_cells, std::size_t next) {
        ++worker.n_sets;
        const std::int64_t sum = sum_with(worker, prefix, x, worker.tables[0].of(set_cells));
        const std::int32_t value = in_units(sum, worker.penalties.of(question_.joint, set_cells));
        if (!has_own_below()) next_[0][next + static_cast<std::size_t>(x)] = value;
        for (std::size_t f = 0; f < question_.below.size(); ++f) {
            const std::int64_t own = sum_with(worker, prefix, x, worker.tables[f + 1].of(set_cells));
            next_[f][next + static_cast<std::size_t>(x)] = in_units(own, worker.penalties.of(question_.below[f], set_cells));
        }
        return value;
    }

    // As above, or something below `needed` when it is; nothing is stored.
    template <class Counter>
    std::int32_t count_down(Worker<Counter>& worker, const Prefix& prefix, int x, double set_cells, std::int32_t needed) {
        ++worker.n_sets;
        const CountTable& f = worker.tables[0].of(set_cells);
        const double penalty = worker.penalties.of(question_.joint, set_cells);
        if (question_.joint.kind != CellKind::n_log_n || rows_.arity(x) == 2)
            return in_units(sum_with(worker, prefix, x, f), penalty);
        const auto& cells = made_cells(worker, prefix, prefix.size);
        if (!worker.is_whole) worker.whole = worker.counter.sum(cells, f);
        worker.is_whole = true;
        const double least = ((needed - 1) / units_in_one_ + penalty) / scale_of_sums_;
        const std::int64_t enough = least > -0x1p62 ? static_cast<std::int64_t>(std::min(least, 0x1p62)) : -(std::int64_t{1} << 62);
        return in_units(worker.counter.split_down_to(enough, worker.whole, cells, x, f), penalty);
    }

    template <class Counter>
    PairCounter& pairs(Worker<Counter>& worker, const Prefix& prefix) {
        if (!worker.is_paired)
            worker.pairs.begin(made_cells(worker, prefix, prefix.size - 1), prefix.members[prefix.size - 2]);
        worker.is_paired = true;
        return worker.pairs;
    }

    // The sum of f over the cells of the prefix and x.
    template <class Counter>
    std::int64_t sum_with(Worker<Counter>& worker, const Prefix& prefix, int x, const CountTable& f) {
        if constexpr (std::is_same_v<Counter, BitCounter>)
            if (prefix.size > 1) {
                const int lowest = prefix.members[prefix.size - 1];
                if (rows_.arity(lowest) == 2 && rows_.arity(x) == 2) return pairs(worker, prefix).sum(lowest, x, f);
            }
        return worker.counter.split(made_cells(worker, prefix, prefix.size), x, f);
    }

    // The families of the prefix and x that beat their child alone, by what the layers say.
    template <class Counter>
    void examine(Worker<Counter>& worker, const Prefix& prefix, int x, std::int32_t value) {
        const int m = prefix.size;
        WideSet set = only<WideSet>(x);
        for (int i = 0; i < m; ++i) set |= only<WideSet>(prefix.members[i]);
        for (int i = 0; i <= m; ++i) {
            const int child = i < m ? prefix.members[i] : x;
            const WideSet parents = set & ~only<WideSet>(child);
            if (must_[child] != 0 && (!is_subset(must_[child], parents) || parents == must_[child])) continue;
            const std::size_t at = i < m ? rank(prefix, i, true) + static_cast<std::size_t>(x) : rank(prefix, m, false);
            const std::int32_t own = last_[below_of(child)][at];
            if (own == not_counted || value - own + slack_units < alone_[child]) continue;
            const double most = (value - own + slack_units) / units_in_one_;
            if (!better_[child].has_better(parents, most + epsilon_)) worker.hopeful.push_back({child, parents, 0.0});
        }
    }

    // ---- Exact scores

    // Scores families on the grid. Sets are counted once for all of them.
    bool score(std::vector<Hopeful>& families) {
        for (Hopeful& family : families) family.score = 0.0;
        if (!add_set_scores(question_.joint, 1.0, families, [&](const Hopeful& family) {
                return std::optional(family.parents | only<WideSet>(family.x));
            }))
            return false;
        for (int f = 0; f < n_below(); ++f)
            if (!add_set_scores(below(f), -1.0, families, [&](const Hopeful& family) {
                    return below_of(family.x) == f ? std::optional(family.parents) : std::nullopt;
                }))
                return false;
        return true;
    }

    // Adds the score of the set that `set_of` names, times the sign, to each family for which there is one.
    template <class SetOf>
    bool add_set_scores(const SetFormula& formula, double sign, std::vector<Hopeful>& families, SetOf&& set_of) {
        std::vector<WideSet> sets;
        for (const Hopeful& family : families)
            if (const auto set = set_of(family); set && (sets.empty() || sets.back() != *set)) sets.push_back(*set);
        std::sort(sets.begin(), sets.end());
        sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
        std::vector<double> scores;
        if (!scorer_.score(formula, sets, limits_, scores)) return false;
        for (Hopeful& family : families)
            if (const auto set = set_of(family))
                family.score += sign * scores[std::lower_bound(sets.begin(), sets.end(), *set) - sets.begin()];
        return true;
    }

    // Scores these families and keeps those that no kept one beats. As what beats a family that is left out beats all
    // that family beats, kept ones are enough to compare with.
    bool add_kept(std::vector<Hopeful> hopeful) {
        const double layers = 4.0 * n_below() * static_cast<double>(last_.empty() ? 0 : last_[0].size());
        const double beside = 3.0 * sizeof(Hopeful) * static_cast<double>(hopeful.size());  // themselves, sets, those kept
        if (!is_allowed(layers + beside) || !score(hopeful)) return false;
        for (const Hopeful& family : hopeful)
            if (is_kept(family)) kept_[family.x].push_back(family);
        parallel_for(kept_.size(), limits_, [&](std::size_t x, int) {
            std::sort(kept_[x].begin(), kept_[x].end(),
                      [](const Hopeful& a, const Hopeful& b) { return a.parents < b.parents; });
            better_[x] = SubsetScores<WideSet>(kept_[x]);
        });
        return !limits_.stop.load();
    }

    bool is_kept(const Hopeful& family) const {
        const double most = question_.epsilon < 0 ? std::nextafter(family.score, -infinite)
                                                  : family.score + question_.epsilon;
        return !better_[family.x].has_better(family.parents, most);
    }

    void sort_out() {
        std::vector<Hopeful> all;
        for (int x = 0; x < n_; ++x)
            for (const Hopeful& family : kept_[x])
                all.push_back({scorer_.variable(x), scorer_.variables_of(family.parents), family.score});
        list_families(n_, std::move(all), result_);
    }

    const PruningQuestion& question_;
    Limits& limits_;
    int n_;
    SetScorer scorer_;
    const CountingRows& rows_;
    const ScoreGrid& grid_;
    Ranks ranks_;
    std::vector<std::vector<Hopeful>> kept_;     // by place of the child, then by parents
    std::vector<SubsetScores<WideSet>> better_;  // of those kept
    std::vector<WideSet> must_;               // by place: parents in any case
    WideSet in_some_must_ = 0;
    std::vector<std::int32_t> alone_;  // by place: what a family must reach, in units: the smallest one, less epsilon
    std::vector<CellCaps> caps_;
    double most_as_child_ = infinite;
    double most_in_child_ = infinite;
    std::vector<double> least_cells_;  // of sets by size
    double units_in_one_ = 1.0;
    double scale_of_sums_ = 1.0;
    double epsilon_ = 0.0;
    bool stores_ = false;
    Layer last_;
    Layer next_;
    PrunedFamilies result_;
};

}  // namespace

template <class Set>
PrunedFamilies score_layers(const Table& table, const PruningQuestion& question, const std::vector<Set>& must,
                            Limits& limits) {
    return LayeredScorer<Set>(table, question, must, limits).run();
}

template PrunedFamilies score_layers(const Table&, const PruningQuestion&, const std::vector<WideSet>&, Limits&);
template PrunedFamilies score_layers(const Table&, const PruningQuestion&, const std::vector<VastSet>&, Limits&);

}  // namespace topdag
