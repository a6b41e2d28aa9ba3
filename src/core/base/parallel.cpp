#include "base/parallel.h"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace topdag {

void run_workers(int workers, const std::function<void(int)>& work) {
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto guarded = [&](int worker) {
        try {
            work(worker);
        } catch (...) {
            const std::lock_guard guard(failure_lock);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> pool;
    pool.reserve(static_cast<std::size_t>(std::max(0, workers - 1)));
    try {
        for (int worker = 1; worker < workers; ++worker) pool.emplace_back(guarded, worker);
    } catch (const std::exception&) {
        // The system gives no more threads; those there are share all work.
    }
    guarded(0);
    for (std::thread& thread : pool) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace topdag
