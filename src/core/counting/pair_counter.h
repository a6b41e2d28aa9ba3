// pair_counter.h: sums over the cells of a set with two further variables of two states, for all pairs of them.
//
// The cells of the set itself are made once; with both variables four counts follow from one count of rows that have
// the second state of both.
#pragma once

#include <cstdint>
#include <vector>

#include "counting/cell_counters.h"

namespace topdag {

class PairCounter {
public:
    explicit PairCounter(const CountingRows& rows) : rows_(rows) {}

    // The variables at places below `n_places` come next to these cells. Those of two states can be paired.
    void begin(const BitCells& cells, int n_places);

    // The sum of f over the cells with the variables at these places.
    std::int64_t sum(int place, int other, const CountTable& f);

    // The part of a cell that lies in one word.
    struct Lane { std::uint32_t word; std::uint64_t bits; };
    // A cell of several words: its lanes.
    struct WideCell { std::uint32_t begin, end, count; };

private:
    void add_place(int place, const std::uint64_t* state);

    const CountingRows& rows_;
    const SettledCells* settled_ = nullptr;
    const CountTable* summed_for_ = nullptr;  // the function of which this is the sum over settled cells
    std::int64_t settled_sum_ = 0;
    std::vector<Lane> lanes_;                 // of cells in one word first
    std::size_t n_single_ = 0;                // how many these are
    std::vector<std::uint32_t> counts_;       // of them
    std::vector<WideCell> wide_;
    std::vector<std::uint64_t> bits_;         // by place, then lane: rows with the second state
    std::vector<std::uint32_t> ones_;         // how many these are; wide cells stand where their lanes begin to
};

}  // namespace topdag
