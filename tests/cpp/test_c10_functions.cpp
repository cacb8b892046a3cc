// References to functions, overloaded functions, functions at the end of a scope, and values that may be borrowed.
#include <c10/util/DimVector.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/MathConstants.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/ScopeExit.h>
#include <c10/util/overloaded.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <variant>

namespace {

int apply(c10::function_ref<int(int)> function) { return function ? function(5) : -1; }
int doubled(int number) { return 2 * number; }

TEST(C10FunctionRef, CallsAnything) {
  int calls = 0;
  auto counting = [&calls](int number) { return number + ++calls; };
  EXPECT_EQ(apply(counting), 6);
  EXPECT_EQ(apply(counting), 7);
  EXPECT_EQ(apply(doubled), 10);
  EXPECT_EQ(apply(&doubled), 10);
  EXPECT_EQ(apply(nullptr), -1);
}

TEST(C10Overloaded, VisitsAVariant) {
  std::variant<int, std::string> value = "four";
  auto length = c10::overloaded([](int number) { return static_cast<size_t>(number); }, [](const std::string& text) { return text.size(); });
  EXPECT_EQ(std::visit(length, value), 4u);
  value = 7;
  EXPECT_EQ(std::visit(length, value), 7u);
}

TEST(C10ScopeExit, CallsOnce) {
  std::string log;
  {
    auto first = c10::make_scope_exit([&log] { log += "a"; });
    auto moved = std::move(first);
    auto released = c10::make_scope_exit([&log] { log += "b"; });
    released.release();
    EXPECT_EQ(log, "");
  }
  EXPECT_EQ(log, "a");
}

TEST(C10MaybeOwned, BorrowsOrOwns) {
  std::string word = "borrowed";
  auto borrowed = c10::MaybeOwned<std::string>::borrowed(word);
  auto copy = borrowed;
  EXPECT_EQ(&*copy, &word);
  auto owned = c10::MaybeOwned<std::string>::owned(std::in_place, 3, 'x');
  EXPECT_EQ(*owned, "xxx");
  copy = owned;
  EXPECT_NE(&*copy, &*owned);
  EXPECT_EQ(copy->size(), 3u);
  EXPECT_EQ(*std::move(borrowed), "borrowed");
  EXPECT_EQ(word, "borrowed");
}

TEST(C10Constants, AreRounded) {
  EXPECT_EQ(c10::pi<double>, std::acos(-1.0));
  EXPECT_EQ(c10::e<double>, std::exp(1.0));
  EXPECT_EQ(c10::frac_sqrt_3<float>, 1.0f / std::sqrt(3.0f));
  EXPECT_DOUBLE_EQ(c10::golden_ratio<double>, (1 + std::sqrt(5.0)) / 2);
  EXPECT_DOUBLE_EQ(c10::ln_2<double> * c10::log_2_e<double>, 1);
  EXPECT_DOUBLE_EQ(c10::ln_10<double> * c10::log_10_e<double>, 1);
  EXPECT_DOUBLE_EQ(c10::frac_1_sqrt_pi<double> * c10::frac_1_sqrt_pi<double>, c10::frac_1_pi<double>);
  c10::DimVector sizes = {2, 3};
  EXPECT_EQ(c10::IntArrayRef(sizes).vec(), (std::vector<int64_t>{2, 3}));
}

}  // namespace
