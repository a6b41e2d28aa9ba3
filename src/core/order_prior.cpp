#include "order_prior.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <queue>
#include <set>

#include "lattice.h"
#include "order_sums.h"
#include "shared_bounds.h"
#include "sparse_sums.h"
#include "worth_list.h"

namespace topdag {

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int small = 15;                      // up to so many variables a sweep is too short to be shared
constexpr double share_worth_repeating = 0.1;  // of the families deleted: then sums are made again
constexpr std::size_t families_tried = 40;     // of a variable, by bound, when a network is improved
constexpr double gain_tried = 1.0;               // that a change of one family may bring in orders
constexpr double few_networks = 32.0;           // are always listed one by one
constexpr double steps_per_network = 5000.0;    // a network is counted in the time that a sweep takes for so many steps

// Steps between sets count for nothing, but for their sum, when they weigh less than this share of the least network that
// is looked for.
constexpr double share_left_out = 1e-8;

// Beyond so many sets the sums over all of them are faster.
std::size_t most_sets_of(int n) { return std::max<std::size_t>(64, n_sets(n) / 8); }

// Parts of the space: the lists of the whole it was cut from, where x has just one family of its list.
struct Part {
    double bound;
    std::size_t number;
    std::shared_ptr<const AllowedFamilies> whole;
    std::size_t x, family;
};
struct LessPromising {
    bool operator()(const Part& a, const Part& b) const {
        return a.bound != b.bound ? a.bound < b.bound : a.number < b.number;
    }
};

// The potential of order_sums.h with weights of orders, which the lattice does not know.
BigArray weighted_potential(const Lattice& lattice, const std::vector<const double*>& weights) {
    const int n = lattice.n_variables();
    BigArray potential(n_sets(n));
    potential[0] = 0.0;
    for (VarSet set = 1; set < n_sets(n); ++set) {
        potential[set] = minus_infinity;
        for (VarSet rest = set; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            const VarSet before = set & ~only(x);
            const double value = potential[before] + lattice.best(x, before) + weights[x][without_bit(before, x)];
            potential[set] = std::max(potential[set], value);
        }
    }
    return potential;
}

BigArray potential_of(const Lattice& lattice, const std::vector<const double*>& weights) {
    if (!weights.empty()) return weighted_potential(lattice, weights);
    BigArray potential(n_sets(lattice.n_variables()));
    for (VarSet set = 0; set < potential.size(); ++set) potential[set] = lattice.forward(set);
    return potential;
}

class PriorSearch {
public:
    PriorSearch(const LocalScores& scores, const OrderWeight& weight, const PriorQuestion& question, int threads,
                Limits& limits)
        : n_(scores.n_variables()), scores_(scores), weight_(weight), question_(question),
          threads_(n_ <= small ? 1 : threads), limits_(limits), found_(question.most, question.log_factor) {
        for (int size = 2; size <= n_; ++size) log_orders_ += std::log(size);
    }

    PriorResult run() {
        open_bound_ = simple_bound();
        try_without_parents();
        if (begin()) search();
        return result();
    }

private:
    // Before anything else is known: every variable its best family, all orders their best weight.
    double simple_bound() {
        BigArray local(n_sets(n_ - 1));
        double bound = log_orders_;
        for (int x = 0; x < n_; ++x) {
            scores_.fill(x, 0, local.size(), local.data());
            bound += *std::max_element(local.data(), local.data() + local.size());
            if (!weight_.tables().empty())
                bound += *std::max_element(weight_.tables()[x], weight_.tables()[x] + local.size());
        }
        return bound + 1e-9 * std::abs(bound);
    }

    void try_without_parents() {
        BigArray local(n_sets(n_ - 1));
        double score = 0.0;
        for (int x = 0; x < n_; ++x) {
            scores_.fill(x, 0, local.size(), local.data());
            score += local[0];
        }
        if (score > minus_infinity) count(score, std::vector<VarSet>(n_, 0));
    }

    // The tables of the lattice, good networks to begin with, and the families that can matter. False when stopped,
    // or when there is no network at all.
    bool begin() {
        Lattice lattice(scores_);
        if (!lattice.sweep(threads_, limits_) || !lattice.order(threads_, limits_)) return false;
        if (lattice.forward(n_sets(n_) - 1) == minus_infinity) {
            is_finished_ = true;
            return false;
        }
        sums_ = std::make_unique<OrderSums>(n_, potential_of(lattice, weight_.tables()), weight_.tables(), threads_);
        bounds_ = std::make_unique<SharedBounds>(*sums_);
        const BestNetwork best = lattice.read_back(0.0);
        count(best.score, best.parents);
        try_neighbours(lattice, best);
        for (int x = 0; x < n_; ++x) sums_->choose(x, {all_of(n_) & ~only(x), lattice.best_by_slot(x)}, 0);
        if (!sums_->sum_forward(limits_) || !sums_->sum_backward(limits_)) return false;
        ++sweeps_;
        open_bound_ = std::min(open_bound_, raised_log(sums_->total(), sums_->scale()));
        auto root = std::make_shared<AllowedFamilies>(
            bounds_->families_reaching(lattice, found_.threshold(), question_.most > 1, limits_));
        if (root->empty()) return false;
        for (const auto& own : *root) root_families_ += own.size();
        root_ = std::move(root);
        return true;
    }

    // The networks that differ from a good one in one family, with parents that stay before their child in its order:
    // so that a threshold is there from the beginning.
    void try_neighbours(const Lattice& lattice, const BestNetwork& best) {
        if (question_.most == 1) return;
        struct Change { double loss; int x; VarSet parents; };
        std::vector<Change> changes;
        auto less = [](const Change& a, const Change& b) { return a.loss < b.loss; };
        BigArray local(n_sets(n_ - 1));
        for (VarSet placed = all_of(n_); placed != 0;) {
            const int x = lattice.last_variable(placed);
            placed &= ~only(x);
            scores_.fill(x, 0, local.size(), local.data());
            const double own = local[without_bit(best.parents[x], x)];
            for (VarSet parents = placed;; parents = (parents - 1) & placed) {
                const double loss = own - local[without_bit(parents, x)];
                if (loss < infinity && parents != best.parents[x]) changes.push_back({loss, x, parents});
                if (parents == 0) break;
            }
            if (changes.size() > question_.most) {
                std::nth_element(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(question_.most),
                                 changes.end(), less);
                changes.resize(question_.most);
            }
        }
        std::sort(changes.begin(), changes.end(), less);
        for (const Change& change : changes) {
            if (best.score - change.loss + log_orders_ < found_.threshold() || limits_.reached()) break;
            std::vector<VarSet> parents = best.parents;
            parents[change.x] = change.parents;
            count(best.score - change.loss, parents);
        }
    }

    void search() {
        limits_.begin(Phase::searching, 0);
        take_part(*root_, open_bound_, true);
        while (!limits_.reached() && !memory_hit_ && !open_.empty() && open_.top().bound >= found_.threshold()) {
            const Part part = open_.top();
            open_.pop();
            limits_.best.store(found_.best());
            limits_.bound.store(std::max(found_.best(), part.bound));
            AllowedFamilies families = *part.whole;
            families[part.x] = {(*part.whole)[part.x][part.family]};
            take_part(std::move(families), part.bound, false);
            memory_hit_ = 1.2 * static_cast<double>(bytes_held_ + found_.size() * (8 * n_ + 96)) > question_.most_bytes;
        }
        open_bound_ = open_.empty() ? unfinished_ : std::max(open_.top().bound, unfinished_);
        is_finished_ = open_bound_ < found_.threshold() || open_bound_ == minus_infinity;
    }

    // Deletes families until that does not pay any more; then lists the networks, or splits the part.
    void take_part(AllowedFamilies families, double bound, bool is_root) {
        ++parts_;
        bool improved = false;
        for (;;) {
            const Outcome outcome = bound_all(families, bound);
            if (outcome == Outcome::stopped) return leave(bound);
            if (outcome == Outcome::hopeless) return;
            if (!improved) improve_from(families, is_root);
            if (is_root && question_.most > 1) widen(families);
            improved = true;
            const double deleted = delete_hopeless(families);
            if (deleted == 1.0) return;
            if (n_networks(families) <= most_listed()) return list_all(families, bound);
            if (deleted < share_worth_repeating) break;
        }
        if (!sparse_) sparse_ = std::make_unique<SparseSums>(*sums_);
        split(std::make_shared<const AllowedFamilies>(std::move(families)), bound);
    }

    enum class Outcome { bounded, hopeless, stopped };

    // Bounds of the part and of all its families, by sums over few sets if possible.
    Outcome bound_all(AllowedFamilies& families, double& bound) {
        ++sweeps_;
        is_sparse_ = sparse_ && bounds_->tabulate(families) &&
                     sparse_->sum(bounds_->tables(), share_left_out * std::exp(found_.threshold() - sums_->scale()),
                                  most_sets(), limits_);
        if (limits_.stop.load()) return Outcome::stopped;
        return is_sparse_ ? bound_sparsely(families, bound) : bound_densely(families, bound);
    }

    Outcome bound_sparsely(AllowedFamilies& families, double& bound) {
        ++sparse_sweeps_;
        bound = std::min(bound, raised_log(sparse_->total() + sparse_->left_out(), sums_->scale()));
        if (bound < found_.threshold()) return Outcome::hopeless;
        bounds_->bound(families, *sparse_);
        return Outcome::bounded;
    }

    Outcome bound_densely(AllowedFamilies& families, double& bound) {
        bounds_->choose(families, limits_);
        if (!sums_->sum_forward(limits_)) return Outcome::stopped;
        bound = std::min(bound, raised_log(sums_->total(), sums_->scale()));
        if (bound < found_.threshold()) return Outcome::hopeless;
        if (!sums_->sum_backward(limits_)) return Outcome::stopped;
        bounds_->bound(families, limits_);
        return limits_.stop.load() ? Outcome::stopped : Outcome::bounded;
    }

    std::size_t most_sets() const { return most_sets_of(n_); }

    void leave(double bound) { unfinished_ = std::max(unfinished_, bound); }

    // The share of the families that went; 1 when a variable has none left.
    double delete_hopeless(AllowedFamilies& families) const {
        std::size_t before = 0, after = 0;
        for (auto& own : families) {
            before += own.size();
            std::erase_if(own, [&](const AllowedFamily& family) { return family.bound < found_.threshold(); });
            if (own.empty()) return 1.0;
            after += own.size();
        }
        return static_cast<double>(before - after) / static_cast<double>(before);
    }

    static double n_networks(const AllowedFamilies& families) {
        double product = 1.0;
        for (const auto& own : families) product *= static_cast<double>(own.size());
        return product;
    }

    double most_listed() const { return few_networks + steps_of_sweep() / steps_per_network; }

    double steps_of_sweep() const {
        return static_cast<double>(is_sparse_ ? sparse_->n_steps() : n_ * n_sets(n_ - 1));
    }

    void list_all(const AllowedFamilies& families, double bound) {
        std::vector<VarSet> parents(n_);
        if (!list_from(0, 0.0, families, parents)) leave(bound);
    }

    bool list_from(int x, double score, const AllowedFamilies& families, std::vector<VarSet>& parents) {
        if (limits_.reached()) return false;
        if (x == n_) {
            if (score + log_most_weight() >= found_.threshold()) count(score, parents);
            return true;
        }
        for (const AllowedFamily& family : families[x]) {
            parents[x] = family.parents;
            if (family.bound >= found_.threshold() && !list_from(x + 1, score + family.score, families, parents)) return false;
        }
        return true;
    }

    double log_most_weight() const { return weight_.tables().empty() ? log_orders_ + 1e-6 : infinity; }

    // The variable whose families share the fewest orders.
    void split(std::shared_ptr<const AllowedFamilies> families, double bound) {
        std::size_t chosen = 0;
        double least = infinity;
        for (std::size_t x = 0; x < families->size(); ++x) {
            const auto& own = (*families)[x];
            if (own.size() == 1) continue;
            double sum = 0.0;
            for (const AllowedFamily& family : own) sum += std::exp(family.bound - bound);
            if (sum < least) {
                least = sum;
                chosen = x;
            }
        }
        const auto& own = (*families)[chosen];
        for (std::size_t i = 0; i < own.size(); ++i)
            open_.push({std::min(bound, own[i].bound), ++pushed_, families, chosen, i});
        for (const auto& lists : *families) bytes_held_ += lists.size() * sizeof(AllowedFamily);
        bytes_held_ += own.size() * sizeof(Part);
    }

    // A network from the likeliest order, then better and better ones, one family at a time.
    void improve_from(const AllowedFamilies& families, bool thoroughly) {
        std::vector<const AllowedFamily*> network(n_);
        double score = 0.0;
        for (VarSet placed = all_of(n_); placed != 0;) {
            const int x = is_sparse_ ? sparse_->likely_last(placed) : sums_->likely_last(placed);
            placed &= ~only(x);
            for (const AllowedFamily& family : families[x])
                if (is_subset(family.parents, placed) && (network[x] == nullptr || family.score > network[x]->score))
                    network[x] = &family;
            if (network[x] == nullptr) return;
            score += network[x]->score;
        }
        const double value = count(score, parents_of(network));
        if (thoroughly || value >= found_.best() - 2.0) climb(families, std::move(network), value);
    }

    static std::vector<VarSet> parents_of(const std::vector<const AllowedFamily*>& network) {
        std::vector<VarSet> parents;
        for (const AllowedFamily* family : network) parents.push_back(family->parents);
        return parents;
    }

    void climb(const AllowedFamilies& families, std::vector<const AllowedFamily*> network, double value) {
        for (bool better = true; better;) {
            better = false;
            for (int x = 0; x < n_ && !limits_.reached(); ++x)
                for (const AllowedFamily* family : most_promising(families[x])) {
                    std::vector<const AllowedFamily*> changed = network;
                    changed[x] = family;
                    if (family == network[x] || family->bound < value) continue;
                    const double now = count(score_of(changed), parents_of(changed));
                    if (now <= value) continue;
                    value = now;
                    network = std::move(changed);
                    better = true;
                }
        }
    }

    // Networks that differ in one family from one of the list, the best first, while they may be worth enough for it: so
    // that there is a threshold close to the last one before the space is split.
    void widen(const AllowedFamilies& families) {
        std::set<std::vector<VarSet>> done;
        const std::size_t enough = counted_ + 1000 + 50 * std::min<std::size_t>(question_.most, 1000);
        while (counted_ < enough && !limits_.reached()) {
            const auto next = std::find_if(found_.entries().begin(), found_.entries().end(),
                                           [&](const auto& entry) { return !done.contains(entry.second); });
            if (next == found_.entries().end()) return;
            const double value = -next->first;
            const std::vector<VarSet> parents = next->second;
            done.insert(parents);
            const auto network = families_in(families, parents);
            if (network) try_others(families, *network, value, enough);
        }
    }

    void try_others(const AllowedFamilies& families, const std::vector<const AllowedFamily*>& network, double value,
                    std::size_t enough) {
        for (int x = 0; x < n_; ++x)
            for (const AllowedFamily& family : families[x]) {
                const double likely = value + family.score - network[x]->score + gain_tried;
                if (counted_ >= enough || std::min(family.bound, likely) < found_.threshold()) continue;
                std::vector<const AllowedFamily*> changed = network;
                changed[x] = &family;
                count(score_of(changed), parents_of(changed));
            }
    }

    // Nothing when one of them is not allowed any more.
    static std::optional<std::vector<const AllowedFamily*>> families_in(const AllowedFamilies& families,
                                                                        const std::vector<VarSet>& parents) {
        std::vector<const AllowedFamily*> network;
        for (std::size_t x = 0; x < families.size(); ++x) {
            const auto at = std::find_if(families[x].begin(), families[x].end(),
                                         [&](const AllowedFamily& family) { return family.parents == parents[x]; });
            if (at == families[x].end()) return std::nullopt;
            network.push_back(&*at);
        }
        return network;
    }

    static double score_of(const std::vector<const AllowedFamily*>& network) {
        double score = 0.0;
        for (const AllowedFamily* family : network) score += family->score;
        return score;
    }

    static std::vector<const AllowedFamily*> most_promising(const std::vector<AllowedFamily>& own) {
        std::vector<const AllowedFamily*> best;
        for (const AllowedFamily& family : own) best.push_back(&family);
        std::stable_sort(best.begin(), best.end(), [](auto* a, auto* b) { return a->bound > b->bound; });
        if (best.size() > families_tried) best.resize(families_tried);
        return best;
    }

    // What a network is worth, exactly; it goes into the list if it belongs there. Minus infinity when it is none.
    double count(double score, const std::vector<VarSet>& parents) {
        ++counted_;
        const std::optional<double> weight = weight_.of(parents);
        if (!weight) return minus_infinity;
        const double value = score + *weight;
        found_.add(value, parents);
        return value;
    }

    PriorResult result() const {
        PriorResult result;
        for (const auto& [minus_value, parents] : found_.entries()) {
            result.values.push_back(-minus_value);
            result.parents.insert(result.parents.end(), parents.begin(), parents.end());
        }
        result.finished = is_finished_;
        result.memory_hit = memory_hit_;
        result.bound = is_finished_ ? found_.best() : std::max(open_bound_, found_.best());
        result.floor = is_finished_ ? found_.threshold() : std::max(open_bound_, found_.threshold());
        result.parts = parts_;
        result.sweeps = sweeps_;
        result.sparse_sweeps = sparse_sweeps_;
        result.root_families = root_families_;
        result.counted = counted_;
        return result;
    }

    int n_;
    const LocalScores& scores_;
    const OrderWeight& weight_;
    const PriorQuestion& question_;
    int threads_;
    Limits& limits_;
    double log_orders_ = 0.0;
    WorthList found_;
    std::unique_ptr<OrderSums> sums_;
    std::unique_ptr<SharedBounds> bounds_;
    std::unique_ptr<SparseSums> sparse_;  // from the root on
    std::shared_ptr<const AllowedFamilies> root_;
    std::priority_queue<Part, std::vector<Part>, LessPromising> open_;
    double open_bound_ = infinity;
    double unfinished_ = minus_infinity;  // the most of what was begun and not finished
    bool is_finished_ = false, memory_hit_ = false, is_sparse_ = false;
    std::size_t parts_ = 0, sweeps_ = 0, sparse_sweeps_ = 0, root_families_ = 0, counted_ = 0, pushed_ = 0, bytes_held_ = 0;
};

}  // namespace

PriorResult search_order_prior(const LocalScores& scores, const OrderWeight& weight, const PriorQuestion& question,
                               int threads, Limits& limits) {
    return PriorSearch(scores, weight, question, threads, limits).run();
}

double order_prior_bytes(int n, int threads) {
    return Lattice::bytes(n) + OrderSums::bytes(n, threads) + SharedBounds::bytes(n, threads) +
           SparseSums::bytes(n, most_sets_of(n));
}

}  // namespace topdag
