// pruned_scores.cpp
#include "scoring/pruned_scores.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "base/parallel.h"
#include "base/set_index.h"
#include "scoring/bdeu_bounds.h"
#include "scoring/open_levels.h"
#include "scoring/set_scorer.h"

namespace topdag {

namespace {

constexpr double not_known = -std::numeric_limits<double>::infinity();
constexpr std::size_t sets_per_batch = 128;
constexpr std::size_t sets_ahead = 4;  // looked up before they are needed
constexpr double dense_share = 0.4;    // of the families of some size
constexpr double least_dense = 2e6;    // families of the next size
constexpr double most_counted = 2e9;   // sets of the largest size

// Of one table, or of several draws of it at once: then a family is left out where that is right in every draw, and no
// rule cuts what it would keep in one of them alone (docs/explanation/order_search_and_pruning.md).
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
          n_(scorer_.rows().n_variables()) {
        result_.grid = scorer_.grid().exponent();
        weight_ = question.joint.penalty == Penalty::per_cell ? question.joint.penalty_weight : 0.0;
        slack_ = weight_ > 0 || question.joint.penalty != Penalty::per_cell ? slack_steps * scorer_.grid().step() : 0.0;
        epsilon_ = std::max(0.0, question.epsilon);
        if (is_bdeu() && may_use(CutRule::atoms)) {
            atoms_ = std::make_unique<Atoms>(scorer_.rows());
            for (int t = 0; t < limits.threads; ++t) bounds_.emplace_back(scorer_.rows(), *atoms_, question.joint.parameter);
        }
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
        if (!find_most_likely() || !begin()) return false;
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
               sets_of(std::min(n_ / 2, most_parents() + 1)) < most_counted;
    }

    double sets_of(int size) const {
        double sets = 1.0;
        for (int i = 0; i < size; ++i) sets *= static_cast<double>(n_ - i) / (i + 1);
        return sets;
    }

    // More parents than this cannot pay for their penalty, whatever they explain.
    int most_parents() const {
        if (weight_ <= 0 || !may_use(CutRule::penalty)) return std::min(n_, question_.max_parents);
        const double most_cells = *std::max_element(most_cells_.begin(), most_cells_.end());
        std::vector<int> arities;
        for (int x = 0; x < n_; ++x) arities.push_back(arity(x));
        std::sort(arities.begin(), arities.end());
        int most = 0;
        for (double cells = 1.0; most < std::min(n_, question_.max_parents); ++most)
            if ((cells *= arities[most]) > most_cells) break;
        return most;
    }

    Level& last() { return levels_.back(); }
    bool may_use(CutRule rule) const { return question_.rules >> static_cast<int>(rule) & 1; }
    bool ties_go() const { return question_.epsilon < 0; }
    int arity(int x) const { return scorer_.rows().arity(x); }
    VarSet everyone() const { return n_ == 64 ? ~VarSet{0} : only(n_) - 1; }
    int below_of(int x) const { return question_.number_of_below(scorer_.variable(x)); }

    // Of each variable, where the penalty rule needs it.
    bool find_most_likely() {
        most_likely_.assign(n_, Score{});
        costs_.clear();
        for (int x = 0; x < n_; ++x) costs_.push_back(weight_ * (arity(x) - 1));
        if (question_.joint.penalty == Penalty::per_cell && !scorer_.template most_likely<VarSet>(limits_, most_likely_))
            return false;
        most_in_draws_ = most_likely_;
        for (Score& most : most_in_draws_)
            for (int d = 0; d < draws; ++d) in_draw(most, d) += slack_;
        return true;
    }

    // The families without parents.
    bool begin() {
        Batch batch;
        batch.sets = {0};
        batch.candidates = {everyone()};
        batch.below.assign(n_, in_all_draws(not_known));
        std::vector<Batch> batches;
        batches.push_back(std::move(batch));
        if (!find_own_values(batches) || !score_all(batches, 0)) return false;
        find_most_cells();
        return true;
    }

    // With how many cells of parents a variable may still be better than alone.
    void find_most_cells() {
        most_cells_.assign(n_, std::numeric_limits<double>::infinity());
        if (weight_ <= 0 || question_.k > 0 || !may_use(CutRule::penalty)) return;
        std::vector<double> explained(n_, 0.0);
        for (int d = 0; d < draws; ++d)
            for (const Kept& family : kept_[d]) {
                const double own = in_draw(most_likely_[family.x], d) - family.score + epsilon_ + 2 * slack_;
                explained[family.x] = std::max(explained[family.x], own);
            }
        for (int x = 0; x < n_; ++x)
            if (arity(x) > 1) most_cells_[x] = explained[x] / (weight_ * (arity(x) - 1));
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
            const VarSet costly = costly_for(candidates, cells * arity(first_of(added)));
            batch.n_cut[static_cast<int>(CutRule::penalty)] += size_of(costly);
            candidates &= ~costly;
            if (candidates == 0) continue;
            batch.sets.push_back(set | added);
            batch.candidates.push_back(candidates);
            batch.subsets.push_back(static_cast<std::uint32_t>(at));  // without what was added, its lowest member
            batch.subsets.insert(batch.subsets.end(), subsets, subsets + n_groups);
        }
    }

    // Those of these variables whom parents with so many cells cost more than they can gain over having none.
    VarSet costly_for(VarSet variables, double cells) const {
        VarSet costly = 0;
        for (VarSet rest = variables; rest != 0; rest &= rest - 1)
            if (cells > most_cells_[first_of(rest)]) costly |= rest & -rest;
        return costly;
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
            const VarSet left = hopeful_after(batch.sets[i], subsets, size, batch.candidates[i], batch.below);
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

    // The candidates that this set's penalty does not cut; adds the best that their subsets score to `below`.
    VarSet hopeful_after(VarSet set, const std::uint32_t* subsets, int size, VarSet candidates,
                         std::vector<Score>& below) const {
        const double cells = scorer_.cells(set);
        Score best[64];
        if constexpr (draws > 1) {
            const VarSet left = best_of_hopeful(levels_.back(), subsets, size, candidates,
                                                {most_in_draws_.data(), costs_.data(), cells}, best);
            below.insert(below.end(), best, best + size_of(left));
            return left;
        } else {
            best_of_subsets(levels_.back(), subsets, size, candidates, best);
            const Score* own = best;
            VarSet left = 0;
            for (VarSet rest = candidates; rest != 0; rest &= rest - 1, ++own) {
                const int x = first_of(rest);
                if (may_use(CutRule::penalty) && is_hopeless(x, set, most_with(x, cells), *own)) continue;
                left |= only(x);
                below.push_back(*own);
            }
            return left;
        }
    }

    // Leaves the candidates none of whose parents costs more than it can explain, and lists the sets to count for them.
    void cut_by_entropy(Batch& batch, std::size_t first, int size) {
        std::size_t n_left = 0, next = 0;
        for (std::size_t i = 0; i < batch.sets.size(); ++i) {
            const std::uint32_t* subsets = &batch.subsets[i * size];
            const double needless =
                may_use(CutRule::entropy) ? needless_parent(batch.sets[i], own_[0][first + i], subsets) : 0.0;
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

    // No superset of parents with so many cells scores more for x: its penalty is at least theirs.
    double most_with(int x, double cells) const { return most_likely_[x] - costs_[x] * cells; }

    // How often over the parent that explains least costs more than it can explain, for a child of two states: for
    // every superset of the set S + Y, dropping Y loses at most N H(Y | S) and saves at least the penalty of Y given S
    // [de Campos et al. 2018, Theorem 4]. With epsilon, Y must cost more than epsilon beyond that. In the draw where that
    // is least.
    double needless_parent(VarSet set, const Score& value, const std::uint32_t* subsets) const {
        if (weight_ <= 0 || question_.k > 0) return 0.0;
        Score most{};
        const double cells = scorer_.cells(set);
        const Level& before = levels_.back();
        int g = 0;
        for (VarSet rest = set; rest != 0; rest &= rest - 1, ++g) {
            const int y = first_of(rest);
            const double without = cells / arity(y);
            const double cost = weight_ * (arity(y) - 1) * without;
            const Score& smaller = before.value[subsets[g]];
            for (int d = 0; d < draws; ++d) {
                const double own = in_draw(value, d) + weight_ * cells;
                const double explained = in_draw(smaller, d) + weight_ * without - own;  // N H(Y | S)
                in_draw(most, d) = std::max(in_draw(most, d), cost / (explained + epsilon_ + slack_));
            }
        }
        double least = in_draw(most, 0);
        for (int d = 1; d < draws; ++d) least = std::min(least, in_draw(most, d));
        return least;
    }

    // Whether families of x that score at most `most` can go, given that all subsets of `parents` may be used instead,
    // the best of which score `below` (docs/explanation/order_search_and_pruning.md).
    bool is_hopeless(int x, VarSet parents, double most, double below) const {
        if (question_.k > 0) return has_k_better_subsets(x, parents, most + slack_);
        return ties_go() ? most + slack_ <= below : most + slack_ < below - epsilon_;
    }

    // ---- k better subsets

    bool has_k_better_subsets(int x, VarSet parents, double score) const {
        const int size = size_of(parents);
        if (size < static_cast<int>(std::bit_width(question_.k))) return false;  // 2^size - 1 subsets are fewer than k
        std::uint64_t n_better = 0;
        for (VarSet subset = (parents - 1) & parents;; subset = (subset - 1) & parents) {
            const Level& level = levels_[size_of(subset)];
            const std::uint32_t at = level.find(subset);
            if (level.local[at][level.place(at, x)] > score && ++n_better >= question_.k) return true;
            if (subset == 0) return false;
        }
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
            if (uses_cells() && !scorer_.sum(count_of_cells, wanted, limits_, occurring_)) return false;
        joint_index_ = SetIndex(wanted);
        parallel_for(batches.size(), limits_, [&](std::size_t b, int worker) {
            score_batch(batches[b], firsts_[b], worker);
        });
        if (limits_.stop.load()) return false;
        add_level(batches, size);
        return true;
    }

    bool is_bdeu() const { return question_.joint.kind == CellKind::log_rising && question_.joint.spread; }
    bool uses_cells() const { return is_bdeu() && (may_use(CutRule::cells) || may_use(CutRule::atoms)); }

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
                    if (is_kept(x, batch.sets[i], in_draw(local, d), in_draw(below, d)))
                        batch.kept[d].push_back({x, batch.sets[i], in_draw(local, d)});
                if constexpr (draws == 1) {
                    const int rule = uses_cells() ? what_closes(x, batch.sets[i], at, best, worker) : -1;
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

    bool is_kept(int x, VarSet parents, double local, double below) const {
        if constexpr (draws == 1)
            if (question_.k > 0) return !has_k_better_subsets(x, parents, local);
        return ties_go() ? below < local : !(below > local + question_.epsilon);
    }

    // The rule that cuts off all proper supersets, or -1. `at`: where the parents and x stand among the sets counted.
    int what_closes(int x, VarSet parents, std::uint32_t at, double best, int worker) {
        if (may_use(CutRule::cells) && is_hopeless(x, parents, most_in_cells(x, at), best))
            return static_cast<int>(CutRule::cells);
        if (!may_use(CutRule::atoms) || !atoms_->are_mixed(x)) return -1;
        BdeuBounds& bounds = bounds_[worker];
        const bool is_cut = is_hopeless(x, parents, bounds.least_hope(x, parents, occurring_[at]), best) &&
                            is_hopeless(x, parents, bounds.most_beyond(x, parents, occurring_[at]), best);
        return is_cut ? static_cast<int>(CutRule::atoms) : -1;
    }

    // BDeu: the first row of each cell has at most probability 1/r, in every superset too [Cussens 2012].
    double most_in_cells(int x, std::uint32_t at) const {
        return -static_cast<double>(occurring_[at]) * std::log(arity(x));
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
    int n_;
    double weight_;
    double slack_;
    double epsilon_;
    std::vector<Score> most_likely_;
    std::vector<Score> most_in_draws_;  // with the slack
    std::vector<double> costs_;         // by variable: of a cell of its parents
    std::vector<double> most_cells_;
    std::vector<Level> levels_;  // only the last, unless better subsets are counted
    std::vector<Score> joint_;   // of the sets counted last
    std::vector<std::int64_t> occurring_;
    SetIndex joint_index_;
    std::vector<std::size_t> firsts_;  // by batch: which of the sets of all batches is its first
    std::vector<std::vector<Score>> own_;  // by function of the parents: of the sets of all batches
    std::unique_ptr<Atoms> atoms_;
    std::vector<BdeuBounds> bounds_;  // by thread
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
