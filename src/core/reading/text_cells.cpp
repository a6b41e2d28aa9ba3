#include "reading/text_cells.h"

#include <algorithm>
#include <cstring>

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
    DistinctTexts(std::string_view text, std::size_t rows) : text_(text), slots_(64, none) { column_.codes.reserve(rows); }

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
    Cutter(std::string_view text, char separator) : text_(text), separator_(separator) {}

    Cell next(std::int64_t at) const {
        std::int64_t first = at;
        while (text(first) == ' ' && separator_ != ' ') ++first;
        if (text(first) == '"') return quoted(first + 1);
        std::int64_t end = first;
        while (text(end) != separator_ && text(end) != '\n' && text(end) != '"') ++end;
        return {first, end, text(end) == '"' ? -1 : end};
    }

private:
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
};

bool is_blank_line(std::string_view text, std::int64_t at) {
    auto place = static_cast<std::size_t>(at);
    while (text[place] != '\n' && is_blank(text[place])) ++place;
    return text[place] == '\n';
}

}  // namespace

std::optional<TextCells> cut_into_cells(std::string_view text, char separator, int width, std::int64_t first_line) {
    const std::size_t rows = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    std::vector<DistinctTexts> columns;
    for (int column = 0; column < width; ++column) columns.emplace_back(text, rows);
    TextCells found;
    found.lines.reserve(rows);
    const Cutter cutter(text, separator);
    std::int64_t line = first_line;
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(text.size());) {
        const std::int64_t begin = at;
        std::int64_t more_lines = 0;
        if (text[static_cast<std::size_t>(at)] == '\n') {
            ++at, ++line;
            continue;
        }
        for (int column = 0; column < width; ++column) {
            const Cell cell = cutter.next(at);
            const bool is_last = column + 1 == width;
            if (cell.after < 0) return std::nullopt;
            if ((text[static_cast<std::size_t>(cell.after)] == '\n') != is_last) {
                if (column > 0 || width == 1 || !is_blank_line(text, begin)) return std::nullopt;
                at = cell.after + 1;
                break;
            }
            columns[static_cast<std::size_t>(column)].add(cell.begin, cell.end);
            if (is_last) found.lines.push_back(line);
            if (cell.after > cell.end)  // quoted, so that it may hold line ends
                more_lines += std::count(text.begin() + cell.begin, text.begin() + cell.end, '\n');
            at = cell.after + 1;
        }
        line += 1 + more_lines;
    }
    for (DistinctTexts& column : columns) found.columns.push_back(column.take());
    return found;
}

}  // namespace topdag
