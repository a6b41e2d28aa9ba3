// set_map.h: sets found by a search, each with its cost and the set it was reached from, in 20 bytes and a place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "var_set.h"

namespace topdag {

// Grows without moving what it holds.
template <class T>
class Blocks {
public:
    T& operator[](std::size_t i) { return blocks_[i >> bits][i & mask]; }
    const T& operator[](std::size_t i) const { return blocks_[i >> bits][i & mask]; }
    void push_back(const T& value) {
        if (size_ == blocks_.size() << bits) blocks_.push_back(std::make_unique_for_overwrite<T[]>(std::size_t{1} << bits));
        (*this)[size_++] = value;
    }
    // The last block stays for the next one to be added.
    void pop_back() { --size_; }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return (blocks_.size() * sizeof(T)) << bits; }

private:
    static constexpr int bits = 12;
    static constexpr std::size_t mask = (std::size_t{1} << bits) - 1;
    std::vector<std::unique_ptr<T[]>> blocks_;
    std::size_t size_ = 0;
};

class SetMap {
public:
    using Id = std::uint32_t;  // in the order of adding; the highest bit is left to marks
    static constexpr Id none = 0x7fffffff;

    SetMap() : places_(1 << 12, none) {}

    Id find(VarSet set) const { return places_[place_of(set)]; }
    Id add(VarSet set, double cost, Id before) {
        if (5 * (size_ + 1) > 4 * places_.size()) grow();
        places_[place_of(set)] = static_cast<Id>(size_);
        sets_.push_back(set);
        costs_.push_back(cost);
        before_.push_back(before);
        return static_cast<Id>(size_++);
    }
    void improve(Id id, double cost, Id before) {
        costs_[id] = cost;
        before_[id] = before;
    }

    VarSet set(Id id) const { return sets_[id]; }
    double cost(Id id) const { return costs_[id]; }
    Id before(Id id) const { return before_[id] & none; }
    bool is_closed(Id id) const { return (before_[id] & closed) != 0; }
    void close(Id id) { before_[id] |= closed; }
    std::size_t size() const { return size_; }
    bool is_full() const { return size_ + 1 >= none; }
    std::size_t bytes() const { return sets_.bytes() + costs_.bytes() + before_.bytes() + places_.size() * sizeof(Id); }
    // The same after the places have doubled, which 64 more sets may ask for.
    std::size_t bytes_to_grow() const {
        return bytes() + (5 * (size_ + 64) > 4 * places_.size() ? 2 * places_.size() * sizeof(Id) : 0);
    }

private:
    static constexpr Id closed = 0x80000000;

    std::size_t place_of(VarSet set) const {
        const std::uint64_t product = set * 0x9e3779b97f4a7c15ULL;
        std::size_t place = (product ^ (product >> 32)) & (places_.size() - 1);
        while (places_[place] != none && sets_[places_[place]] != set) place = (place + 1) & (places_.size() - 1);
        return place;
    }
    void grow() {
        places_ = std::vector<Id>(2 * places_.size(), none);
        for (std::size_t id = 0; id < size_; ++id) places_[place_of(sets_[id])] = static_cast<Id>(id);
    }

    Blocks<VarSet> sets_;
    Blocks<double> costs_;
    Blocks<Id> before_;
    std::vector<Id> places_;
    std::size_t size_ = 0;
};

}  // namespace topdag
