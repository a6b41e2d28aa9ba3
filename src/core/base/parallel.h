// parallel.h: a loop shared by threads. Which thread takes which step never matters to the result.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>

#include "base/run_limits.h"

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

}  // namespace topdag
