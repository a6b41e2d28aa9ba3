#include "order_prior/order_prior.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <queue>

#include "base/infinity.h"
#include "base/parallel.h"
#include "lattice/lattice.h"
#include "lattice/sweeps.h"
#include "order_prior/order_sums.h"
#include "order_prior/shared_bounds.h"
#include "order_prior/sparse_sums.h"
#include "order_prior/worth_climbing.h"
#include "order_prior/worth_list.h"

namespace topdag {

namespace {

constexpr int small = 15;                       // up to so many variables a sweep is too short to be shared
constexpr double share_worth_repeating = 0.25;  // of the families deleted: then sums are made again
constexpr double few_networks = 32.0;           // are always listed one by one
constexpr double steps_per_network = 1000.0;    // a network is counted in the time that a sweep takes for so many steps
constexpr double close = 2.0;                   // to the best: a network from which it pays to climb
// Steps between sets count for nothing, but for their sum, when they weigh less than this share of the least network
// that is looked for.
constexpr double share_left_out = 1e-8;

// Beyond so many sets the sums over all of them are faster.
std::size_t most_sets_of(int n) { return std::max<std::size_t>(64, n_sets(std::min(n, 63)) / 8); }

// Lists of families that parts are cut from, and the bytes of all that are held.
struct Whole {
    Whole(AllowedFamilies from, double& held) : families(std::move(from)), bytes(bytes_of(families)), all_bytes(held) {
        all_bytes += bytes;
    }
    Whole(const Whole&) = delete;
    ~Whole() { all_bytes -= bytes; }

    static double bytes_of(const AllowedFamilies& families) {
        double count = 0.0;
        for (const auto& own : families) count += static_cast<double>(own.size());
        return count * sizeof(AllowedFamily);
    }

    AllowedFamilies families;
    double bytes;
    double& all_bytes;
};

// A part of the space: the networks from the lists of a whole, but with just this family of x.
struct Part {
    double bound;
    std::size_t number;
    std::shared_ptr<const Whole> whole;
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
    PriorSearch(const LocalScores& scores, const OrderWeight& weight, const OrderPriorQuestion& question,
                Limits& limits)
        : n_(scores.n_variables()), scores_(scores), weight_(weight), question_(question),
          limits_(limits), found_(weight, question.most, question.log_factor) {
        if (n_ <= small) limits_.threads = 1;
    }

    PriorResult run() {
        begin_simply();
        if (begin()) search();
        return result();
    }

private:
    enum class Outcome { bounded, hopeless, stopped };

    // Before anything else is known: the network without parents; every variable its best family, every order the most
    // that orders can weigh.
    void begin_simply() {
        double score = 0.0, most = 0.0;
        BigArray local(n_sets(n_ - 1));
        for (int size = 2; size <= n_; ++size) log_most_weight_ += std::log(size);
        for (int x = 0; x < n_; ++x) {
            scores_.fill(x, 0, local.size(), local.data());
            score += local[0];
            most += largest(local.data(), local.size());
            if (!weight_.tables().empty()) log_most_weight_ += largest(weight_.tables()[x], local.size());
        }
        log_most_weight_ += 1e-9 * (1.0 + std::abs(log_most_weight_));
        open_bound_ = most + log_most_weight_;
        open_bound_ += 1e-12 * std::abs(open_bound_);
        if (score > minus_infinity) found_.count(score, std::vector<VarSet>(n_, 0));
    }

    // The tables of the lattice, good networks to begin with, and the families that can matter. False when stopped, or
    // when there is no network at all.
    bool begin() {
        Lattice lattice(scores_);
        if (!lattice.sweep(limits_) || !lattice.order(limits_)) return false;
        if (lattice.forward(n_sets(n_) - 1) == minus_infinity) {
            is_finished_ = true;
            return false;
        }
        sums_ = std::make_unique<OrderSums>(n_, potential_of(lattice, weight_.tables()), weight_.tables(),
                                            scores_.precedence(), limits_.threads);
        bounds_ = std::make_unique<SharedBounds>(*sums_, limits_.threads);
        const BestNetwork best = lattice.read_back(0.0);
        found_.count(best.score, best.parents);
        if (question_.most > 1) count_neighbours(lattice, best, log_most_weight_, found_, limits_);
        parallel_for(n_, limits_, [&](std::size_t variable, int worker) {
            const auto x = static_cast<int>(variable);
            sums_->choose(x, {all_of(n_) & ~only(x), lattice.best_by_slot(x)}, worker);
        });
        if (!sums_->sum_forward(limits_) || !sums_->sum_backward(limits_)) return false;
        ++sweeps_;
        open_bound_ = std::min(open_bound_, raised_log(sums_->total(), sums_->scale()));
        root_ = bounds_->families_reaching(lattice, found_.threshold(), question_.most > 1, limits_);
        for (const auto& own : root_) root_families_ += own.size();
        return !root_.empty();
    }

    void search() {
        limits_.begin(Phase::searching, 0);
        take_part(std::move(root_), open_bound_);
        while (!limits_.reached() && !memory_hit_ && !open_.empty() && open_.top().bound >= found_.threshold()) {
            const Part part = open_.top();
            open_.pop();
            limits_.best.store(found_.best());
            limits_.bound.store(std::max(found_.best(), part.bound));
            AllowedFamilies families = part.whole->families;
            families[part.x] = {part.whole->families[part.x][part.family]};
            take_part(std::move(families), part.bound);
            memory_hit_ = bytes_held() > question_.most_bytes;
        }
        open_bound_ = open_.empty() ? unfinished_ : std::max(open_.top().bound, unfinished_);
        is_finished_ = open_bound_ < found_.threshold() || open_bound_ == minus_infinity;
    }

    // The list as a tree of vectors, the queue at its largest.
    double bytes_held() const {
        return whole_bytes_ + static_cast<double>(found_.size()) * (8.0 * n_ + 96.0) +
               2.0 * static_cast<double>(open_.size() * sizeof(Part));
    }

    // Deletes families until that does not pay any more; then lists the networks, or splits the part.
    void take_part(AllowedFamilies families, double bound) {
        const bool is_root = parts_++ == 0;
        for (bool is_first = true;; is_first = false) {
            const Outcome outcome = bound_all(families, bound);
            if (outcome == Outcome::stopped) return leave(bound);
            if (outcome == Outcome::hopeless) return;
            if (is_first) improve_from(families, is_root);
            if (is_root && question_.most > 1) count_around(families, found_, limits_);
            const double deleted = delete_hopeless(families);
            if (deleted == 1.0) return;
            if (n_networks(families) <= most_listed()) return list_all(families, bound);
            if (deleted < share_worth_repeating) break;
        }
        if (!sparse_) sparse_ = std::make_unique<SparseSums>(*sums_);
        split(std::move(families), bound);
    }

    // What was begun and not finished.
    void leave(double bound) { unfinished_ = std::max(unfinished_, bound); }

    // Bounds of the part and of all its families, by sums over few sets if possible.
    Outcome bound_all(AllowedFamilies& families, double& bound) {
        ++sweeps_;
        const double least = share_left_out * std::exp(found_.threshold() - sums_->scale());
        is_sparse_ = sparse_ && bounds_->tabulate(families, limits_) &&
                     sparse_->sum(bounds_->tables(), least, most_sets_of(n_), limits_);
        if (limits_.stop.load()) return Outcome::stopped;
        return is_sparse_ ? bound_sparsely(families, bound) : bound_densely(families, bound);
    }

    Outcome bound_sparsely(AllowedFamilies& families, double& bound) {
        ++sparse_sweeps_;
        bound = std::min(bound, raised_log(sparse_->total() + sparse_->left_out(), sums_->scale()));
        if (bound < found_.threshold()) return Outcome::hopeless;
        bounds_->bound(families, *sparse_, limits_);
        return limits_.stop.load() ? Outcome::stopped : Outcome::bounded;
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

    void improve_from(const AllowedFamilies& families, bool thoroughly) {
        std::vector<int> order;
        for (VarSet placed = all_of(n_); placed != 0; placed &= ~only(order.back()))
            order.push_back(is_sparse_ ? sparse_->likely_last(placed) : sums_->likely_last(placed));
        std::reverse(order.begin(), order.end());
        const std::optional<FamilyChoice> choice = best_along(order, families);
        if (!choice) return;
        const double value = count_choice(*choice, found_);
        if (thoroughly || value >= found_.best() - close) climb(*choice, value, families, found_, limits_);
    }

    // The share of the families that went; 1 when a variable has none left.
    double delete_hopeless(AllowedFamilies& families) const {
        const double before = Whole::bytes_of(families);
        for (auto& own : families) {
            std::erase_if(own, [&](const AllowedFamily& family) { return family.bound < found_.threshold(); });
            if (own.empty()) return 1.0;
        }
        return (before - Whole::bytes_of(families)) / before;
    }

    static double n_networks(const AllowedFamilies& families) {
        double product = 1.0;
        for (const auto& own : families) product *= static_cast<double>(own.size());
        return product;
    }

    double most_listed() const {
        const std::size_t steps = is_sparse_ ? sparse_->n_steps() : n_ * n_sets(n_ - 1);
        return few_networks + static_cast<double>(steps) / steps_per_network;
    }

    void list_all(const AllowedFamilies& families, double bound) {
        std::vector<VarSet> parents(n_);
        if (!list_from(0, 0.0, families, parents)) leave(bound);
    }

    // False when stopped.
    bool list_from(int x, double score, const AllowedFamilies& families, std::vector<VarSet>& parents) {
        if (limits_.reached()) return false;
        if (x == n_) {
            if (score + log_most_weight_ >= found_.threshold()) found_.count(score, parents);
            return true;
        }
        for (const AllowedFamily& family : families[x]) {
            parents[x] = family.parents;
            if (family.bound < found_.threshold()) continue;
            if (!list_from(x + 1, score + family.score, families, parents)) return false;
        }
        return true;
    }

    // By the variable whose families share the fewest orders: a part for each of them.
    void split(AllowedFamilies families, double bound) {
        const auto whole = std::make_shared<const Whole>(std::move(families), whole_bytes_);
        std::size_t chosen = 0;
        double least = infinity;
        for (std::size_t x = 0; x < whole->families.size(); ++x) {
            double sum = 0.0;
            for (const AllowedFamily& family : whole->families[x]) sum += std::exp(family.bound - bound);
            if (whole->families[x].size() == 1 || sum >= least) continue;
            least = sum;
            chosen = x;
        }
        for (std::size_t i = 0; i < whole->families[chosen].size(); ++i)
            open_.push({std::min(bound, whole->families[chosen][i].bound), ++pushed_, whole, chosen, i});
    }

    PriorResult result() const {
        PriorResult result(n_);
        for (const auto& [minus_value, parents] : found_.entries()) result.add(-minus_value, parents);
        result.finished = is_finished_;
        result.memory_hit = memory_hit_;
        result.bound = is_finished_ ? found_.best() : std::max(open_bound_, found_.best());
        result.floor = is_finished_ ? found_.threshold() : std::max(open_bound_, found_.threshold());
        result.parts = parts_;
        result.sweeps = sweeps_;
        result.sparse_sweeps = sparse_sweeps_;
        result.root_families = root_families_;
        result.counted = found_.n_counted();
        return result;
    }

    int n_;
    const LocalScores& scores_;
    const OrderWeight& weight_;
    const OrderPriorQuestion& question_;
    Limits& limits_;
    double log_most_weight_ = 0.0;
    WorthList found_;
    std::unique_ptr<OrderSums> sums_;
    std::unique_ptr<SharedBounds> bounds_;
    std::unique_ptr<SparseSums> sparse_;  // from the root on
    AllowedFamilies root_;
    double whole_bytes_ = 0.0;  // before the parts, which count it down
    std::priority_queue<Part, std::vector<Part>, LessPromising> open_;
    double open_bound_ = infinity;
    double unfinished_ = minus_infinity;
    bool is_finished_ = false, memory_hit_ = false, is_sparse_ = false;
    std::size_t parts_ = 0, sweeps_ = 0, sparse_sweeps_ = 0, root_families_ = 0, pushed_ = 0;
};

}  // namespace

PriorResult search_order_prior(const LocalScores& scores, const OrderWeight& weight, const OrderPriorQuestion& question,
                               Limits& limits) {
    return PriorSearch(scores, weight, question, limits).run();
}

double order_prior_bytes(int n, int threads) {
    const double after_the_root = SparseSums::bytes(n, most_sets_of(n)) + SharedBounds::table_bytes(n);
    return OrderSums::bytes(n, threads) + SharedBounds::bytes(n, threads) + std::max(Lattice::bytes(n), after_the_root);
}

}  // namespace topdag
