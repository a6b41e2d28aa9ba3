// draws.h: numbers drawn from a seed, the same on every system (splitmix64).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace topdag {

// A number in which every bit depends on all bits of z.
constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// From [0, 1): one number for each seed, item and step, so that the order in which they are asked for does not matter.
constexpr double drawn(std::uint64_t seed, std::uint64_t item, std::uint64_t step) {
    constexpr std::uint64_t stride = 0x9e3779b97f4a7c15ULL;
    const std::uint64_t of_item = mixed(mixed(seed + stride) + (item + 1) * stride);
    return static_cast<double>(mixed(of_item + (step + 1) * stride) >> 11) * 0x1p-53;
}

class Draws {
public:
    explicit Draws(std::uint64_t seed) : state_(seed) {}

    int below(int end) { return static_cast<int>((next() >> 32) * static_cast<std::uint64_t>(end) >> 32); }

    template <class T>
    void shuffle(std::vector<T>& values) {
        for (int i = static_cast<int>(values.size()); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

private:
    std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15ULL); }

    std::uint64_t state_;
};

}  // namespace topdag
