// path_counting.cpp
#include "partial_networks/path_counting.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace topdag {

// ---- Packed networks

VarSet PackedNetworks::parents(const std::uint64_t* words, int x) const {
    const std::size_t begin = static_cast<std::size_t>(x) * (n_ - 1), word = begin / 64, shift = begin % 64;
    VarSet slot = words[word] >> shift;
    if (shift + (n_ - 1) > 64) slot |= words[word + 1] << (64 - shift);
    return with_gap(slot & all_of(n_ - 1), x);
}

void PackedNetworks::put(Words& words, int x, VarSet parents) const {
    const std::size_t begin = static_cast<std::size_t>(x) * (n_ - 1), word = begin / 64, shift = begin % 64;
    const VarSet slot = without_bit(parents, x);
    words[word] |= slot << shift;
    if (shift + (n_ - 1) > 64) words[word + 1] |= slot >> (64 - shift);
}

void PackedNetworks::push_back(const Words& words) {
    if (size_ == blocks_.size() << bits)
        blocks_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>((mask + 1) * n_words_));
    std::copy(words.begin(), words.end(), &blocks_[size_ >> bits][(size_ & mask) * n_words_]);
    ++size_;
}

// ---- The search

template <class Count>
PathCounting<Count>::PathCounting(const PackedFamilies& families, const Lattice& lattice, std::size_t block,
                                  double slack, std::size_t memory)
    : n_(families.n_variables()),
      families_(families),
      lattice_(lattice),
      oracle_(lattice),
      steps_(families, oracle_),
      block_(block),
      slack_(slack),
      memory_(memory),
      log_rest_(n_ + 1, 0.0),
      networks_(n_),
      table_(std::size_t{1} << 12, outside) {
    for (int i = n_ - 1; i >= 0; --i) log_rest_[i] = log_rest_[i + 1] + std::log(i + 1);
    made_ = networks_.none();
    Node root{0.0, 0.0, 1, 0, 0, outside};
    root.most = place_value(root, 0.0);
    if (root.most == minus_infinity) return;  // no network is allowed
    nodes_.push_back(root);
    networks_.push_back(made_);
    table_place(0, made_.data()) = 0;
    queue_.push_back(0);
    settle(0, 0);
    ++counts.generated;
}

template <class Count>
typename PathCounting<Count>::Taken PathCounting<Count>::take() {
    if (queue_.empty()) return Taken::none;
    const Id id = queue_.front();
    describe(id);
    is_first_time = nodes_[id].next_step == 0;
    ++(is_first_time ? counts.expanded : counts.re_expanded);
    remove_first();
    if (is_complete(id)) return Taken::complete;
    expand(id);
    return Taken::partial;
}

template <class Count>
bool PathCounting<Count>::next_complete() {
    while (!queue_.empty()) {
        const Id id = queue_.front();
        remove_first();
        if (!is_complete(id)) continue;
        describe(id);
        return true;
    }
    return false;
}

template <class Count>
double PathCounting<Count>::bound() const {
    return queue_.empty() ? minus_infinity : nodes_[queue_.front()].most;
}

template <class Count>
bool PathCounting<Count>::takes_too_much() const {
    const auto taken = [this](const std::vector<Id>& ids, bool grows) {
        return ids.capacity() * sizeof(Id) * (grows ? 3 : 1);
    };
    const std::size_t queue = taken(queue_, queue_.size() + block_ > queue_.capacity());
    const std::size_t table = taken(table_, 4 * (nodes_.size() + block_) > 3 * table_.size());
    return nodes_.bytes() + networks_.bytes() + steps_.bytes() + queue + table > memory_ ||
           nodes_.size() + block_ >= SetMap::none;
}

template <class Count>
void PathCounting<Count>::describe(Id id) {
    const Node& node = nodes_[id];
    placed = node.placed;
    parents.resize(n_);
    for (int x = 0; x < n_; ++x) parents[x] = networks_.parents(networks_.at(id), x);
    count = node.count;
    value = node.most;
    score = node.score;
}

// Of a network just made, or whose count has grown.
template <class Count>
double PathCounting<Count>::place_value(const Node& node, double log_count) const {
    const bool complete = node.placed == all_of(n_);
    const double rest = lattice_.backward(node.placed);
    return complete ? node.score + log_count
                    : node.score + log_count + rest + log_rest_[size_of(node.placed)] + slack_;
}

template <class Count>
void PathCounting<Count>::expand(Id id) {
    const VarSet from = nodes_[id].placed;
    std::size_t place = nodes_[id].next_step;
    const std::size_t end = place + block_;
    LeafSteps::List& steps = steps_.from(from);
    const LeafStep* step = steps_.at(steps, place);
    for (; step != nullptr && place < end; step = steps_.at(steps, ++place)) make(id, *step);
    Node& node = nodes_[id];
    node.next_step = static_cast<std::uint32_t>(place);
    if (step == nullptr) return;
    const double log_count = static_cast<double>(std::log(static_cast<long double>(node.count)));
    node.most = node.score + log_count + step->most + log_rest_[size_of(from)] + slack_;
    queue_.push_back(id);
    settle(id, static_cast<std::uint32_t>(queue_.size() - 1));
    rise(id);
}

template <class Count>
void PathCounting<Count>::make(Id from, const LeafStep& step) {
    const int x = step.family.variable();
    const VarSet larger = nodes_[from].placed | only(x);
    std::copy_n(networks_.at(from), networks_.n_words(), made_.begin());
    networks_.put(made_, x, step.family.parents());
    if (4 * (nodes_.size() + 1) > 3 * table_.size()) grow_table();
    Id& known = table_place(larger, made_.data());
    if (known == outside) {
        known = static_cast<Id>(nodes_.size());
        const double local = families_.local(x, step.family.parents());
        nodes_.push_back({nodes_[from].score + local, 0.0, 0, static_cast<std::uint32_t>(larger), 0,
                          static_cast<std::uint32_t>(queue_.size())});
        networks_.push_back(made_);
        queue_.push_back(known);
        ++counts.generated;
    }
    Node& node = nodes_[known];
    if (node.place == outside || node.next_step > 0) throw std::logic_error("a network was taken before its makers");
    node.count += nodes_[from].count;
    node.most = place_value(node, static_cast<double>(std::log(static_cast<long double>(node.count))));
    rise(known);
}

// ---- The queue: a heap that knows where each network stands in it

// Complete networks come after all else that may be worth as much, the lower masks first.
template <class Count>
bool PathCounting<Count>::is_earlier(Id a, Id b) const {
    const Node &first = nodes_[a], &second = nodes_[b];
    if (first.most != second.most) return first.most > second.most;
    if (is_complete(a) != is_complete(b)) return is_complete(b);
    if (!is_complete(a)) {
        const int deep_a = size_of(first.placed), deep_b = size_of(second.placed);
        return deep_a != deep_b ? deep_a > deep_b : a < b;
    }
    for (int x = 0; x < n_; ++x) {
        const VarSet of_a = networks_.parents(networks_.at(a), x), of_b = networks_.parents(networks_.at(b), x);
        if (of_a != of_b) return of_a < of_b;
    }
    return false;
}

template <class Count>
void PathCounting<Count>::settle(Id id, std::uint32_t place) {
    queue_[place] = id;
    nodes_[id].place = place;
}

template <class Count>
void PathCounting<Count>::rise(Id id) {
    std::uint32_t place = nodes_[id].place;
    while (place > 0 && is_earlier(id, queue_[(place - 1) / 4])) {
        settle(queue_[(place - 1) / 4], place);
        place = (place - 1) / 4;
    }
    settle(id, place);
}

template <class Count>
void PathCounting<Count>::sink(Id id) {
    std::size_t place = nodes_[id].place;
    while (true) {
        std::size_t first = place;
        for (std::size_t below = 4 * place + 1; below <= 4 * place + 4 && below < queue_.size(); ++below)
            if (is_earlier(queue_[below], first == place ? id : queue_[first])) first = below;
        if (first == place) break;
        settle(queue_[first], static_cast<std::uint32_t>(place));
        place = first;
    }
    settle(id, static_cast<std::uint32_t>(place));
}

template <class Count>
void PathCounting<Count>::remove_first() {
    nodes_[queue_.front()].place = outside;
    const Id last = queue_.back();
    queue_.pop_back();
    if (queue_.empty()) return;
    nodes_[last].place = 0;
    sink(last);
}

// ---- The table of networks met

template <class Count>
std::uint64_t PathCounting<Count>::hash_of(VarSet of, const std::uint64_t* words) const {
    std::uint64_t hash = scrambled(of + 1);
    for (std::size_t i = 0; i < networks_.n_words(); ++i) hash = scrambled(hash ^ words[i]) + (hash << 7);
    return hash ^ (hash >> 29);
}

// Where a network stands or may be put.
template <class Count>
typename PathCounting<Count>::Id& PathCounting<Count>::table_place(VarSet of, const std::uint64_t* words) {
    std::size_t place = hash_of(of, words) & (table_.size() - 1);
    while (table_[place] != outside) {
        const Id id = table_[place];
        if (nodes_[id].placed == of && std::equal(words, words + networks_.n_words(), networks_.at(id))) break;
        place = (place + 1) & (table_.size() - 1);
    }
    return table_[place];
}

template <class Count>
void PathCounting<Count>::grow_table() {
    table_ = std::vector<Id>(2 * table_.size(), outside);
    for (std::size_t id = 0; id < nodes_.size(); ++id)
        table_place(nodes_[id].placed, networks_.at(id)) = static_cast<Id>(id);
}

template class PathCounting<std::uint64_t>;
template class PathCounting<unsigned __int128>;

}  // namespace topdag
