// big_array.h: an array of doubles too large for small pages; not initialised.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace topdag {

class BigArray {
public:
    BigArray() = default;
    explicit BigArray(std::size_t size) : values_(allocate(size)), size_(size) {}

    double* data() { return values_.get(); }
    const double* data() const { return values_.get(); }
    double& operator[](std::size_t i) { return values_.get()[i]; }
    double operator[](std::size_t i) const { return values_.get()[i]; }
    std::size_t size() const { return size_; }

private:
    struct Free { void operator()(double* p) const { std::free(p); } };

    static double* allocate(std::size_t size) {
        constexpr std::size_t page = std::size_t{1} << 21;
        const std::size_t bytes = size * sizeof(double);
        const std::size_t alignment = bytes >= page ? page : 64;
        void* memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
        if (memory == nullptr) throw std::bad_alloc();
#if defined(__linux__)
        // Only a wish: fewer page faults and look-ups where the system grants it.
        if (bytes >= page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
        return static_cast<double*>(memory);
    }

    std::unique_ptr<double, Free> values_;
    std::size_t size_ = 0;
};

}  // namespace topdag
