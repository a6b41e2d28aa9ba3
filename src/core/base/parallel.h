// parallel.h: a loop shared by threads. Which thread takes which step never matters to the result.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

#include "base/run_limits.h"
#include "base/var_set.h"

namespace topdag {

// Calls work(worker) for workers 0, 1, ..., each in a thread of its own; for fewer where the system gives no more threads.
// What the first one throws is thrown again here when all have ended.
void run_workers(int workers, const std::function<void(int)>& work);

// Calls step(i, worker) for i in [0, steps), i taken in order by whichever worker is free.
// Stops early when a limit is reached; an exception in one worker ends the loop and is thrown again here.
template <class Step>
void parallel_for(std::size_t steps, int threads, Limits& limits, Step&& step) {
    std::atomic<std::size_t> next{0};
    run_workers(static_cast<int>(std::min<std::size_t>(threads, steps)), [&](int worker) {
        try {
            for (std::size_t i; (i = next.fetch_add(1)) < steps && !limits.reached();) step(i, worker);
        } catch (...) {
            next.store(steps);
            throw;
        }
    });
}

// Shared by all threads that the limits allow.
template <class Step>
void parallel_for(std::size_t steps, Limits& limits, Step&& step) {
    parallel_for(steps, limits.threads, limits, step);
}

// Fills an array that may be as large as memory, which takes seconds; false when a limit is reached before.
inline bool fill_in_parallel(double* array, std::size_t size, double value, Limits& limits) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    parallel_for((size + piece - 1) / piece, limits, [&](std::size_t i, int) {
        std::fill(array + i * piece, array + std::min(size, (i + 1) * piece), value);
    });
    return !limits.stop.load();
}

// Calls step(set, worker) for all sets of n variables, smaller ones first, or last. Those of one size do not need each
// other, so threads share them.
template <class Step>
void parallel_by_size(int n, bool from_empty, Limits& limits, Step&& step) {
    std::vector<std::vector<VarSet>> layers(n + 1);
    for (VarSet set = 0; set < n_sets(n); ++set) layers[size_of(set)].push_back(set);
    if (!from_empty) std::reverse(layers.begin(), layers.end());
    for (const std::vector<VarSet>& layer : layers)
        parallel_for(layer.size(), limits, [&](std::size_t i, int worker) { step(layer[i], worker); });
}

}  // namespace topdag
