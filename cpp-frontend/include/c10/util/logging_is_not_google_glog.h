// Containers as messages and LOG print them: elements with spaces between them, the first 100.
#pragma once

#include <c10/macros/Macros.h>

#include <cstddef>
#include <map>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

namespace std {
template <class First, class Second>
ostream& operator<<(ostream& out, const pair<First, Second>& items);
template <class... Types>
ostream& operator<<(ostream& out, const vector<Types...>& items);
template <class... Types>
ostream& operator<<(ostream& out, const map<Types...>& items);
template <class... Types>
ostream& operator<<(ostream& out, const set<Types...>& items);
}  // namespace std

namespace c10 {
RLT_NAMESPACE_BEGIN
template <class Iterator>
void PrintSequence(std::ostream& out, Iterator begin, Iterator end) {
  for (int count = 0; begin != end; ++count, ++begin) {
    if (count == 100) {
      out << " ...";
      return;
    }
    out << (count ? " " : "") << *begin;
  }
}
RLT_NAMESPACE_END
}  // namespace c10

namespace std {
template <class First, class Second>
ostream& operator<<(ostream& out, const pair<First, Second>& items) {
  return out << '(' << items.first << ", " << items.second << ')';
}
template <class... Types>
ostream& operator<<(ostream& out, const vector<Types...>& items) {
  c10::PrintSequence(out, items.begin(), items.end());
  return out;
}
template <class... Types>
ostream& operator<<(ostream& out, const map<Types...>& items) {
  c10::PrintSequence(out, items.begin(), items.end());
  return out;
}
template <class... Types>
ostream& operator<<(ostream& out, const set<Types...>& items) {
  c10::PrintSequence(out, items.begin(), items.end());
  return out;
}
}  // namespace std
