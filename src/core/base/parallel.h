// parallel.h: a loop shared by threads. Which thread takes which step never matters to the result.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/run_limits.h"

namespace topdag {

// Calls step(i, worker) for i in [0, steps), i taken in order by whichever worker is free.
// Stops early when a limit is reached; an exception in one worker ends the loop and is thrown again here.
template <class Step>
void parallel_for(std::size_t steps, int threads, Limits& limits, Step&& step) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    auto work = [&](int worker) {
        try {
            for (std::size_t i; (i = next.fetch_add(1)) < steps && !limits.reached();) step(i, worker);
        } catch (...) {
            const std::lock_guard guard(failure_lock);
            if (!failure) failure = std::current_exception();
            next.store(steps);
        }
    };
    const int helpers = static_cast<int>(std::min<std::size_t>(threads, steps)) - 1;
    std::vector<std::thread> pool;
    pool.reserve(std::max(0, helpers));
    try {
        for (int worker = 1; worker <= helpers; ++worker) pool.emplace_back(work, worker);
    } catch (const std::exception&) {
        // The system gives no more threads; those there are share all steps.
    }
    work(0);
    for (std::thread& thread : pool) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace topdag
