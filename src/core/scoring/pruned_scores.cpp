// pruned_scores.cpp
#include "scoring/pruned_scores.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "base/infinity.h"
#include "base/parallel.h"
#include "base/set_index.h"
#include "scoring/pruning_rules.h"

namespace topdag {

namespace {

constexpr double not_known = minus_infinity;
constexpr std::size_t sets_per_batch = 128;
constexpr std::size_t sets_ahead = 4;  // looked up before they are needed
constexpr double dense_share = 0.4;    // of the families of some size
constexpr double least_dense = 2e6;    // families of the next size
constexpr double most_counted = 2e9;   // sets of the largest size

// Over the parent sets of one table, or of several draws of it at once.
template <class Rows>
class Walker {
    using Score = typename Rows::Score;
    using Level = topdag::Level<Score>;
    using Batch = topdag::Batch<Score>;
    static constexpr int draws = n_draws<Score>;

public:
    // `scored`: the table, or the table and its draws.
    template <class... Scored>
    Walker(const PruningQuestion& question, bool stop_when_dense, Limits& limits, const Scored&... scored)
        : question_(question), stop_when_dense_(stop_when_dense), limits_(limits), scorer_(scored..., question),
          rules_(question, scorer_, levels_, limits.threads), n_(scorer_.rows().n_variables()) {
        result_.grid = scorer_.grid().exponent();
    }

    // The families of each draw.
    std::vector<PrunedFamilies> run() {
        result_.finished = walk();
        std::vector<PrunedFamilies> found(draws, result_);
        for (int d = 0; d < draws && result_.finished; ++d) list_families(n_, with_variables(std::move(kept_[d])), found[d]);
        return found;
    }

private:
    bool walk() {
        if (!rules_.find_most_likely(limits_) || !begin()) return false;
        for (int size = 1; size < n_ && !last().sets.empty(); ++size) {
            if (size > question_.max_parents) {
                result_.n_cut[static_cast<int>(CutRule::max_parents)] += last().n_open;
                break;
            }
            if (!grow(size)) return false;
            if (stop_when_dense_ && is_dense(size)) {
                result_.is_dense = true;
                return false;
            }
        }
        return true;
    }

    // Whether most families of this size are open, those of the next size are many, and all sets can be counted.
    bool is_dense(int size) {
        const double open = static_cast<double>(last().n_open);
        const double all = (n_ - size) * sets_of(size);
        return open > dense_share * all && open * (n_ - size - 1) / (size + 1) > least_dense * draws &&
               sets_of(std::min(n_ / 2, rules_.most_parents() + 1)) < most_counted;
    }

    double sets_of(int size) const {
        double sets = 1.0;
        for (int i = 0; i < size; ++i) sets *= static_cast<double>(n_ - i) / (i + 1);
        return sets;
    }

    Level& last() { return levels_.back(); }
    int arity(int x) const { return scorer_.rows().arity(x); }
    VarSet everyone() const { return n_ == 64 ? ~VarSet{0} : only(n_) - 1; }
    int below_of(int x) const { return question_.number_of_below(scorer_.variable(x)); }

    // The families without parents.
    bool begin() {
        Batch batch;
        batch.sets = {0};
        batch.candidates = {everyone()};
        batch.below.assign(n_, in_all_draws(not_known));
        std::vector<Batch> batches;
        batches.push_back(std::move(batch));
        if (!find_own_values(batches) || !score_all(batches, 0)) return false;
        rules_.find_most_cells(kept_);
        return true;
    }

    bool grow(int size) {
        std::vector<Batch> batches = find_candidates(size);
        if (!is_allowed(batches)) return false;
        filled(batches, [&](std::size_t b) { cut_by_penalty(batches[b], size); });
        if (!is_allowed(batches) || !find_own_values(batches)) return false;
        filled(batches, [&](std::size_t b) { cut_by_entropy(batches[b], firsts_[b], size); });
        return is_allowed(batches) && score_all(batches, size);
    }

    // ---- Sets all of whose subsets are open

    std::vector<Batch> find_candidates(int size) {
        const Level& before = last();
        std::vector<Batch> batches((before.sets.size() + sets_per_batch - 1) / sets_per_batch);
        filled(batches, [&](std::size_t b) {
            const std::size_t end = std::min(before.sets.size(), (b + 1) * sets_per_batch);
            for (std::size_t at = b * sets_per_batch; at < end; ++at) extend(before, at, size, batches[b]);
        });
        return batches;
    }

    // Lets every batch grow, and stops when they take more memory together than is allowed.
    template <class Fill>
    void filled(std::vector<Batch>& batches, Fill&& fill) {
        std::atomic<double> bytes{held()};
        for (const Batch& batch : batches) bytes.store(bytes.load() + batch.bytes());
        parallel_for(batches.size(), limits_, [&](std::size_t b, int) {
            const double before = batches[b].bytes();
            fill(b);
            bytes.fetch_add(batches[b].bytes() - before);
            if (bytes.load() > question_.memory) limits_.stop.store(true);
        });
        if (bytes.load() > question_.memory) result_.memory_needed = 2.0 * bytes.load();
    }

    // Adds a member below all others to the set that stands at `at`.
    void extend(const Level& before, std::size_t at, int size, Batch& batch) {
        const VarSet set = before.sets[at];
        const typename Level::Group* groups[64];  // the subsets without one of the set's members, but with the new one
        VarSet members = set == 0 ? everyone() : (set & -set) - 1;
        int n_groups = 0;
        if (size > 1)
            for (VarSet rest = set; rest != 0 && members != 0; rest &= rest - 1) {
                const std::uint32_t found = before.group_of.find(set & ~(rest & -rest));
                if (found == SetIndex::absent) return;
                groups[n_groups] = &before.groups[found];
                members &= groups[n_groups++]->members;
            }
        const double cells = scorer_.cells(set);
        for (; members != 0; members &= members - 1) {
            const VarSet added = members & -members;
            VarSet candidates = before.open[at] & ~(set | added);
            std::uint32_t subsets[64];
            for (int g = 0; g < n_groups && candidates != 0; ++g) {
                subsets[g] = groups[g]->start + std::popcount(groups[g]->members & (added - 1));
                candidates &= before.open[subsets[g]];
            }
            const VarSet costly = rules_.costly_for(candidates, cells * arity(first_of(added)));
            batch.n_cut[static_cast<int>(CutRule::penalty)] += size_of(costly);
            candidates &= ~costly;
            if (candidates == 0) continue;
            batch.sets.push_back(set | added);
            batch.candidates.push_back(candidates);
            batch.subsets.push_back(static_cast<std::uint32_t>(at));  // without what was added, its lowest member
            batch.subsets.insert(batch.subsets.end(), subsets, subsets + n_groups);
        }
    }

    // ---- The scores of the parent sets themselves

    bool find_own_values(std::vector<Batch>& batches) {
        std::vector<VarSet> all;
        firsts_.clear();
        for (const Batch& batch : batches) {
            firsts_.push_back(all.size());
            all.insert(all.end(), batch.sets.begin(), batch.sets.end());
        }
        own_.resize(question_.n_below());
        if (!question_.below.empty()) {
            for (std::size_t f = 0; f < question_.below.size(); ++f)
                if (!score_sets(question_.below[f], all, own_[f])) return false;
            return true;
        }
        std::vector<VarSet> missing;
        for (VarSet set : all)
            if (joint_index_.find(set) == SetIndex::absent) missing.push_back(set);
        std::vector<Score> counted;
        if (!score_sets(question_.joint, missing, counted)) return false;
        own_[0].resize(all.size());
        std::size_t next = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::uint32_t at = joint_index_.find(all[i]);
            own_[0][i] = at == SetIndex::absent ? counted[next++] : joint_[at];
        }
        return true;
    }

    bool score_sets(const SetFormula& formula, const std::vector<VarSet>& sets, std::vector<Score>& scores) {
        result_.n_sets += sets.size();
        limits_.begin(Phase::counting, sets.size());
        return scorer_.score(formula, sets, limits_, scores);
    }

    // ---- Cutting before counting

    // Leaves the candidates that the penalty does not cut, with the best that their subsets score, and the sets that have
    // some.
    void cut_by_penalty(Batch& batch, int size) {
        std::size_t n_left = 0, n_candidates = 0;
        for (VarSet candidates : batch.candidates) n_candidates += static_cast<std::size_t>(size_of(candidates));
        batch.below.reserve(n_candidates);
        for (std::size_t i = 0; i < batch.sets.size(); ++i) {
            const std::uint32_t* subsets = &batch.subsets[i * size];
            const VarSet left = rules_.hopeful_after(batch.sets[i], subsets, size, batch.candidates[i], batch.below);
            batch.n_cut[static_cast<int>(CutRule::penalty)] += size_of(batch.candidates[i] & ~left);
            if (left == 0) continue;
            batch.sets[n_left] = batch.sets[i];
            batch.candidates[n_left] = left;
            std::copy(subsets, subsets + size, &batch.subsets[n_left++ * size]);
        }
        batch.sets.resize(n_left);
        batch.candidates.resize(n_left);
        batch.subsets.resize(n_left * size);
    }

    // Leaves the candidates none of whose parents costs more than it can explain, and lists the sets to count for them.
    void cut_by_entropy(Batch& batch, std::size_t first, int size) {
        std::size_t n_left = 0, next = 0;
        for (std::size_t i = 0; i < batch.sets.size(); ++i) {
            const std::uint32_t* subsets = &batch.subsets[i * size];
            const double needless = rules_.needless_parent(batch.sets[i], own_[0][first + i], subsets);
            VarSet left = batch.candidates[i];
            for (VarSet rest = batch.candidates[i]; rest != 0; rest &= rest - 1, ++next) {
                if ((arity(first_of(rest)) - 1) * needless > 1.0) {
                    left &= ~(rest & -rest);
                    continue;
                }
                batch.below[n_left++] = batch.below[next];
                batch.wanted.push_back(batch.sets[i] | (rest & -rest));
            }
            batch.n_cut[static_cast<int>(CutRule::entropy)] += size_of(batch.candidates[i] & ~left);
            batch.candidates[i] = left;
        }
        batch.below.resize(n_left);
    }

    // ---- Scoring what is left

    bool score_all(std::vector<Batch>& batches, int size) {
        if (size == 0)
            for (int x = 0; x < n_; ++x) batches[0].wanted.push_back(only(x));
        std::vector<std::vector<VarSet>*> lists;
        for (Batch& batch : batches) lists.push_back(&batch.wanted);
        const std::vector<VarSet> wanted = all_wanted(lists, limits_);
        const double n_wanted = static_cast<double>(wanted.size());
        const double counting_bytes = (8.0 + 16.0 * draws) * n_wanted + SetIndex::bytes(wanted.size());
        if (!is_allowed(batches, counting_bytes)) return false;
        if (!score_sets(question_.joint, wanted, joint_)) return false;
        if constexpr (draws == 1)
            if (rules_.uses_cells() && !scorer_.sum(count_of_cells, wanted, limits_, occurring_)) return false;
        joint_index_ = SetIndex(wanted);
        parallel_for(batches.size(), limits_, [&](std::size_t b, int worker) {
            score_batch(batches[b], firsts_[b], worker);
        });
        if (limits_.stop.load()) return false;
        add_level(batches, size);
        return true;
    }

    void score_batch(Batch& batch, std::size_t first, int worker) {
        std::size_t next = 0, n_open = 0;
        batch.open.assign(batch.sets.size(), 0);
        std::vector<std::uint32_t> places[2];  // of the set's families among the sets counted, and of the next one's
        find_places(batch, 0, places[0]);
        for (std::size_t i = 0; i < batch.sets.size(); ++i) {
            find_places(batch, i + 1, places[(i + 1) % 2]);
            const std::uint32_t* place = places[i % 2].data();
            for (VarSet rest = batch.candidates[i]; rest != 0; rest &= rest - 1) {
                const int x = first_of(rest);
                const Score& below = batch.below[next++];
                const std::uint32_t at = *place++;
                const Score& own = own_[below_of(x)][first + i];
                Score local, best;
                for (int d = 0; d < draws; ++d) {
                    in_draw(local, d) = in_draw(joint_[at], d) - in_draw(own, d);
                    in_draw(best, d) = std::max(in_draw(local, d), in_draw(below, d));
                }
                ++batch.n_scored;
                for (int d = 0; d < draws; ++d)
                    if (rules_.is_kept(x, batch.sets[i], in_draw(local, d), in_draw(below, d)))
                        batch.kept[d].push_back({x, batch.sets[i], in_draw(local, d)});
                if constexpr (draws == 1) {
                    const int rule =
                        rules_.uses_cells() ? rules_.what_closes(x, batch.sets[i], occurring_[at], best, worker) : -1;
                    if (rule >= 0) {
                        ++batch.n_cut[rule];
                        continue;
                    }
                }
                batch.open[i] |= only(x);
                batch.below[n_open++] = best;
                if (question_.k > 0) batch.local.push_back(local);
            }
        }
    }

    // Asks for what will be read there, and for where later sets will be looked up.
    void find_places(const Batch& batch, std::size_t i, std::vector<std::uint32_t>& places) const {
        places.clear();
        if (i + sets_ahead < batch.sets.size())
            for (VarSet rest = batch.candidates[i + sets_ahead]; rest != 0; rest &= rest - 1)
                joint_index_.prefetch(batch.sets[i + sets_ahead] | (rest & -rest));
        if (i >= batch.sets.size()) return;
        for (VarSet rest = batch.candidates[i]; rest != 0; rest &= rest - 1) {
            places.push_back(joint_index_.find(batch.sets[i] | (rest & -rest)));
            const char* joint = reinterpret_cast<const char*>(&joint_[places.back()]);
            for (std::size_t byte = 0; byte < sizeof(Score); byte += 64) __builtin_prefetch(joint + byte);
        }
    }

    void add_level(std::vector<Batch>& batches, int size) {
        Level level;
        bool is_any_scored = false;
        for (std::size_t b = 0; b < batches.size(); ++b) {
            Batch& batch = batches[b];
            const Score* best = batch.below.data();
            const Score* local = batch.local.data();
            for (std::size_t i = 0; i < batch.sets.size(); ++i) {
                if (batch.open[i] == 0) continue;
                level.sets.push_back(batch.sets[i]);
                level.open.push_back(batch.open[i]);
                if (question_.below.empty()) level.value.push_back(own_[0][firsts_[b] + i]);
                level.best.push_back(best);
                level.local.push_back(local);
                const int n_open = size_of(batch.open[i]);
                level.n_open += static_cast<std::size_t>(n_open);
                best += n_open;
                if (question_.k > 0) local += n_open;
            }
            level.held.push_back(std::move(batch.below));
            level.held.push_back(std::move(batch.local));
            for (int d = 0; d < draws; ++d) kept_[d].insert(kept_[d].end(), batch.kept[d].begin(), batch.kept[d].end());
            result_.n_scored += batch.n_scored;
            is_any_scored |= batch.n_scored > 0;
            for (int r = 0; r < n_cut_rules; ++r) result_.n_cut[r] += batch.n_cut[r];
        }
        if (is_any_scored) result_.limit = size;
        level.index_groups();
        if (question_.k == 0) levels_.clear();
        levels_.push_back(std::move(level));
    }

    // ---- Limits and results

    // Bytes of what stands beside the batches: the levels, the families kept, and the sums of the sets counted last.
    double held() const {
        double bytes = (8.0 + 8.0 * draws) * static_cast<double>(joint_.capacity());
        for (const std::vector<Kept>& families : kept_) bytes += 24.0 * static_cast<double>(families.capacity());
        for (const Level& level : levels_)
            bytes += (32.0 + 8.0 * draws) * static_cast<double>(level.sets.capacity()) +
                     8.0 * draws * static_cast<double>(level.n_open);
        return bytes;
    }

    bool is_allowed(const std::vector<Batch>& batches, double more = 0.0) {
        double needed = more + held();
        for (const Batch& batch : batches) needed += batch.bytes();
        if (result_.memory_needed == 0.0 && needed > question_.memory) result_.memory_needed = needed;
        return result_.memory_needed == 0.0 && !limits_.stop.load();
    }

    std::vector<Kept> with_variables(std::vector<Kept> families) const {
        for (Kept& family : families) {
            family.parents = scorer_.variables_of(family.parents);
            family.x = scorer_.variable(family.x);
        }
        return families;
    }

    static Score in_all_draws(double number) {
        Score score;
        for (int d = 0; d < draws; ++d) in_draw(score, d) = number;
        return score;
    }

    const PruningQuestion& question_;
    bool stop_when_dense_;
    Limits& limits_;
    ScorerOf<Rows> scorer_;
    std::vector<Level> levels_;  // only the last, unless better subsets are counted
    PruningRules<Rows> rules_;
    int n_;
    std::vector<Score> joint_;   // of the sets counted last
    std::vector<std::int64_t> occurring_;
    SetIndex joint_index_;
    std::vector<std::size_t> firsts_;  // by batch: which of the sets of all batches is its first
    std::vector<std::vector<Score>> own_;  // by function of the parents: of the sets of all batches
    std::array<std::vector<Kept>, draws> kept_;  // by draw
    PrunedFamilies result_;
};

}  // namespace

PrunedFamilies score_pruned(const Table& table, const PruningQuestion& question, bool stop_when_dense, Limits& limits) {
    return std::move(Walker<CountingRows>(question, stop_when_dense, limits, table).run().front());
}

std::vector<PrunedFamilies> score_drawn(const Table& table, const std::vector<const std::uint32_t*>& draws,
                                        const PruningQuestion& question, Limits& limits) {
    PruningQuestion together = question;
    together.memory /= 4;  // where that is not enough, one draw after the other takes far less
    std::vector<PrunedFamilies> found = Walker<DrawnRows>(together, true, limits, table, draws).run();
    found.resize(draws.size());
    return found;
}

// The grid must be the same in every draw: that of other scores depends on the distinct rows.
bool may_be_drawn(const Table& table, const PruningQuestion& question) {
    const bool has_one_grid = question.joint.kind == CellKind::n_log_n && question.joint.penalty == Penalty::per_cell;
    const bool is_for_best = question.epsilon < 0 && question.k == 0;
    return table.n_rows <= DrawnRows::most_rows && has_one_grid && is_for_best &&
           (question.rules >> static_cast<int>(CutRule::penalty) & 1) != 0;
}

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
