// candidates.h: Candidates in Python, whatever their number of variables.
#pragma once

#include <variant>

#include "bitset_arrays.h"
#include "families/candidates.h"

namespace topdag {

// On the narrowest sets that hold the variables.
struct AnyCandidates {
    std::variant<CandidatesOf<VarSet>, CandidatesOf<WideSet>, CandidatesOf<BroadSet>, CandidatesOf<VastSet>> of;

    // work(candidates).
    template <class Work>
    auto visit(Work&& work) const {
        return std::visit(std::forward<Work>(work), of);
    }
    int n_variables() const {
        return visit([](const auto& candidates) { return candidates.n_variables(); });
    }
};

}  // namespace topdag

// Where up to 64 variables are asked for, the candidates of them; a TypeError where there are more.
template <>
struct nanobind::detail::type_caster<topdag::Candidates> {
    static constexpr auto Name = make_caster<topdag::AnyCandidates>::Name;
    template <class>
    using Cast = const topdag::Candidates&;
    template <class>
    static constexpr bool can_cast() { return true; }

    bool from_python(handle source, std::uint8_t flags, cleanup_list* cleanup) noexcept {
        make_caster<topdag::AnyCandidates> any;
        if (!any.from_python(source, flags, cleanup)) return false;
        value = std::get_if<topdag::Candidates>(&static_cast<topdag::AnyCandidates&>(any).of);
        return value != nullptr;
    }
    explicit operator const topdag::Candidates&() { return *value; }

    const topdag::Candidates* value = nullptr;
};
