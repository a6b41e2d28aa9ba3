// parallel.h: a loop shared by threads. Which thread takes which step never matters to the result.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "base/run_limits.h"
#include "base/var_set.h"

namespace topdag {

// Calls work(worker) for workers 0, 1, ..., each in a thread of its own; for fewer where the system gives no more threads.
// What the first one throws is thrown again here when all have ended.
void run_workers(int workers, const std::function<void(int)>& work);

// Calls step(i, worker) for i in [0, steps), taken in order, `at_once` of them, by whichever worker is free.
// Stops early when a limit is reached; an exception in one worker ends the loop and is thrown again here.
template <class Step>
void parallel_for(std::size_t steps, int threads, Limits& limits, Step&& step, std::size_t at_once = 1) {
    std::atomic<std::size_t> next{0};
    run_workers(static_cast<int>(std::min<std::size_t>(threads, steps)), [&](int worker) {
        try {
            for (std::size_t begin; (begin = next.fetch_add(at_once)) < steps;)
                for (std::size_t i = begin; i < std::min(steps, begin + at_once); ++i) {
                    if (limits.reached()) return;
                    step(i, worker);
                }
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
// other and take equally long, so threads share them; where they are many, some at once: steps may be short.
template <class Step>
void parallel_by_size(int n, bool from_empty, Limits& limits, Step&& step) {
    std::vector<std::vector<VarSet>> layers(n + 1);
    for (VarSet set = 0; set < n_sets(n); ++set) layers[size_of(set)].push_back(set);
    if (!from_empty) std::reverse(layers.begin(), layers.end());
    for (const std::vector<VarSet>& layer : layers) {
        const std::size_t at_once = std::clamp<std::size_t>(layer.size() / (64 * limits.threads), 1, 256);
        parallel_for(
            layer.size(), limits.threads, limits, [&](std::size_t i, int worker) { step(layer[i], worker); }, at_once);
    }
}

// Calls visit(set) for all sets of n variables, each after all its subsets. Threads share blocks of sets that have the
// same variables but for the first ones.
template <class Visit>
void parallel_over_sets(int n, Limits& limits, Visit&& visit) {
    const int low = std::min(n, 12);
    parallel_by_size(n - low, true, limits, [&](VarSet block, int) {
        for (VarSet set = 0; set < n_sets(low); ++set) visit(block << low | set);
    });
}

// Calls step(from, to, worker) for all pairs of a set and a subset of it, of n variables. For each `to` the subsets come
// one after another by growing bits, itself last; a subset comes once all steps to it are done. Stops early when a limit
// is reached; an exception in one worker ends the loop and is thrown again here.
template <class Step>
void parallel_over_subsets(int n, Limits& limits, Step&& step) {
    struct Target { VarSet next = 0; bool is_taken = false, is_done = false; };
    std::vector<Target> targets(n_sets(n));
    std::size_t n_left = targets.size();
    bool is_over = false;
    std::mutex lock;
    std::condition_variable changed;
    const auto is_ready = [&](VarSet to) {
        const Target& own = targets[to];
        return !own.is_taken && !own.is_done && (own.next == to || targets[own.next].is_done);
    };
    run_workers(static_cast<int>(std::min<std::size_t>(limits.threads, targets.size())), [&](int worker) {
        std::unique_lock held(lock);
        try {
            while (!(is_over = is_over || n_left == 0 || limits.reached())) {
                VarSet to = 0;
                while (to < targets.size() && !is_ready(to)) ++to;
                if (to == targets.size()) {
                    changed.wait(held);
                    continue;
                }
                Target& own = targets[to];
                own.is_taken = true;
                held.unlock();
                step(own.next, to, worker);
                held.lock();
                own.is_taken = false;
                own.is_done = own.next == to;
                own.next = (own.next - to) & to;
                n_left -= own.is_done;
                if (own.is_done) changed.notify_all();
            }
            changed.notify_all();
        } catch (...) {
            if (!held.owns_lock()) held.lock();
            is_over = true;
            changed.notify_all();
            throw;
        }
    });
}

}  // namespace topdag
