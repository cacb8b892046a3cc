// c10::NetworkFlowGraph: the maximum flow and the minimum cut between two vertices of a graph with capacities.
#pragma once

#include <c10/macros/Macros.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace c10 {
RLT_NAMESPACE_BEGIN

enum class MinCutStatus {
  SUCCESS = 0,
  UNBOUNDED = 1,
  OVERFLOW_INF = 2,
  INVALID = 3,
};

struct MinCutResult {
  MinCutStatus status = MinCutStatus::INVALID;
  int64_t max_flow = 0;
  /// The vertices on the source's side of the cut, and on the sink's side.
  std::vector<std::string> reachable;
  std::vector<std::string> unreachable;
};

class NetworkFlowGraph {
 public:
  /// The capacity of an edge without a limit.
  static constexpr int64_t INF = std::numeric_limits<int64_t>::max();

  struct Edge {
    std::string source, dest;
    int64_t capacity;
  };

  /// An edge to the vertex itself has no effect on a flow.
  MinCutStatus add_edge(const std::string& source, const std::string& dest, int64_t capacity = 1) {
    edges.push_back({source, dest, capacity});
    return MinCutStatus::SUCCESS;
  }
  MinCutResult minimum_cut(const std::string& source, const std::string& sink) const;

  std::vector<Edge> edges;
};

namespace detail {
/// The flow by Dinic's algorithm. Arc 2i is an edge and 2i + 1 its reverse.
class MaximumFlow {
 public:
  explicit MaximumFlow(const std::vector<NetworkFlowGraph::Edge>& edges) {
    for (const auto& edge : edges) {
      size_t from = vertex(edge.source), to = vertex(edge.dest);
      if (from == to || edge.capacity <= 0) continue;
      add_arc(from, to, edge.capacity);
      add_arc(to, from, 0);
    }
  }

  MinCutResult cut(const std::string& source_name, const std::string& sink_name) {
    MinCutResult result;
    auto source = numbers_.find(source_name), sink = numbers_.find(sink_name);
    if (source == numbers_.end() || sink == numbers_.end() || source == sink) return result;
    result.status = status(source->second, sink->second);
    if (result.status != MinCutStatus::SUCCESS) return result;
    while (level_from(source->second), level_[sink->second] != none) {
      next_.assign(names_.size(), 0);
      while (int64_t pushed = push(source->second, sink->second)) result.max_flow += pushed;
    }
    std::vector<bool> to_sink = reaches(sink->second, [](const Arc&, const Arc& reverse) { return reverse.rest > 0; });
    for (size_t v = 0; v < names_.size(); ++v) (to_sink[v] ? result.unreachable : result.reachable).push_back(names_[v]);
    return result;
  }

 private:
  static constexpr size_t none = static_cast<size_t>(-1);
  struct Arc {
    size_t to;
    int64_t rest;
  };

  size_t vertex(const std::string& name) {
    auto [found, added] = numbers_.emplace(name, names_.size());
    if (added) {
      names_.push_back(name);
      arcs_of_.emplace_back();
    }
    return found->second;
  }
  void add_arc(size_t from, size_t to, int64_t capacity) {
    arcs_of_[from].push_back(arcs_.size());
    arcs_.push_back({to, capacity});
  }

  /// Whether a flow of int64_t exists: no path without a limit, and no vertex whose capacities exceed the number.
  MinCutStatus status(size_t source, size_t sink) const {
    if (reaches(source, [](const Arc& arc, const Arc&) { return arc.rest == NetworkFlowGraph::INF; })[sink]) return MinCutStatus::UNBOUNDED;
    int64_t out = 0;
    for (size_t arc : arcs_of_[source]) {
      if (arc % 2 == 0 && overflows(out, arcs_[arc].rest)) return MinCutStatus::OVERFLOW_INF;
    }
    return MinCutStatus::SUCCESS;
  }
  static bool overflows(int64_t& sum, int64_t capacity) {
    if (capacity == NetworkFlowGraph::INF) return false;
    if (sum >= NetworkFlowGraph::INF - capacity) return true;
    sum += capacity;
    return false;
  }

  template <class Usable>
  std::vector<bool> reaches(size_t start, const Usable& usable) const {
    std::vector<bool> seen(names_.size());
    std::queue<size_t> open;
    seen[start] = true;
    for (open.push(start); !open.empty(); open.pop()) {
      for (size_t arc : arcs_of_[open.front()]) {
        size_t to = arcs_[arc].to;
        if (seen[to] || !usable(arcs_[arc], arcs_[arc ^ 1])) continue;
        seen[to] = true;
        open.push(to);
      }
    }
    return seen;
  }
  void level_from(size_t source) {
    level_.assign(names_.size(), none);
    level_[source] = 0;
    std::queue<size_t> open;
    for (open.push(source); !open.empty(); open.pop()) {
      for (size_t arc : arcs_of_[open.front()]) {
        size_t to = arcs_[arc].to;
        if (arcs_[arc].rest == 0 || level_[to] != none) continue;
        level_[to] = level_[open.front()] + 1;
        open.push(to);
      }
    }
  }

  /// Sends flow along one path with ascending levels; 0 if there is none. A path is a stack of arcs, so that its length is no limit.
  int64_t push(size_t source, size_t sink) {
    std::vector<size_t> path;
    size_t at = source;
    while (at != sink) {
      size_t& next = next_[at];
      while (next < arcs_of_[at].size()) {
        const Arc& arc = arcs_[arcs_of_[at][next]];
        if (arc.rest > 0 && level_[arc.to] == level_[at] + 1) break;
        ++next;
      }
      if (next < arcs_of_[at].size()) {
        path.push_back(arcs_of_[at][next]);
        at = arcs_[path.back()].to;
      } else if (path.empty()) {
        return 0;
      } else {
        at = arcs_[path.back() ^ 1].to;
        path.pop_back();
        ++next_[at];
      }
    }
    int64_t amount = NetworkFlowGraph::INF;
    for (size_t arc : path) amount = std::min(amount, arcs_[arc].rest);
    for (size_t arc : path) {
      if (arcs_[arc].rest != NetworkFlowGraph::INF) arcs_[arc].rest -= amount;
      if (arcs_[arc ^ 1].rest != NetworkFlowGraph::INF) arcs_[arc ^ 1].rest += amount;
    }
    return amount;
  }

  std::unordered_map<std::string, size_t> numbers_;
  std::vector<std::string> names_;
  std::vector<std::vector<size_t>> arcs_of_;
  std::vector<Arc> arcs_;
  std::vector<size_t> level_;
  std::vector<size_t> next_;
};
}  // namespace detail

inline MinCutResult NetworkFlowGraph::minimum_cut(const std::string& source, const std::string& sink) const {
  return detail::MaximumFlow(edges).cut(source, sink);
}

RLT_NAMESPACE_END
}  // namespace c10
