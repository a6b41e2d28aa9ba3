// big_array.h: an array of numbers too large for small pages; not initialised.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace topdag {

// The system refused an array of so many bytes.
struct NoRoom : std::bad_alloc {
    explicit NoRoom(std::size_t asked) : bytes(asked) {}
    std::size_t bytes;
};

template <class Number>
class BigArrayOf {
public:
    BigArrayOf() = default;
    explicit BigArrayOf(std::size_t size) : values_(allocate(size)), size_(size) {}

    Number* data() { return values_.get(); }
    const Number* data() const { return values_.get(); }
    Number& operator[](std::size_t i) { return values_.get()[i]; }
    const Number& operator[](std::size_t i) const { return values_.get()[i]; }
    std::size_t size() const { return size_; }

private:
    struct Free { void operator()(Number* p) const { std::free(p); } };

    static Number* allocate(std::size_t size) {
        constexpr std::size_t page = std::size_t{1} << 21;
        const std::size_t bytes = size * sizeof(Number);
        const std::size_t alignment = bytes >= page ? page : 64;
        void* memory = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
        if (memory == nullptr) throw NoRoom(bytes);
#if defined(__linux__)
        // Only a wish: fewer page faults and look-ups where the system grants it.
        if (bytes >= page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
        return static_cast<Number*>(memory);
    }

    std::unique_ptr<Number, Free> values_;
    std::size_t size_ = 0;
};

using BigArray = BigArrayOf<double>;

}  // namespace topdag
