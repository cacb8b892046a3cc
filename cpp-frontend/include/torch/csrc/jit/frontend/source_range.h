// torch::jit::Source: source code of TorchScript and the file that it comes from.
#pragma once

#include <c10/util/Exception.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace jit {

struct Source {
  explicit Source(std::string_view text, std::optional<std::string> filename = std::nullopt, size_t starting_line = 0)
      : text_(text), filename_(std::move(filename)), starting_line_(starting_line) {
    for (size_t i = 0; i <= text_.size(); ++i) {
      if (i == 0 || text_[i - 1] == '\n') line_starts_.push_back(i);
    }
  }
  const std::string& text() const { return text_; }
  const std::optional<std::string>& filename() const { return filename_; }
  /// The number of the first line in the file.
  size_t starting_line_no() const { return starting_line_; }
  size_t num_lines() const { return line_starts_.size(); }
  size_t offset_for_line(size_t line) const {
    TORCH_CHECK_INDEX(line < num_lines(), "Source has ", num_lines(), " lines, got line ", line);
    return line_starts_[line];
  }
  size_t lineno_for_offset(size_t offset) const {
    size_t line = 0;
    while (line + 1 < num_lines() && line_starts_[line + 1] <= offset) ++line;
    return line;
  }

 private:
  std::string text_;
  std::optional<std::string> filename_;
  size_t starting_line_;
  std::vector<size_t> line_starts_;
};

/// A part of a source: the characters from `start` up to `end`.
struct SourceRange {
  SourceRange() = default;
  SourceRange(std::shared_ptr<Source> source, size_t start, size_t end) : source_(std::move(source)), start_(start), end_(end) {}
  const std::shared_ptr<Source>& source() const { return source_; }
  size_t start() const { return start_; }
  size_t end() const { return end_; }
  size_t size() const { return end_ - start_; }
  std::string text() const { return source_ ? source_->text().substr(start_, size()) : std::string(); }

 private:
  std::shared_ptr<Source> source_;
  size_t start_ = 0, end_ = 0;
};

}  // namespace jit
RLT_NAMESPACE_END
}  // namespace torch
