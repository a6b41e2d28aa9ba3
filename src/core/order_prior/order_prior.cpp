#include "order_prior/order_prior.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <queue>

#include "base/draws.h"
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
constexpr std::size_t orders_drawn = 16;        // at the root, to climb from
constexpr double share_tried = 0.25;            // of the sets that a part may have, where its whole had more
// Steps between sets count for nothing, but for their sum, when they weigh less than this share of the least network
// that is looked for.
constexpr double share_left_out = 1e-8;

// Beyond so many sets the sums over all of them are faster; with more threads earlier, since these share only the latter.
std::size_t most_sets_of(int n) { return std::max<std::size_t>(64, n_sets(std::min(n, 63)) / 8); }

// Of what sparse sums for one part take at most, but for what is there for each set.
double bytes_for_one_part(int n) { return SparseSums::bytes_of_sets(n, most_sets_of(n)) + SharedBounds::table_bytes(n); }

// Lists of families that parts are cut from, and the bytes of all that are held.
struct Whole {
    Whole(AllowedFamilies from, bool with_few_sets, double& held)
        : families(std::move(from)), has_few_sets(with_few_sets), bytes(bytes_of(families)), all_bytes(held) {
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
    bool has_few_sets;  // its bounds came from sparse sums
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

// The potential of order_sums.h; with weights of orders not what the lattice knows.
BigArray potential_of(const Lattice& lattice, const std::vector<const double*>& weights, Limits& limits) {
    const int n = lattice.n_variables();
    BigArray potential(n_sets(n));
    parallel_over_sets(n, limits, [&](VarSet set) {
        double most = weights.empty() ? lattice.forward(set) : set == 0 ? 0.0 : minus_infinity;
        for (VarSet rest = weights.empty() ? 0 : set; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            const VarSet before = set & ~only(x);
            most = std::max(most, potential[before] + lattice.best(x, before) + weights[x][without_bit(before, x)]);
        }
        potential[set] = most;
    });
    return potential;
}

// What bounds of parts are worked out with: by all threads for one part, or by one for a part of its own, beside others.
struct Desk {
    Desk(OrderSums& sums, int threads) : bounds(sums, threads) {}

    SharedBounds bounds;
    std::unique_ptr<SparseSums> sparse;  // from the root on
    bool is_sparse = false;              // the last bounds were
};

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
    enum class Outcome { bounded, hopeless, stopped, too_large };
    // How a part was taken: it is done with, or its families are to be split; or it was not finished, or is too large to
    // be taken beside others.
    enum class Fate { done, split, unfinished, too_large };
    struct Taken {
        Fate fate;
        double bound;
        AllowedFamilies families;
        bool has_few_sets;
    };

    // Before anything else is known: the network without parents; every variable its best family, every order the most
    // that orders can weigh.
    void begin_simply() {
        const std::size_t slots = n_sets(n_ - 1), piece = std::min(slots, n_sets(14));
        std::vector<double> alone(n_), best(n_, minus_infinity), heaviest(n_, 0.0);
        Limits none(limits_.threads);  // this must be known, however short the time
        parallel_for(n_, none, [&](std::size_t variable, int) {
            const auto x = static_cast<int>(variable);
            std::vector<double> local(piece);
            for (std::size_t begin = 0; begin < slots; begin += piece) {
                scores_.fill(x, begin, piece, local.data());
                if (begin == 0) alone[x] = local[0];
                best[x] = std::max(best[x], largest(local.data(), piece));
            }
            if (!weight_.tables().empty()) heaviest[x] = largest(weight_.tables()[x], slots);
        });
        double score = 0.0, most = 0.0;
        for (int size = 2; size <= n_; ++size) log_most_weight_ += std::log(size);
        for (int x = 0; x < n_; ++x) {
            score += alone[x];
            most += best[x];
            log_most_weight_ += heaviest[x];
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
        sums_ = std::make_unique<OrderSums>(n_, potential_of(lattice, weight_.tables(), limits_), weight_.tables(),
                                            scores_.precedence(), limits_.threads);
        alone_ = std::make_unique<Desk>(*sums_, limits_.threads);
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
        root_ = alone_->bounds.families_reaching(lattice, found_.threshold(), question_.most > 1, limits_);
        for (const auto& own : root_) root_families_ += own.size();
        return !root_.empty();
    }

    void search() {
        limits_.begin(Phase::searching, 0);
        settle(take(std::move(root_), open_bound_, *alone_, 0.0, true));
        while (!limits_.reached() && !memory_hit_ && !open_.empty() && open_.top().bound >= found_.threshold()) {
            limits_.best.store(found_.best());
            limits_.bound.store(std::max(found_.best(), open_.top().bound));
            take_most_promising();
            memory_hit_ = bytes_held() > question_.most_bytes;
        }
        open_bound_ = open_.empty() ? unfinished_ : std::max(open_.top().bound, unfinished_);
        is_finished_ = open_bound_ < found_.threshold() || open_bound_ == minus_infinity;
    }

    // The list as a tree of vectors, the queue at its largest.
    double bytes_held() const {
        return desk_bytes_ + whole_bytes_ + static_cast<double>(found_.size()) * (8.0 * n_ + 96.0) +
               2.0 * static_cast<double>(open_.size() * sizeof(Part));
    }

    // Some of the parts with the highest bounds, side by side, twice as many as there are threads; one after another, with
    // all threads for each, those that are too large for that. Parts of a whole that was too large often are so too: they
    // are given up earlier. What is found by one may rule out others, but in whatever order, none is left out that could
    // hold a network of the list.
    void take_most_promising() {
        std::vector<Part> parts;
        const std::size_t at_once = limits_.threads == 1 ? 1 : 2 * desks_.size();
        while (!open_.empty() && open_.top().bound >= found_.threshold() && parts.size() < at_once) {
            parts.push_back(open_.top());
            open_.pop();
        }
        std::vector<Taken> taken;
        for (const Part& part : parts) taken.push_back({Fate::unfinished, part.bound, {}, false});
        const bool is_alone = parts.size() == 1;
        parallel_for(parts.size(), limits_, [&](std::size_t i, int worker) {
            const double most = is_alone ? 1.0 / limits_.threads
                                : parts[i].whole->has_few_sets ? desk_share_ : std::min(desk_share_, share_tried);
            taken[i] = take(families_of(parts[i]), parts[i].bound, is_alone ? *alone_ : *desks_[worker], most);
        });
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (taken[i].fate == Fate::too_large)
                taken[i] = take(families_of(parts[i]), taken[i].bound, *alone_, 0.0);
            settle(std::move(taken[i]));
        }
    }

    static AllowedFamilies families_of(const Part& part) {
        AllowedFamilies families = part.whole->families;
        families[part.x] = {part.whole->families[part.x][part.family]};
        return families;
    }

    // Deletes families until that does not pay any more; then lists the networks, or leaves the part to be split. Sparse
    // sums may take this share of what they may take at most; 0: they are not tried.
    Taken take(AllowedFamilies families, double bound, Desk& desk, double share, bool is_root = false) {
        if (bound < found_.threshold()) return {Fate::done, bound, {}, false};  // by what others found meanwhile
        ++parts_;
        for (bool is_first = true;; is_first = false) {
            const Outcome outcome = bound_all(families, bound, desk, share);
            if (outcome == Outcome::stopped) return {Fate::unfinished, bound, {}, false};
            if (outcome == Outcome::too_large) return {Fate::too_large, bound, {}, false};
            if (outcome == Outcome::hopeless) return {Fate::done, bound, {}, false};
            if (is_first) improve_from(families, desk);
            if (is_first && is_root) improve_from_drawn_orders(families);
            if (is_root && question_.most > 1) count_around(families, found_, limits_);
            const double deleted = delete_hopeless(families);
            if (deleted == 1.0) return {Fate::done, bound, {}, false};
            if (n_networks(families) <= most_listed(desk))
                return {list_all(families) ? Fate::done : Fate::unfinished, bound, {}, false};
            if (deleted < share_worth_repeating) return {Fate::split, bound, std::move(families), desk.is_sparse};
        }
    }

    void settle(Taken taken) {
        if (taken.fate == Fate::unfinished) unfinished_ = std::max(unfinished_, taken.bound);
        if (taken.fate != Fate::split) return;
        if (!alone_->sparse) prepare_sparse_sums();
        split(std::move(taken.families), taken.bound, taken.has_few_sets);
    }

    void prepare_sparse_sums() {
        const auto known = std::make_shared<const KnownSets>(known_sets(*sums_, limits_));
        alone_->sparse = std::make_unique<SparseSums>(*sums_, known);
        const double least = 1.0 / limits_.threads, most = 0.5 * question_.most_bytes / bytes_for_one_part(n_);
        desk_share_ = std::clamp(least * most, least, 1.0);
        desk_bytes_ = (limits_.threads * desk_share_ - 1.0) * bytes_for_one_part(n_);
        for (int i = 0; i < limits_.threads; ++i) {
            desks_.push_back(std::make_unique<Desk>(*sums_, 1));
            desks_.back()->sparse = std::make_unique<SparseSums>(*sums_, known);
        }
    }

    // Bounds of the part and of all its families, by sums over few sets if possible.
    Outcome bound_all(AllowedFamilies& families, double& bound, Desk& desk, double share) {
        ++sweeps_;
        const double least = share_left_out * std::exp(found_.threshold() - sums_->scale());
        const auto most_sets = static_cast<std::size_t>(share * static_cast<double>(most_sets_of(n_)));
        desk.is_sparse = share > 0.0 && desk.bounds.tabulate(families, share, limits_) &&
                         desk.sparse->sum(desk.bounds.tables(), least, most_sets, limits_);
        if (limits_.stop.load()) return Outcome::stopped;
        if (desk.is_sparse) return bound_sparsely(families, bound, desk);
        return &desk == alone_.get() ? bound_densely(families, bound) : Outcome::too_large;
    }

    Outcome bound_sparsely(AllowedFamilies& families, double& bound, Desk& desk) {
        ++sparse_sweeps_;
        bound = std::min(bound, raised_log(desk.sparse->total() + desk.sparse->left_out(), sums_->scale()));
        if (bound < found_.threshold()) return Outcome::hopeless;
        desk.bounds.bound(families, *desk.sparse, limits_);
        return limits_.stop.load() ? Outcome::stopped : Outcome::bounded;
    }

    Outcome bound_densely(AllowedFamilies& families, double& bound) {
        alone_->bounds.choose(families, limits_);
        if (!sums_->sum_forward(limits_)) return Outcome::stopped;
        bound = std::min(bound, raised_log(sums_->total(), sums_->scale()));
        if (bound < found_.threshold()) return Outcome::hopeless;
        if (!sums_->sum_backward(limits_)) return Outcome::stopped;
        alone_->bounds.bound(families, limits_);
        return limits_.stop.load() ? Outcome::stopped : Outcome::bounded;
    }

    void improve_from(const AllowedFamilies& families, const Desk& desk) {
        improve_along(families, [&](VarSet placed) {
            return desk.is_sparse ? desk.sparse->likely_last(placed) : sums_->likely_last(placed);
        });
    }

    // From orders drawn by their weight: a good network at the root makes every part smaller.
    void improve_from_drawn_orders(const AllowedFamilies& families) {
        parallel_for(orders_drawn, limits_, [&](std::size_t order, int) {
            improve_along(families, [&](VarSet placed) {
                return sums_->drawn_last(placed, drawn(0, order, size_of(placed)));
            });
        });
    }

    // `last_of`: which variable comes last of a set in the order.
    template <class LastOf>
    void improve_along(const AllowedFamilies& families, LastOf&& last_of) {
        std::vector<int> order;
        for (VarSet placed = all_of(n_); placed != 0; placed &= ~only(order.back())) order.push_back(last_of(placed));
        std::reverse(order.begin(), order.end());
        const std::optional<FamilyChoice> choice = best_along(order, families);
        if (!choice) return;
        const double value = count_choice(*choice, found_);
        if (value >= found_.best() - close) climb(*choice, value, families, found_, limits_);
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

    double most_listed(const Desk& desk) const {
        const std::size_t steps = desk.is_sparse ? desk.sparse->n_steps() : n_ * n_sets(n_ - 1);
        return few_networks + static_cast<double>(steps) / steps_per_network;
    }

    // False when stopped.
    bool list_all(const AllowedFamilies& families) {
        std::vector<VarSet> parents(n_);
        return list_from(0, 0.0, families, parents);
    }

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
    void split(AllowedFamilies families, double bound, bool has_few_sets) {
        const auto whole = std::make_shared<const Whole>(std::move(families), has_few_sets, whole_bytes_);
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
    std::unique_ptr<Desk> alone_;
    std::vector<std::unique_ptr<Desk>> desks_;  // by thread, from the root on
    AllowedFamilies root_;
    double desk_share_ = 1.0;   // of what sparse sums may take at most, that each desk may take
    double desk_bytes_ = 0.0;   // of the desks, beyond what is taken in any case
    double whole_bytes_ = 0.0;  // before the parts, which count it down
    std::priority_queue<Part, std::vector<Part>, LessPromising> open_;
    double open_bound_ = infinity;
    double unfinished_ = minus_infinity;
    bool is_finished_ = false, memory_hit_ = false;
    std::atomic<std::size_t> parts_ = 0, sweeps_ = 0, sparse_sweeps_ = 0;
    std::size_t root_families_ = 0, pushed_ = 0;
};

}  // namespace

PriorResult search_order_prior(const LocalScores& scores, const OrderWeight& weight, const OrderPriorQuestion& question,
                               Limits& limits) {
    return PriorSearch(scores, weight, question, limits).run();
}

double order_prior_bytes(int n, int threads) {
    const int times = threads == 1 ? 1 : 2;  // for one part, and as much for several side by side
    const double after_the_root =
        SparseSums::bytes(n, threads + 1) + times * bytes_for_one_part(n) + 4.0 * threads * many_sets(n);
    return OrderSums::bytes(n, threads) + SharedBounds::bytes(n, threads) + std::max(Lattice::bytes(n), after_the_root);
}

}  // namespace topdag
