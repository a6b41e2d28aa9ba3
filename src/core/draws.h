// draws.h: numbers drawn from a seed, the same on every system (splitmix64).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace topdag {

class Draws {
public:
    explicit Draws(std::uint64_t seed) : state_(seed) {}

    int below(int end) { return static_cast<int>((next() >> 32) * static_cast<std::uint64_t>(end) >> 32); }

    template <class T>
    void shuffle(std::vector<T>& values) {
        for (int i = static_cast<int>(values.size()); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

private:
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }

    std::uint64_t state_;
};

}  // namespace topdag
