// layered_search.cpp: search_in_layers of order_search.h.
#include "orders/order_layers.h"
#include "orders/order_paths.h"
#include "orders/order_search.h"

namespace topdag {

namespace {

class LayeredSearch {
public:
    LayeredSearch(const Candidates& candidates, const Bound& bound, const OrderQuestion& question, Limits& limits)
        : everyone_(all_of(candidates.n_variables())),
          bound_(bound),
          lookup_(candidates),
          layers_(lookup_, bound),
          paths_(candidates, lookup_, false),
          best_possible_(candidates.best_possible()),
          limits_(limits),
          rule_{everyone_,  everyone_, question.upper, question.memory / OrderLayers::bytes_a_set,
                question.extend_paths, true} {
        result_.layers.resize(candidates.n_variables() + 1);
    }

    OrderResult run() {
        result_.bound = bound_.at(0);
        if (result_.bound > rule_.threshold) return without_network();
        counting_ = true;
        const OrderLayer last = pass(0, 0.0, everyone_);
        counting_ = false;
        if (is_stopped_) return std::move(result_);
        if (last.size() == 0) return without_network();
        result_.bound = rule_.threshold = last.forward.front();
        way_.push_back(0);
        find_way(0, 0.0, everyone_);
        if (is_stopped_) return std::move(result_);
        result_.order = paths_.order_through(way_);
        result_.parents = paths_.parents_in(result_.order);
        result_.cost = result_.bound;
        result_.finished = true;
        return std::move(result_);
    }

private:
    OrderResult without_network() {
        result_.finished = true;
        result_.bound = rule_.threshold;
        return std::move(result_);
    }

    // From layer to layer; the last one holds the goal alone, with a set half way as its relay, or nothing.
    OrderLayer pass(VarSet start, double cost, VarSet goal) {
        rule_.goal = goal;
        OrderLayer layer{{start}, {cost}, {start}};
        const int half_way = (size_of(start) + size_of(goal)) / 2;
        for (int size = size_of(start); size < size_of(goal); ++size) {
            if (size == half_way) layer.relays = layer.sets;
            OrderLayer next;
            if (!layers_.follow(layer, rule_, limits_, next)) {
                is_stopped_ = true;
                result_.memory_hit = !limits_.stop;
                return {};
            }
            if (counting_) count(size, layer, next);
            layer = std::move(next);
        }
        return layer;
    }

    void count(int size, const OrderLayer& layer, const OrderLayer& next) {
        result_.layers[size].expanded = layer.size();
        result_.expanded += layer.size();
        result_.generated += next.size();
        result_.bytes = std::max(result_.bytes, (layer.size() + next.size()) * OrderLayers::bytes_a_set / 2);
        if (next.size() == 0) return;
        result_.bound = std::max(result_.bound, next.least_value);
        limits_.bound = best_possible_ - result_.bound;
    }

    // Appends the sets after `start` of a best way to `goal`; returns what the goal costs.
    double find_way(VarSet start, double cost, VarSet goal) {
        if (size_of(goal & ~start) == 1) {
            way_.push_back(goal);
            return cost + lookup_.least_cost(first_of(goal & ~start), start);
        }
        const OrderLayer last = pass(start, cost, goal);
        if (is_stopped_) return 0.0;
        const VarSet relay = last.relays.front();
        const double middle = find_way(start, cost, relay);
        return is_stopped_ ? 0.0 : find_way(relay, middle, goal);
    }

    VarSet everyone_;
    const Bound& bound_;
    ParentLookup lookup_;
    OrderLayers layers_;
    OrderPaths paths_;
    double best_possible_;
    Limits& limits_;
    LayerRule rule_;
    OrderResult result_;
    std::vector<VarSet> way_;
    bool counting_ = false;
    bool is_stopped_ = false;
};

}  // namespace

OrderResult search_in_layers(const Candidates& candidates, const Bound& bound, const OrderQuestion& question,
                             Limits& limits) {
    limits.begin(Phase::searching, 0);
    return LayeredSearch(candidates, bound, question, limits).run();
}

}  // namespace topdag
