// order_search.cpp
#include "orders/order_search.h"

#include <algorithm>
#include <bit>

#include "base/set_map.h"
#include "families/parent_lookup.h"
#include "orders/order_paths.h"

namespace topdag {

namespace {

// A set that waits, in 12 bytes: values are not negative, so their bits are in their order.
struct Waiting {
    std::uint32_t high;
    std::uint32_t low;
    SetMap::Id id;

    Waiting() = default;
    Waiting(double value, SetMap::Id id_in) : id(id_in) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        high = static_cast<std::uint32_t>(bits >> 32);
        low = static_cast<std::uint32_t>(bits);
    }
    std::uint64_t bits() const { return std::uint64_t{high} << 32 | low; }
    double value() const { return std::bit_cast<double>(bits()); }
};

class OrderSearch {
public:
    OrderSearch(const Candidates& candidates, const Bound& bound, const OrderQuestion& question)
        : n_(candidates.n_variables()),
          everyone_(all_of(n_)),
          bound_(bound),
          question_(question),
          lookup_(candidates),
          paths_(candidates, lookup_, question.extend_paths) {
        result_.layers.resize(n_ + 1);
    }

    OrderResult run(Limits& limits, double best_possible) {
        begin();
        while (!result_.finished) {
            if (Limits::looks_at(result_.expanded, 256)) {
                limits.done = result_.expanded;
                limits.bound = best_possible - result_.bound;
                if (limits.reached()) break;
            }
            if (is_out_of_memory()) {
                result_.memory_hit = true;
                break;
            }
            step();
        }
        count_open();
        return std::move(result_);
    }

private:
    void begin() {
        const VarSet start = paths_.extended(0);
        const double value = bound_.at(start);
        result_.bound = std::min(value, question_.upper);
        if (value > question_.upper) return;
        wait(value, sets_.add(start, 0.0, 0));
        result_.generated = 1;
    }

    // Expands the first set that waits; the search is finished when that is the goal or nothing waits.
    void step() {
        while (queue_.size() > 0 && sets_.is_closed(queue_[0].id)) take();
        if (queue_.size() == 0) {
            result_.bound = question_.upper;
            result_.finished = true;
            return;
        }
        // With a bound that is not consistent the least value may fall; what was proved stays proved.
        result_.bound = std::max(result_.bound, queue_[0].value());
        const SetMap::Id id = take();
        if (sets_.set(id) == everyone_) {
            finish(id);
            return;
        }
        sets_.close(id);
        ++result_.expanded;
        ++result_.layers[size_of(sets_.set(id))].expanded;
        expand(id);
    }

    void expand(SetMap::Id id) {
        const VarSet placed = sets_.set(id);
        VarSet next[64];
        double cost[64];
        double value[64];
        double left[64];  // of what may be given up
        VarSet possible = 0;
        for (VarSet rest = everyone_ & ~placed; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            cost[x] = sets_.cost(id) + lookup_.least_cost(x, placed);
            if (cost[x] > question_.upper || cost[x] == Candidates::no_family) continue;
            possible |= only(x);
            left[x] = question_.upper - cost[x];
            next[x] = paths_.extended(placed | only(x));
            sets_.prefetch(next[x]);
        }
        VarSet single = 0, several = 0;  // worth a bound: by whether only they are placed or more go along
        for (VarSet rest = possible; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            const SetMap::Id known = sets_.find(next[x]);
            if (known != SetMap::none && sets_.cost(known) <= cost[x]) continue;
            (next[x] == (placed | only(x)) ? single : several) |= only(x);
        }
        // What a variable leads to costs no less than the variable alone, which is cheaper to bound and often enough.
        const bool prunes = question_.upper < Candidates::no_family;
        bound_.after_each(placed, prunes ? single | several : single, value, left);
        for (VarSet rest = single | several; rest != 0; rest &= rest - 1) {
            const int x = first_of(rest);
            if (has(several, x) && (!prunes || value[x] <= left[x])) value[x] = bound_.at(next[x]);
            if (cost[x] + value[x] <= question_.upper) reach(next[x], cost[x], cost[x] + value[x], id);
        }
    }

    void reach(VarSet set, double cost, double value, SetMap::Id before) {
        SetMap::Id id = sets_.find(set);
        if (id == SetMap::none) {
            id = sets_.add(set, cost, before);
            ++result_.generated;
        } else {
            if (sets_.cost(id) <= cost) return;
            if (sets_.is_closed(id)) ++result_.reopened;
            sets_.improve(id, cost, before);
        }
        wait(value, id);
    }

    bool is_ahead(const Waiting& a, const Waiting& b) const {
        if (a.bits() != b.bits()) return a.bits() < b.bits();
        const int size_a = size_of(sets_.set(a.id)), size_b = size_of(sets_.set(b.id));
        return size_a != size_b ? size_a > size_b : a.id > b.id;
    }
    void wait(double value, SetMap::Id id) {
        const Waiting added(value, id);
        queue_.push_back(added);
        std::size_t at = queue_.size() - 1;
        for (; at > 0 && is_ahead(added, queue_[(at - 1) / 2]); at = (at - 1) / 2) queue_[at] = queue_[(at - 1) / 2];
        queue_[at] = added;
    }
    SetMap::Id take() {
        const SetMap::Id first = queue_[0].id;
        const Waiting moved = queue_[queue_.size() - 1];
        queue_.pop_back();
        const std::size_t size = queue_.size();
        std::size_t at = 0;
        for (std::size_t next; (next = 2 * at + 1) < size; at = next) {
            if (next + 1 < size && is_ahead(queue_[next + 1], queue_[next])) ++next;
            if (!is_ahead(queue_[next], moved)) break;
            queue_[at] = queue_[next];
        }
        if (size > 0) queue_[at] = moved;
        return first;
    }

    void finish(SetMap::Id goal) {
        std::vector<VarSet> way{everyone_};
        for (SetMap::Id id = goal; id != 0; id = sets_.before(id)) way.push_back(sets_.set(sets_.before(id)));
        std::reverse(way.begin(), way.end());
        result_.order = paths_.order_through(way);
        result_.parents = paths_.parents_in(result_.order);
        result_.cost = result_.bound = sets_.cost(goal);
        result_.finished = true;
    }

    bool is_out_of_memory() {
        result_.bytes = std::max(result_.bytes, sets_.bytes() + queue_.bytes());
        return sets_.is_full() || sets_.bytes_to_grow() + queue_.bytes() > question_.memory;
    }

    void count_open() {
        for (std::size_t id = 0; id < sets_.size(); ++id)
            if (!sets_.is_closed(static_cast<SetMap::Id>(id)))
                ++result_.layers[size_of(sets_.set(static_cast<SetMap::Id>(id)))].open;
    }

    int n_;
    VarSet everyone_;
    const Bound& bound_;
    OrderQuestion question_;
    ParentLookup lookup_;
    OrderPaths paths_;
    SetMap sets_;
    Blocks<Waiting> queue_;  // a heap, the best in front
    OrderResult result_;
};

}  // namespace

OrderResult search_orders(const Candidates& candidates, const Bound& bound, const OrderQuestion& question,
                          Limits& limits) {
    limits.begin(Phase::searching, 0);
    return OrderSearch(candidates, bound, question).run(limits, candidates.best_possible());
}

}  // namespace topdag
