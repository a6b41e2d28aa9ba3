#include "reading/text_cells.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/parallel.h"

namespace topdag {

namespace {

constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); }

// The first eight bytes of a cell, or all with zeros after them.
std::uint64_t first_word(std::string_view text, std::size_t begin, std::size_t size) {
    std::uint64_t word = 0;
    if (begin + 8 > text.size()) {
        std::memcpy(&word, text.data() + begin, std::min<std::size_t>(8, size));
        return word;
    }
    std::memcpy(&word, text.data() + begin, 8);
    if (size >= 8) return word;
    const std::size_t others = 8 * (8 - size);
    return size == 0 ? 0 : (word << others) >> others;  // the first byte is the lowest
}

std::uint64_t mixed(std::uint64_t hash) {
    hash *= 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 32);
}

// The texts of a column by what they are: a table of places among them, doubled before it is half full.
class DistinctTexts {
public:
    explicit DistinctTexts(std::string_view text) : text_(text), slots_(64, none) {}

    void reserve(std::size_t rows) { column_.codes.reserve(rows); }

    void add(std::int64_t begin, std::int64_t end) {
        const auto from = static_cast<std::size_t>(begin), size = static_cast<std::size_t>(end - begin);
        const std::uint64_t word = first_word(text_, from, size);
        if (!column_.codes.empty() && is_at(column_.codes.back(), from, size, word)) {  // as in the row before
            column_.codes.push_back(column_.codes.back());
            return;
        }
        std::size_t place = hash_of(from, size, word) & (slots_.size() - 1);
        while (slots_[place] != none && !is_at(slots_[place], from, size, word)) place = (place + 1) & (slots_.size() - 1);
        if (slots_[place] == none) {
            slots_[place] = static_cast<std::int32_t>(words_.size());
            column_.begins.push_back(begin);
            column_.ends.push_back(end);
            words_.push_back(word);
        }
        column_.codes.push_back(slots_[place]);
        if (2 * words_.size() >= slots_.size()) grow();
    }

    TextColumn take() { return std::move(column_); }

private:
    static constexpr std::int32_t none = -1;

    bool is_at(std::int32_t code, std::size_t begin, std::size_t size, std::uint64_t word) const {
        const auto own = static_cast<std::size_t>(code);
        if (words_[own] != word || size_of(own) != size) return false;
        return size <= 8 || std::memcmp(text_.data() + begin, text_.data() + column_.begins[own], size) == 0;
    }
    std::size_t size_of(std::size_t code) const {
        return static_cast<std::size_t>(column_.ends[code] - column_.begins[code]);
    }
    std::uint64_t hash_of(std::size_t begin, std::size_t size, std::uint64_t word) const {
        std::uint64_t hash = mixed(word ^ size);
        for (std::size_t at = 8; at < size; at += 8) hash = mixed(hash ^ first_word(text_, begin + at, size - at));
        return hash;
    }
    void grow() {
        slots_.assign(2 * slots_.size(), none);
        for (std::size_t code = 0; code < words_.size(); ++code) {
            const auto begin = static_cast<std::size_t>(column_.begins[code]);
            std::size_t place = hash_of(begin, size_of(code), words_[code]) & (slots_.size() - 1);
            while (slots_[place] != none) place = (place + 1) & (slots_.size() - 1);
            slots_[place] = static_cast<std::int32_t>(code);
        }
    }

    std::string_view text_;
    TextColumn column_;
    std::vector<std::uint64_t> words_;  // with which the texts begin
    std::vector<std::int32_t> slots_;
};

// Where a cell begins and ends, and where the separator or line end after it stands; -1 if a quote stands elsewhere.
struct Cell {
    std::int64_t begin, end, after;
};

class Cutter {
public:
    Cutter(std::string_view text, char separator)
        : text_(text), separator_(separator), separators_(ones * static_cast<unsigned char>(separator)) {}

    Cell next(std::int64_t at) const {
        std::int64_t first = at;
        while (text(first) == ' ' && separator_ != ' ') ++first;
        if (text(first) == '"') return quoted(first + 1);
        const std::int64_t end = next_mark(first);
        return {first, end, text(end) == '"' ? -1 : end};
    }

private:
    // Where the next separator, line end or quote stands, eight bytes at a time: most cells are shorter than that.
    std::int64_t next_mark(std::int64_t at) const {
        for (; static_cast<std::size_t>(at) + 8 <= text_.size(); at += 8) {
            std::uint64_t word;
            std::memcpy(&word, text_.data() + at, 8);
            const std::uint64_t marks = zeros(word ^ separators_) | zeros(word ^ line_ends) | zeros(word ^ quotes);
            if (marks != 0) return at + std::countr_zero(marks) / 8;  // the first byte is the lowest
        }
        while (text(at) != separator_ && text(at) != '\n' && text(at) != '"') ++at;
        return at;
    }

    static constexpr std::uint64_t ones = 0x0101010101010101ULL, line_ends = ones * '\n', quotes = ones * '"';
    // The highest bit of the first byte that is zero, and maybe of some after it.
    static constexpr std::uint64_t zeros(std::uint64_t word) { return (word - ones) & ~word & (ones << 7); }

    char text(std::int64_t at) const { return text_[static_cast<std::size_t>(at)]; }

    Cell quoted(std::int64_t begin) const {
        for (std::size_t at = static_cast<std::size_t>(begin);; at += 2) {
            at = text_.find('"', at);
            if (at == std::string_view::npos) return {begin, begin, -1};
            const char next = text_[at + 1];  // there is one: the text ends with a line end
            if (next == separator_ || next == '\n')
                return {begin, static_cast<std::int64_t>(at), static_cast<std::int64_t>(at) + 1};
            if (next != '"') return {begin, begin, -1};
        }
    }

    std::string_view text_;
    char separator_;
    std::uint64_t separators_;
};

bool is_blank_line(std::string_view text, std::int64_t at) {
    auto place = static_cast<std::size_t>(at);
    while (text[place] != '\n' && is_blank(text[place])) ++place;
    return text[place] == '\n';
}

// One reading of the whole text, in which every n-th column that is wanted is taken; false as in cut_into_cells.
class Reading {
public:
    Reading(std::string_view text, char separator, const std::vector<bool>& wanted, std::size_t rows, int every, int nth)
        : text_(text), cutter_(text, separator), takes_(wanted.size()), columns_(wanted.size(), DistinctTexts(text)) {
        int left = nth;
        for (std::size_t column = 0; column < wanted.size(); ++column) {
            if (!wanted[column] || left-- != 0) continue;
            takes_[column] = true;
            columns_[column].reserve(rows);
            left = every - 1;
        }
    }

    bool read(std::int64_t at, std::int64_t line, std::vector<std::int64_t>& lines) {
        while (at < static_cast<std::int64_t>(text_.size())) {
            const std::int64_t begin = at, more = read_line(at);
            if (more < 0 && !is_blank_line(text_, begin)) return false;
            if (more >= 0) lines.push_back(line);
            line += 1 + std::max<std::int64_t>(0, more);
        }
        return true;
    }

    void give(std::vector<TextColumn>& columns) {
        for (std::size_t column = 0; column < takes_.size(); ++column)
            if (takes_[column]) columns[column] = columns_[column].take();
    }

private:
    // Takes the cells of the line at this place, which is then that of the next one; how many line ends stand in quotes
    // in it, or -1 if it has not as many cells as there are columns.
    std::int64_t read_line(std::int64_t& at) {
        std::int64_t more = 0;
        for (std::size_t column = 0; column < takes_.size(); ++column) {
            const Cell cell = cutter_.next(at);
            if (cell.after < 0) return -1;
            at = cell.after + 1;
            const bool is_last = column + 1 == takes_.size();
            if ((text_[static_cast<std::size_t>(cell.after)] == '\n') != is_last) return -1;
            if (takes_[column]) columns_[column].add(cell.begin, cell.end);
            if (cell.after > cell.end)
                more += std::count(text_.begin() + cell.begin, text_.begin() + cell.end, '\n');
        }
        return more;
    }

    std::string_view text_;
    Cutter cutter_;
    std::vector<bool> takes_;
    std::vector<DistinctTexts> columns_;
};

}  // namespace

std::optional<TextCells> cut_into_cells(std::string_view text, std::size_t begin, char separator,
                                        const std::vector<bool>& wanted, int threads) {
    const auto first = text.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto rows = static_cast<std::size_t>(std::count(first, text.end(), '\n'));
    const std::int64_t line = std::count(text.begin(), first, '\n') + 1;
    std::vector<std::vector<std::int64_t>> lines(static_cast<std::size_t>(threads));
    std::vector<char> is_read(static_cast<std::size_t>(threads), 0);
    TextCells found;
    found.columns.resize(wanted.size());
    Limits limits;
    parallel_for(static_cast<std::size_t>(threads), threads, limits, [&](std::size_t nth, int) {
        Reading reading(text, separator, wanted, rows, threads, static_cast<int>(nth));
        lines[nth].reserve(rows);
        is_read[nth] = reading.read(static_cast<std::int64_t>(begin), line, lines[nth]);
        if (is_read[nth]) reading.give(found.columns);
    });
    if (!is_read[0]) return std::nullopt;
    found.lines = std::move(lines[0]);
    return found;
}

}  // namespace topdag
