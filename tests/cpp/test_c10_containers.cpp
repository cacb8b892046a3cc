// The containers and pointers of c10/util: SmallVector, the ordered map, intrusive pointers, lazy values, LeftRight.
#include <c10/util/Enumerate.h>
#include <c10/util/Lazy.h>
#include <c10/util/LeftRight.h>
#include <c10/util/SmallVector.h>
#include <c10/util/Synchronized.h>
#include <c10/util/intrusive_ptr.h>
#include <c10/util/order_preserving_flat_hash_map.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

template <class V>
std::vector<typename V::value_type> listed(const V& items) {
  return std::vector<typename V::value_type>(items.begin(), items.end());
}

TEST(C10SmallVector, GrowsOutOfTheObject) {
  c10::SmallVector<std::string, 2> words = {"a", "b"};
  const void* inside = words.data();
  EXPECT_GE(inside, static_cast<const void*>(&words));
  EXPECT_LT(inside, static_cast<const void*>(&words + 1));
  words.push_back(words[0]);
  EXPECT_NE(words.data(), inside);
  EXPECT_EQ(listed(words), (std::vector<std::string>{"a", "b", "a"}));
  words.insert(words.begin() + 1, words.back());
  words.insert(words.begin(), 2, "x");
  EXPECT_EQ(listed(words), (std::vector<std::string>{"x", "x", "a", "a", "b", "a"}));
  words.erase(words.begin() + 1, words.begin() + 4);
  EXPECT_EQ(listed(words), (std::vector<std::string>{"x", "b", "a"}));
  EXPECT_THROW(words.at(3), std::out_of_range);
}

TEST(C10SmallVector, MovesTakeTheMemory) {
  c10::SmallVector<int, 1> longer = {1, 2, 3};
  const int* memory = longer.data();
  c10::SmallVector<int, 4> taken = std::move(static_cast<c10::SmallVectorImpl<int>&>(longer));
  EXPECT_EQ(taken.data(), memory);
  EXPECT_TRUE(longer.empty());
  longer.push_back(9);
  std::swap(longer, static_cast<c10::SmallVectorImpl<int>&>(taken));
  EXPECT_EQ(listed(longer), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(listed(taken), std::vector<int>{9});
}

TEST(C10OrderedMap, KeepsTheOrderOfInsertion) {
  ska_ordered::order_preserving_flat_hash_map<std::string, int> map = {{"z", 1}, {"a", 2}, {"m", 3}};
  map["a"] = 5;
  map["b"] = 4;
  EXPECT_EQ(map.erase("z"), 1u);
  EXPECT_EQ(map.erase("z"), 0u);
  std::string order;
  for (const auto& [key, value] : map) order += key + std::to_string(value);
  EXPECT_EQ(order, "a5m3b4");
  EXPECT_THROW(map.at("z"), std::out_of_range);
  auto copy = map;
  map.clear();
  EXPECT_EQ(copy.size(), 3u);
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.find("a"), map.end());
}

struct Node : c10::intrusive_ptr_target {
  Node(int number, std::string* log) : number_(number), log_(log) {}
  ~Node() override { *log_ += "d" + std::to_string(number_); }
  void release_resources() override { *log_ += "r" + std::to_string(number_); }
  int number_;
  std::string* log_;
};

TEST(C10IntrusivePointers, ResourcesGoWithTheLastOwner) {
  std::string log;
  auto owner = c10::make_intrusive<Node>(1, &log);
  EXPECT_EQ(owner.weak_use_count(), 1u);
  c10::weak_intrusive_ptr<Node> weak(owner);
  EXPECT_EQ(owner.weak_use_count(), 2u);
  EXPECT_EQ(weak.lock()->number_, 1);
  EXPECT_EQ(owner.use_count(), 1u);
  owner.reset();
  EXPECT_EQ(log, "r1");
  EXPECT_TRUE(weak.expired());
  EXPECT_FALSE(weak.lock().defined());
  weak.reset();
  EXPECT_EQ(log, "r1d1");
  c10::make_intrusive<Node>(2, &log);
  EXPECT_EQ(log, "r1d1d2");
}

TEST(C10Lazy, ComputesOnce) {
  int calls = 0;
  c10::OptimisticLazy<int> lazy;
  auto seven = [&calls] { return ++calls, 7; };
  EXPECT_EQ(lazy.ensure(seven), 7);
  c10::OptimisticLazy<int> copy = lazy;
  EXPECT_EQ(copy.ensure(seven) + lazy.ensure(seven), 14);
  EXPECT_EQ(calls, 1);
}

TEST(C10LeftRight, AFailedWriteChangesNothing) {
  c10::LeftRight<std::vector<int>> list;
  EXPECT_EQ(list.write([](std::vector<int>& items) { return items.push_back(3), items.size(); }), 1u);
  EXPECT_THROW(list.write([](std::vector<int>& items) {
    items.clear();
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  for (int copy = 0; copy < 2; ++copy) {
    EXPECT_EQ(list.read([](const std::vector<int>& items) { return items; }), std::vector<int>{3});
    list.write([](std::vector<int>&) {});
  }
}

TEST(C10LeftRight, ReadersSeeWholeWrites) {
  c10::LeftRight<std::vector<int>> list(std::vector<int>{0, 0});
  std::thread writer([&list] {
    for (int i = 1; i <= 200; ++i) list.write([i](std::vector<int>& items) { items = {i, i}; });
  });
  bool equal = true;
  for (int i = 0; i < 200; ++i) equal = list.read([](const std::vector<int>& items) { return items[0] == items[1]; }) && equal;
  writer.join();
  EXPECT_TRUE(equal);
  EXPECT_EQ(list.read([](const std::vector<int>& items) { return items[0]; }), 200);
}

TEST(C10Enumerate, IndicesAndElements) {
  std::vector<int> items = {4, 5};
  for (auto entry : c10::enumerate(items)) *entry += static_cast<int>(10 * entry.index);
  EXPECT_EQ(items, (std::vector<int>{4, 15}));
}

}  // namespace
