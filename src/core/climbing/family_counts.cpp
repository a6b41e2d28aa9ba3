#include "climbing/family_counts.h"

#include <algorithm>
#include <limits>

#include "base/simd.h"

namespace topdag {

namespace {

constexpr std::size_t lanes = 32;
constexpr std::size_t counts_in_tables = 4096;
constexpr std::size_t most_tables = 4096;
constexpr std::uint32_t few_labels = 32;  // so many may be unused
constexpr std::uint64_t most_labels = 1 << 24;
constexpr std::uint64_t most_counts = 1 << 26;  // 256 MB at most

std::size_t line_width(const Table& table) {
    std::size_t marks = 0;
    for (const int arity : table.arities) marks += static_cast<std::size_t>(std::max(arity, 1) - 1);
    return (marks + lanes - 1) / lanes * lanes;
}

// Adds the line of each row to that of its cell.
TOPDAG_SIMD void add_lines(const std::uint8_t* marks, std::size_t width, const std::uint32_t* cells,
                           const std::uint32_t* weights, std::size_t rows, std::uint16_t* counts) {
    for (std::size_t row = 0; row < rows; ++row) {
        const std::uint8_t* __restrict from = marks + row * width;
        std::uint16_t* __restrict to = counts + cells[row] * width;
        const std::uint16_t weight = static_cast<std::uint16_t>(weights[row]);
        for (std::size_t block = 0; block < width; block += lanes)
            for (std::size_t j = 0; j < lanes; ++j)
                to[block + j] = static_cast<std::uint16_t>(to[block + j] + from[block + j] * weight);
    }
}

TOPDAG_SIMD void add_lines(const std::uint8_t* marks, std::size_t width, const std::uint32_t* cells,
                           const std::uint32_t* weights, std::size_t rows, std::uint32_t* counts) {
    for (std::size_t row = 0; row < rows; ++row) {
        const std::uint8_t* __restrict from = marks + row * width;
        std::uint32_t* __restrict to = counts + cells[row] * width;
        const std::uint32_t weight = weights[row];
        for (std::size_t block = 0; block < width; block += lanes)
            for (std::size_t j = 0; j < lanes; ++j) to[block + j] += from[block + j] * weight;
    }
}

}  // namespace

template <class Set>
double FamilyCounts<Set>::bytes(const Table& table) {
    return static_cast<double>(table.n_distinct) * static_cast<double>(line_width(table));
}

template <class Set>
FamilyCounts<Set>::FamilyCounts(const Table& table, const PruningQuestion& question)
    : table_(table), question_(question), penalties_(table.n_rows), width_(line_width(table)),
      marks_(table.n_distinct * width_, 0), labels_(table.n_distinct) {
    std::size_t at = 0;
    for (int v = 0; v < table.n_variables(); ++v) {
        first_mark_.push_back(at);
        for (std::size_t row = 0; row < table.n_distinct; ++row) {
            const int state = table.columns[v][row];
            if (state > 0) marks_[row * width_ + at + static_cast<std::size_t>(state - 1)] = 1;
        }
        at += static_cast<std::size_t>(table.arities[v] - 1);
    }
}

template <class Set>
double FamilyCounts<Set>::cells_of(Set set) const {
    double cells = 1.0;
    for (; set != 0; set &= set - 1) cells *= table_.arities[first_of(set)];
    return cells;
}

template <class Set>
const SetFormula& FamilyCounts<Set>::below(int x) const {
    return question_.below_at(question_.number_of_below(x));
}

template <class Set>
const typename FamilyCounts<Set>::Values& FamilyCounts<Set>::values(const SetFormula& formula, double cells) {
    const bool is_joint = &formula == &question_.joint;
    const int number = is_joint ? -1 : static_cast<int>(&formula - question_.below.data());
    const auto [found, is_new] = values_.try_emplace({number, formula.spread ? cells : 1.0});
    if (is_new) {
        Values& made = found->second;
        made.function = {formula.kind, formula.spread ? formula.parameter / cells : formula.parameter};
        made.at.resize(std::min<std::uint64_t>(table_.n_rows + 1, counts_in_tables));
        made.function.tabulate(made.at.data(), made.at.size());
    }
    return found->second;
}

template <class Set>
std::uint32_t FamilyCounts<Set>::close_up(std::uint32_t n_labels) {
    constexpr std::uint32_t unseen = std::numeric_limits<std::uint32_t>::max();
    new_label_.assign(n_labels, unseen);
    std::uint32_t next = 0;
    for (std::uint32_t& label : labels_) {
        if (new_label_[label] == unseen) new_label_[label] = next++;
        label = new_label_[label];
    }
    return next;
}

template <class Set>
std::uint32_t FamilyCounts<Set>::label_rows(Set set) {
    std::fill(labels_.begin(), labels_.end(), 0);
    std::uint32_t n_labels = 1;
    for (; set != 0; set &= set - 1) {
        const int v = first_of(set);
        const auto arity = static_cast<std::uint32_t>(table_.arities[v]);
        if (std::uint64_t{n_labels} * arity > labels_.size()) n_labels = close_up(n_labels);
        if (std::uint64_t{n_labels} * arity > most_labels) return 0;
        const std::uint16_t* column = table_.columns[v];
        for (std::size_t row = 0; row < labels_.size(); ++row) labels_[row] = labels_[row] * arity + column[row];
        n_labels *= arity;
        work_ += static_cast<double>(labels_.size()) / 8;
    }
    work_ += static_cast<double>(labels_.size());
    return n_labels > few_labels ? close_up(n_labels) : n_labels;
}

template <class Set>
double FamilyCounts<Set>::sum_over_labels(std::uint32_t n_labels, const Values& f) {
    totals_.assign(n_labels, 0);
    for (std::size_t row = 0; row < labels_.size(); ++row) totals_[labels_[row]] += table_.weights[row];
    double sum = 0.0;
    for (const std::uint64_t count : totals_) sum += f(count);
    return sum;
}

template <class Set>
double FamilyCounts<Set>::score(int x, Set parents) {
    if (values_.size() > most_tables) values_.clear();
    const Set all = parents | only<Set>(x);
    const double cells = cells_of(parents), all_cells = cells_of(all);
    const std::uint32_t n_labels = label_rows(all);
    if (n_labels == 0) return hopeless;
    const double above = sum_over_labels(n_labels, values(question_.joint, all_cells));
    const double under = sum_over_labels(label_rows(parents), values(below(x), cells));
    return (above - penalties_.of(question_.joint, all_cells)) - (under - penalties_.of(below(x), cells));
}

template <class Set>
void FamilyCounts<Set>::scores_with_one_more(int x, Set parents, Set more, std::vector<double>& scores) {
    if (values_.size() > most_tables) values_.clear();
    if (table_.n_rows <= std::numeric_limits<std::uint16_t>::max())
        score_all(x, parents, more, few_, scores);
    else
        score_all(x, parents, more, many_, scores);
}

template <class Set>
template <class Count>
void FamilyCounts<Set>::score_all(int x, Set parents, Set more, std::vector<Count>& counts,
                             std::vector<double>& scores) {
    struct More {
        int p;
        std::size_t first, last;  // its marks
        const Values* above;
        const Values* under;
        double sum;
    };
    const auto arity = static_cast<std::uint32_t>(table_.arities[x]);
    const std::uint32_t n_labels = label_rows(parents);
    const std::size_t n_cells = std::size_t{n_labels} * arity;
    if (n_labels == 0 || (n_cells + 1) * width_ > most_counts) {
        std::fill(scores.begin(), scores.end(), hopeless);
        return;
    }
    const double cells = cells_of(parents);
    std::vector<More> families;
    for (; more != 0; more &= more - 1) {
        const int p = first_of(more);
        const double own = cells * table_.arities[p];
        const std::size_t first = first_mark_[p];
        families.push_back({p, first, first + static_cast<std::size_t>(table_.arities[p] - 1),
                            &values(question_.joint, own * arity), &values(below(x), own), 0.0});
    }
    counts.assign((n_cells + 1) * width_, 0);  // the last line: of the cells with the same parents
    totals_.assign(n_cells, 0);
    for (std::size_t row = 0; row < labels_.size(); ++row) {
        labels_[row] = labels_[row] * arity + table_.columns[x][row];
        totals_[labels_[row]] += table_.weights[row];
    }
    add_lines(marks_.data(), width_, labels_.data(), table_.weights, labels_.size(), counts.data());
    work_ += static_cast<double>(labels_.size() + n_cells) * static_cast<double>(width_) / lanes;

    const auto sum = [](const Count* line, const More& family, const Values& f, std::uint64_t total) {
        double result = 0.0;
        for (std::size_t mark = family.first; mark < family.last; ++mark) {
            total -= line[mark];
            result += f(line[mark]);
        }
        return result + f(total);
    };
    Count* together = counts.data() + n_cells * width_;
    for (std::uint32_t label = 0; label < n_labels; ++label) {
        std::fill(together, together + width_, Count{0});
        std::uint64_t total = 0;
        for (std::size_t cell = std::size_t{label} * arity; cell < std::size_t{label + 1} * arity; ++cell) {
            if (totals_[cell] == 0) continue;
            const Count* line = counts.data() + cell * width_;
            total += totals_[cell];
            for (std::size_t mark = 0; mark < width_; ++mark) together[mark] = static_cast<Count>(together[mark] + line[mark]);
            for (More& family : families) family.sum += sum(line, family, *family.above, totals_[cell]);
        }
        if (total == 0) continue;
        for (More& family : families) family.sum -= sum(together, family, *family.under, total);
    }
    for (const More& family : families) {
        const double own = cells * table_.arities[family.p];
        scores[family.p] = family.sum - penalties_.of(question_.joint, own * arity) + penalties_.of(below(x), own);
    }
}

template class FamilyCounts<WideSet>;
template class FamilyCounts<VastSet>;

}  // namespace topdag
