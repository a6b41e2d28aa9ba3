// wide_set.h: sets of up to 128 variables, where 64 bits are too few; as var_set.h otherwise.
#pragma once

#include <bit>
#include <cstdint>

namespace topdag {

class WideSet {
public:
    constexpr WideSet() = default;

    constexpr void add(int v) { words_[v >> 6] |= std::uint64_t{1} << (v & 63); }
    constexpr WideSet without(int v) const {
        WideSet less = *this;
        less.words_[v >> 6] &= ~(std::uint64_t{1} << (v & 63));
        return less;
    }
    constexpr bool has(int v) const { return words_[v >> 6] >> (v & 63) & 1; }
    constexpr bool is_within(const WideSet& outer) const {
        return ((words_[0] & ~outer.words_[0]) | (words_[1] & ~outer.words_[1])) == 0;
    }
    constexpr int size() const { return std::popcount(words_[0]) + std::popcount(words_[1]); }
    constexpr std::uint64_t word(int w) const { return words_[w]; }
    constexpr auto operator<=>(const WideSet&) const = default;

private:
    std::uint64_t words_[2] = {0, 0};
};

}  // namespace topdag
