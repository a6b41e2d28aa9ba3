// layered_scores.cpp: a layer holds the scores of all sets of one size, by their rank among them; a family's score is the
// difference of two neighbours.
#include "scoring/pruned_scores.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/parallel.h"
#include "scoring/layer_sweep.h"
#include "scoring/set_scorer.h"
#include "scoring/subset_scores.h"

namespace topdag {

namespace {

// Variables with little entropy at the highest places: what is shared by many sets has few cells then, and those that
// have many are seldom made.
std::vector<int> places_by_falling_entropy(const Table& table) {
    std::vector<int> order = places_by_entropy(table);
    std::reverse(order.begin(), order.end());
    return order;
}

template <class Set>
class LayeredScorer {
public:
    // A family that may be worth keeping.
    using Hopeful = KeptFamily<Set>;

    LayeredScorer(const Table& table, const PruningQuestion& question, const std::vector<Set>& must, Limits& limits)
        : question_(question), limits_(limits), n_(table.n_variables()),
          scorer_(table, question, places_by_falling_entropy(table)), grid_(scorer_.grid()),
          sweep_(question, scorer_, limits), epsilon_(std::max(0.0, question.epsilon)), kept_(n_), better_(n_), must_(n_, 0) {
        result_.grid = grid_.exponent();
        result_.words = words_for(n_);
        if (!must.empty()) place_must(must);
    }

    PrunedFamilies run() {
        result_.finished = add_must() && sweep_all();
        result_.n_sets = sweep_.n_sets();
        result_.n_scored = sweep_.n_families();
        result_.limit = sweep_.largest();
        if (result_.finished) sort_out();
        return std::move(result_);
    }

private:
    bool sweep_all() {
        for (int size = 0; size < n_ && (size == 0 || sweep_.goes_on(size - 1)); ++size) {
            if (!is_allowed(sweep_.bytes(size))) return false;
            std::vector<Hopeful> hopeful = hopeful_of(size);
            if (limits_.stop.load() || !add_kept(std::move(hopeful))) return false;
            if (size > 0) continue;
            for (int x = 0; x < n_; ++x)
                sweep_.set_alone(x, kept_[x].front().score - std::min(epsilon_, grid_.largest() * 2));
            if (!find_caps()) return false;
        }
        return true;
    }

    // Those with so many parents.
    std::vector<Hopeful> hopeful_of(int size) {
        std::vector<std::vector<Hopeful>> found(sweep_.n_tasks(size));
        sweep_.sweep(size, [&](std::size_t task, const Prefix& set, int child, double most) {
            Set parents = 0;
            for (int i = 0; i < set.size; ++i)
                if (set.members[i] != child) parents |= only<Set>(set.members[i]);
            if (must_[child] != 0 && (!is_subset(must_[child], parents) || parents == must_[child])) return;
            if (!better_[child].has_better(parents, most + epsilon_)) found[task].push_back({child, parents, 0.0});
        });
        std::vector<Hopeful> hopeful;
        for (auto some = found.rbegin(); some != found.rend(); ++some) {
            hopeful.insert(hopeful.end(), some->begin(), some->end());
            std::vector<Hopeful>().swap(*some);
        }
        return hopeful;
    }

    void place_must(const std::vector<Set>& must) {
        std::vector<int> place_of(n_);
        for (int place = 0; place < n_; ++place) place_of[scorer_.variable(place)] = place;
        for (int x = 0; x < n_; ++x)
            for (Set rest = must[x]; rest != 0; rest &= rest - 1)
                must_[place_of[x]] |= only<Set>(place_of[first_of(rest)]);
        for (Set own : must_) in_some_must_ |= own;
    }

    // The smallest families of variables that must have parents.
    bool add_must() {
        std::vector<Hopeful> families;
        for (int x = 0; x < n_; ++x)
            if (must_[x] != 0) families.push_back({x, must_[x]});
        return add_kept(std::move(families));
    }

    // ---- What may be left out

    bool may_use(CutRule rule) const { return question_.rules >> static_cast<int>(rule) & 1; }

    // A family (X, T) can go when the penalty of T alone is more than X can gain over having no parents but those that
    // must be, or when a parent Y costs more than its own entropy, which is all it can explain, whatever the other
    // parents; unless Y must be a parent.
    bool find_caps() {
        if (question_.joint.penalty != Penalty::per_cell || !(question_.joint.penalty_weight > 0)) return true;
        const double weight = question_.joint.penalty_weight;
        const double slack = slack_steps * grid_.step();
        std::vector<double> most_likely;
        std::vector<Hopeful> alone;
        std::vector<CellCaps> caps(n_, {infinity, infinity, infinity});
        for (int v = 0; v < n_; ++v) alone.push_back({v, 0});
        if (!scorer_.most_likely<Set>(limits_, most_likely) || !score(alone)) return false;
        for (int v = 0; v < n_; ++v) {
            const double arity = scorer_.rows().arity(v);
            if (arity < 2) continue;
            if (may_use(CutRule::penalty)) {
                const double room = most_likely[v] - kept_[v].front().score + epsilon_ + slack;
                caps[v].as_child = room / (weight * (arity - 1)) * arity;
            }
            if (may_use(CutRule::entropy) && !has(in_some_must_, v)) {
                const double entropy = -alone[v].score - weight * (arity - 1) + epsilon_ + slack;
                caps[v].in_parents = entropy / (weight * (arity - 1)) * arity;
                caps[v].as_parent = caps[v].in_parents * 2.0;  // and r/(r-1) times more with a child of r states
            }
        }
        sweep_.set_caps(std::move(caps));
        return true;
    }

    // Whether so many bytes may be taken beside the families kept.
    bool is_allowed(double bytes) {
        for (int x = 0; x < n_; ++x) bytes += sizeof(Hopeful) * static_cast<double>(kept_[x].size()) + better_[x].bytes();
        if (bytes > question_.memory) result_.memory_needed = bytes;
        return bytes <= question_.memory;
    }

    // ---- Exact scores

    // Scores families on the grid. Sets are counted once for all of them.
    bool score(std::vector<Hopeful>& families) {
        for (Hopeful& family : families) family.score = 0.0;
        if (!add_set_scores(question_.joint, 1.0, families, [&](const Hopeful& family) {
                return std::optional(family.parents | only<Set>(family.x));
            }))
            return false;
        for (int f = 0; f < question_.n_below(); ++f)
            if (!add_set_scores(question_.below_at(f), -1.0, families, [&](const Hopeful& family) {
                    return question_.number_of_below(scorer_.variable(family.x)) == f ? std::optional(family.parents) : std::nullopt;
                }))
                return false;
        return true;
    }

    // Adds the score of the set that `set_of` names, times the sign, to each family for which there is one.
    template <class SetOf>
    bool add_set_scores(const SetFormula& formula, double sign, std::vector<Hopeful>& families, SetOf&& set_of) {
        std::vector<Set> sets;
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
        const double beside = 3.0 * sizeof(Hopeful) * static_cast<double>(hopeful.size());  // themselves, sets, those kept
        if (!is_allowed(sweep_.bytes() + beside) || !score(hopeful)) return false;
        for (const Hopeful& family : hopeful)
            if (is_kept(family)) kept_[family.x].push_back(family);
        parallel_for(kept_.size(), limits_, [&](std::size_t x, int) {
            std::sort(kept_[x].begin(), kept_[x].end(),
                      [](const Hopeful& a, const Hopeful& b) { return a.parents < b.parents; });
            better_[x] = SubsetScores<Set>(kept_[x]);
        });
        return !limits_.stop.load();
    }

    bool is_kept(const Hopeful& family) const {
        const double most = question_.epsilon < 0 ? std::nextafter(family.score, -infinity)
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
    const ScoreGrid& grid_;
    LayerSweep sweep_;
    double epsilon_;
    std::vector<std::vector<Hopeful>> kept_;  // by place of the child, then by parents
    std::vector<SubsetScores<Set>> better_;   // of those kept
    std::vector<Set> must_;                   // by place: parents in any case
    Set in_some_must_ = 0;
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
