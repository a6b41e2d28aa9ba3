// packed_cuts.h: cuts as numbers, to be sent to another process: what each is made of, without its coefficients.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "binding.h"
#include "cuts/cut_pool.h"

namespace topdag {

// They count among what cuts take. The first number says how many there are.
class PackedCuts {
public:
    PackedCuts() = default;
    explicit PackedCuts(std::vector<std::int32_t> numbers) : numbers_(std::move(numbers)) { PooledCut::bytes_held += bytes(); }
    // As sent by another process.
    explicit PackedCuts(std::string_view sent) : PackedCuts(numbers_in(sent)) {}
    PackedCuts(const PackedCuts& other) : PackedCuts(other.numbers_) {}
    PackedCuts(PackedCuts&& other) noexcept : numbers_(std::exchange(other.numbers_, {})) {}
    PackedCuts& operator=(PackedCuts) = delete;
    ~PackedCuts() { PooledCut::bytes_held -= bytes(); }

    std::span<const std::int32_t> numbers() const { return numbers_; }
    std::size_t size() const { return numbers_.empty() ? 0 : static_cast<std::size_t>(numbers_[0]); }

private:
    static std::vector<std::int32_t> numbers_in(std::string_view sent) {
        std::vector<std::int32_t> numbers(sent.size() / sizeof(std::int32_t));
        std::memcpy(numbers.data(), sent.data(), numbers.size() * sizeof(std::int32_t));
        return numbers;
    }

    std::int64_t bytes() const { return static_cast<std::int64_t>(numbers_.size() * sizeof(std::int32_t)); }

    std::vector<std::int32_t> numbers_;
};

class CutPacker {
public:
    // Clauses are given by their families, and stay where they are.
    void add(const Cut& cut) {
        require(!cut.is_clause(), "a clause cannot be sent");
        ++numbers_[0];
        add(static_cast<int>(cut.clusters.size()));
        for (const Cluster& cluster : cut.clusters) {
            add(cluster.members);
            add(cluster.k);
        }
        add(cut.variables);
        add(cut.local.has_value());
        if (cut.local) add(*cut.local);
    }

    PackedCuts packed() && { return PackedCuts(std::move(numbers_)); }

private:
    void add(int number) { numbers_.push_back(number); }

    void add(const std::vector<int>& numbers) {
        add(static_cast<int>(numbers.size()));
        numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
    }

    void add(const LocalCut& cut) {
        add(cut.members);
        add(cut.otherwise);
        add(cut.limit);
        add(static_cast<int>(cut.options.size()));
        for (const LocalCut::Option& option : cut.options) {
            add(option.place);
            add(static_cast<int>(option.parents));
            add(option.coefficient);
        }
    }

    std::vector<std::int32_t> numbers_{0};
};

// The cuts, one after the other.
class CutUnpacker {
public:
    CutUnpacker(std::span<const std::int32_t> packed, int n_variables) : packed_(packed), n_variables_(n_variables) {}

    Cut cut() {
        Cut cut;
        for (int left = number(); left > 0; --left) {
            Variables members = variables();
            cut.clusters.push_back({std::move(members), number()});
        }
        cut.variables = variables();
        if (number() != 0) cut.local = local();
        return cut;
    }

private:
    int number() {
        require(next_ < packed_.size(), "packed cuts end too soon");
        return packed_[next_++];
    }

    std::vector<int> numbers() {
        std::vector<int> found;
        for (int left = number(); left > 0; --left) found.push_back(number());
        return found;
    }

    Variables variables() {
        Variables found = numbers();
        for (const int v : found) require(0 <= v && v < n_variables_, "packed cuts of other variables");
        return found;
    }

    LocalCut local() {
        LocalCut cut;
        cut.members = variables();
        cut.otherwise = numbers();
        cut.limit = number();
        require(cut.otherwise.size() == cut.members.size(), "packed cuts");
        for (int left = number(); left > 0; --left) {
            const int place = number();
            const auto parents = static_cast<std::uint32_t>(number());
            cut.options.push_back({place, parents, number()});
        }
        return cut;
    }

    std::span<const std::int32_t> packed_;
    std::size_t next_ = 1;
    int n_variables_;
};

}  // namespace topdag
