// set_map.h: sets found by a search, each with its cost and the set it was reached from.
//
// 20 bytes each, and 5 for each place in a table that is at most four fifths full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/var_set.h"

namespace topdag {

// Grows without moving what it holds.
template <class T>
class Blocks {
public:
    T& operator[](std::size_t i) { return blocks_[i >> bits][i & mask]; }
    const T& operator[](std::size_t i) const { return blocks_[i >> bits][i & mask]; }
    void push_back(const T& value) {
        if (size_ == blocks_.size() << bits) blocks_.push_back(std::make_unique_for_overwrite<T[]>(mask + 1));
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

    SetMap() : tags_(first_places, 0), ids_(first_places) {}

    Id find(VarSet set) const {
        const std::size_t place = place_of(set);
        return tags_[place] == 0 ? none : ids_[place];
    }
    // A look-up that follows soon finds its place in the cache.
    void prefetch(VarSet set) const { __builtin_prefetch(&tags_[scrambled(set) & (tags_.size() - 1)]); }
    // The set must not be there yet.
    Id add(VarSet set, double cost, Id before) {
        if (is_crowded(size() + 1)) grow();
        const Id id = static_cast<Id>(size());
        const std::size_t place = place_of(set);
        tags_[place] = tag_of(set);
        ids_[place] = id;
        entries_.push_back({set, cost});
        before_.push_back(before);
        return id;
    }
    void improve(Id id, double cost, Id before) {
        entries_[id].cost = cost;
        before_[id] = before;
    }

    VarSet set(Id id) const { return entries_[id].set; }
    double cost(Id id) const { return entries_[id].cost; }
    Id before(Id id) const { return before_[id] & none; }
    bool is_closed(Id id) const { return (before_[id] & closed) != 0; }
    void close(Id id) { before_[id] |= closed; }
    std::size_t size() const { return entries_.size(); }
    bool is_full() const { return size() + 64 >= none; }
    std::size_t bytes() const { return entries_.bytes() + before_.bytes() + bytes_a_place * tags_.size(); }
    // The same after the places have doubled, which 64 more sets may ask for.
    std::size_t bytes_to_grow() const {
        return bytes() + (is_crowded(size() + 64) ? 2 * bytes_a_place * tags_.size() : 0);
    }

private:
    struct Entry {
        VarSet set;
        double cost;
    };

    static constexpr Id closed = 0x80000000;
    static constexpr std::size_t first_places = 1 << 12;
    static constexpr std::size_t bytes_a_place = sizeof(Id) + 1;

    // Never zero, which marks a free place; from bits that do not choose the place.
    static std::uint8_t tag_of(VarSet set) { return static_cast<std::uint8_t>(scrambled(set) >> 56) | 1; }
    bool is_crowded(std::size_t size) const { return 5 * size > 4 * tags_.size(); }

    // Where a set stands or may be put. Another set with the same tag is rare, so few are looked at.
    std::size_t place_of(VarSet set) const {
        const std::uint8_t tag = tag_of(set);
        std::size_t place = scrambled(set) & (tags_.size() - 1);
        while (tags_[place] != 0 && (tags_[place] != tag || entries_[ids_[place]].set != set))
            place = (place + 1) & (tags_.size() - 1);
        return place;
    }
    void grow() {
        tags_ = std::vector<std::uint8_t>(2 * tags_.size(), 0);
        ids_ = std::vector<Id>(tags_.size());
        for (std::size_t id = 0; id < size(); ++id) {
            std::size_t place = scrambled(entries_[id].set) & (tags_.size() - 1);
            while (tags_[place] != 0) place = (place + 1) & (tags_.size() - 1);
            tags_[place] = tag_of(entries_[id].set);
            ids_[place] = static_cast<Id>(id);
        }
    }

    Blocks<Entry> entries_;
    Blocks<Id> before_;
    std::vector<std::uint8_t> tags_;  // by place
    std::vector<Id> ids_;             // by place
};

}  // namespace topdag
