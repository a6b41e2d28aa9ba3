// big_count.h: whole numbers up to 2^320, for counts that can reach 64! (less than 2^296). Exact: no step may pass that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace topdag {

class BigCount {
public:
    BigCount(std::uint64_t value = 0) { words_[0] = value; }

    bool operator==(const BigCount&) const = default;

    BigCount& operator+=(const BigCount& other) {
        Wide carry = 0;
        for (std::size_t i = 0; i < n_words; ++i) {
            carry += Wide{words_[i]} + other.words_[i];
            words_[i] = low_of(carry);
            carry >>= 64;
        }
        return *this;
    }

    // Of no more than this.
    BigCount& operator-=(const BigCount& other) {
        std::uint64_t borrowed = 0;
        for (std::size_t i = 0; i < n_words; ++i) {
            const Wide less = Wide{other.words_[i]} + borrowed;
            borrowed = words_[i] < less;
            words_[i] = low_of(words_[i] - less);
        }
        return *this;
    }

    friend BigCount operator*(const BigCount& a, const BigCount& b) {
        BigCount product;
        for (std::size_t i = 0; i < n_words; ++i) {
            Wide carry = 0;
            for (std::size_t j = 0; i + j < n_words; ++j) {
                carry += Wide{a.words_[i]} * b.words_[j] + product.words_[i + j];
                product.words_[i + j] = low_of(carry);
                carry >>= 64;
            }
        }
        return product;
    }

    // In base 16.
    std::string hexadecimal() const {
        std::string digits;
        for (std::size_t digit = 16 * n_words; digit-- > 0;)
            digits.push_back("0123456789abcdef"[words_[digit / 16] >> (digit % 16 * 4) & 15]);
        return digits;
    }

private:
    using Wide = unsigned __int128;
    static constexpr std::size_t n_words = 5;
    static std::uint64_t low_of(Wide value) { return static_cast<std::uint64_t>(value); }

    std::array<std::uint64_t, n_words> words_{};  // lowest first
};

}  // namespace topdag
