// The benchmark program: `--list`, or a run of the cases that `--group` and `--only` choose. Prints lines of JSON.
#include "harness.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <vector>

namespace compare {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBlock = 2e6;          // ns
constexpr double kLongest = 150e6;      // ns for all blocks of a case: slow cases get fewer of them
constexpr double kBriefBytes = 3e5, kBriefOperations = 5e6;
constexpr int kBlocks = 5;

Settings current;
std::string only_group;
bool has_pattern = false;
std::regex pattern;
int reported = 0, failed = 0;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '\n') break;  // the first line of a message is enough
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + '"';
}

void print_case(const Case& c) {
  std::printf("{\"group\":%s,\"name\":%s,\"size\":%s,\"bytes\":%.0f,\"operations\":%.0f", quoted(c.group).c_str(), quoted(c.name).c_str(),
              quoted(c.size).c_str(), c.bytes, c.operations);
}

void finish_line() {
  std::printf("}\n");
  std::fflush(stdout);
  ++reported;
}

double elapsed(Clock::time_point start) { return std::chrono::duration<double, std::nano>(Clock::now() - start).count(); }

}  // namespace

const Settings& settings() { return current; }

bool wanted(const Case& c) {
  if (current.brief && (c.bytes > kBriefBytes || c.operations > kBriefOperations)) return false;
  if (!only_group.empty() && c.group != only_group) return false;
  if (has_pattern && !std::regex_search(c.id(), pattern)) return false;
  if (!current.list) return true;
  print_case(c);
  finish_line();
  return false;
}

void report(const Case& c, Times times, const double* checksum) {
  if (!(std::isfinite(times.median) && std::isfinite(times.least) && times.least > 0)) return report_failure(c, "not a time");
  print_case(c);
  std::printf(",\"ns\":%.3f,\"least\":%.3f", times.median, times.least);
  if (checksum != nullptr && std::isfinite(*checksum)) std::printf(",\"checksum\":%.17g", *checksum);
  finish_line();
}

void report_missing(const Case& c, const std::string& reason) {
  print_case(c);
  std::printf(",\"missing\":%s", quoted(reason).c_str());
  finish_line();
}

void report_failure(const Case& c, const std::string& reason) {
  ++failed;
  print_case(c);
  std::printf(",\"failed\":%s", quoted(reason).c_str());
  finish_line();
}

Times time_calls(const std::function<void(int64_t)>& calls) {
  const double block = current.brief ? 0 : kBlock;
  // Doubles the number of calls until a block is long enough, which also warms up.
  int64_t count = 1;
  double spent = 0;
  for (;;) {
    auto start = Clock::now();
    calls(count);
    double time = elapsed(start);
    spent += time;
    if (time >= block) break;
    double factor = time > 0 ? 1.2 * block / time : 10;
    count = std::max(count + 1, static_cast<int64_t>(static_cast<double>(count) * std::min(factor, 10.0)));
  }
  std::vector<double> times;
  for (int i = 0; i < kBlocks && (i == 0 || spent < kLongest); ++i) {
    auto start = Clock::now();
    calls(count);
    double time = elapsed(start);
    spent += time;
    times.push_back(time / static_cast<double>(count));
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front()};
}

int64_t ten_to(int64_t exponent) {
  int64_t power = 1;
  while (exponent-- > 0) power *= 10;
  return power;
}

std::string power_of_ten(int64_t exponent) { return "10^" + std::to_string(exponent); }

}  // namespace compare

int main(int argc, char** argv) {
  using namespace compare;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i];
    auto value = [&]() -> const char* {
      if (i + 1 < argc) return argv[++i];
      std::fprintf(stderr, "%s needs a value\n", option.c_str());
      std::exit(2);
    };
    if (option == "--version") {
      std::printf("{\"torch\":%s,\"compiler\":%s}\n", quoted(TORCH_VERSION).c_str(), quoted(__VERSION__).c_str());
      return 0;
    } else if (option == "--brief") {
      current.brief = current.check = true;
    } else if (option == "--list") {
      current.list = true;
    } else if (option == "--check") {
      current.check = true;
    } else if (option == "--group") {
      only_group = value();
    } else if (option == "--only") {
      has_pattern = true;
      pattern = std::regex(value(), std::regex::ECMAScript);
    } else if (option == "--threads") {
      at::set_num_threads(std::atoi(value()));
    } else {
      std::fprintf(stderr, "usage: %s [--version] [--list] [--brief] [--check] [--group NAME] [--only REGEX] [--threads N]\n", argv[0]);
      return 2;
    }
  }
  calls();
  elementwise();
  reductions();
  transforms();
  decompositions();
  selection();
  products();
  rows();
  optimizers();
  convolution();
  pooling();
  sweep();
  models();
  networks();
  saved();
  // A failing function is a failure; a missing one is only reported.
  if (failed > 0) return 1;
  return current.brief && reported == 0 ? 1 : 0;
}
