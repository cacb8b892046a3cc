// The functions and numbers of c10/util.
#include <c10/util/BFloat16-math.h>
#include <c10/util/Bitset.h>
#include <c10/util/Flags.h>
#include <c10/util/Logging.h>
#include <c10/util/Metaprogramming.h>
#include <c10/util/NetworkFlow.h>
#include <c10/util/Registry.h>
#include <c10/util/StringUtil.h>
#include <c10/util/TypeIndex.h>
#include <c10/util/accumulate.h>
#include <c10/util/bit_cast.h>
#include <c10/util/complex.h>
#include <c10/util/error.h>
#include <c10/util/generic_math.h>
#include <c10/util/hash.h>
#include <c10/util/ssize.h>
#include <c10/util/string_view.h>
#include <c10/util/tempfile.h>
#include <c10/util/typeid.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

C10_DEFINE_int32(rlt_test_number, 3, "A number");
C10_DEFINE_bool(rlt_test_switch, false, "A switch");

namespace {

template <class E, class Body>
std::string message(Body body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

// The check value of CRC-64/Jones.
static_assert(c10::util::crc64("123456789") == c10::util::crc64_t{0xe9c6d914c4b8d9ca});
static_assert(c10::util::get_fully_qualified_type_name<int>() == "int");
static_assert(std::is_same_v<c10::guts::infer_function_traits_t<int (*)(char, float)>::parameter_types, c10::guts::typelist::typelist<char, float>>);
static_assert(std::is_same_v<c10::guts::typelist::reverse_t<c10::guts::typelist::typelist<char, int, float>>, c10::guts::typelist::typelist<float, int, char>>);

TEST(C10Strings, ViewsReportTheirRange) {
  c10::c10_string_view hello("hello");
  EXPECT_TRUE(hello.starts_with("he") && hello.ends_with('o') && !hello.starts_with("hello!"));
  EXPECT_EQ(hello.substr(1, 3), "ell");
  EXPECT_EQ(hello.compare("help"), -1);
  EXPECT_EQ(message<std::out_of_range>([&] { hello.substr(6); }), "basic_string_view::substr parameter out of bounds. Index: 6, size: 5");
}

TEST(C10Strings, WideOnesBecomeUtf8) {
  EXPECT_EQ(c10::str(L"\u00fc", std::wstring(L"\u20ac"), 1, L'x'), "\xc3\xbc\xe2\x82\xac" "1x");
  EXPECT_EQ(c10::str(std::wstring(1, static_cast<wchar_t>(0x1f600))), "\xf0\x9f\x98\x80");
  EXPECT_EQ(c10::str(std::wstring(1, static_cast<wchar_t>(0xd800))), "\xef\xbf\xbd");
}

TEST(C10Numbers, DivisionsRoundDown) {
  EXPECT_EQ(c10::div_floor_integer(-7, 2), -4);
  EXPECT_EQ(c10::div_floor_integer(7u, 2u), 3u);
  EXPECT_EQ(c10::div_floor_floating(-7.5, 2.0), -4);
  EXPECT_TRUE(std::signbit(c10::div_floor_floating(-0.0, 2.0)));
  EXPECT_EQ(c10::div_mod(-7, 3), 2);
  EXPECT_EQ(c10::div_mod(7.5, -2.0), -0.5);
}

TEST(C10Numbers, SumsAndProducts) {
  std::vector<int32_t> sizes = {1 << 20, 1 << 20, 3};
  EXPECT_EQ(c10::multiply_integers(sizes), int64_t{3} << 40);
  EXPECT_EQ(c10::numelements_between_dim(2, 1, sizes), 1 << 20);
  EXPECT_THROW(c10::numelements_to_dim(4, sizes), c10::Error);
  EXPECT_EQ(c10::ssize(sizes), 3);
}

TEST(C10Numbers, BitsOfFloats) {
  EXPECT_EQ(c10::bit_cast<uint32_t>(1.0f), 0x3f800000u);
  EXPECT_EQ(c10::detail::round_to_nearest_even(1.00390625f), 0x3f80);
  EXPECT_EQ(c10::detail::bits_from_f32(-2.0f), 0xc000);
  c10::BFloat16 one = 1.0f;
  EXPECT_EQ(static_cast<float>(std::nextafter(one, c10::BFloat16(2.0f))), 1.0078125f);
  EXPECT_EQ(static_cast<float>(std::nextafter(one, c10::BFloat16(0.0f))), 0.99609375f);
  EXPECT_EQ(static_cast<float>(std::nextafter(c10::Half(0.0f), c10::Half(-1.0f))), -5.9604644775390625e-08f);
  c10::utils::bitset bits;
  bits.set(0), bits.set(63), bits.set(5), bits.unset(5);
  std::vector<size_t> set;
  bits.for_each_set_bit([&set](size_t bit) { set.push_back(bit); });
  EXPECT_EQ(set, (std::vector<size_t>{0, 63}));
}

TEST(C10Complex, DivisionsDoNotOverflow) {
  using c10::complex;
  static_assert(complex<double>(-5, 10) / complex<double>(3, 4) == complex<double>(1, 2));
  EXPECT_EQ(complex<double>(1e300, 1e300) / complex<double>(1e300, 1e300), complex<double>(1, 0));
  EXPECT_EQ(2.0 / complex<double>(0, 1e200), complex<double>(0, -2e-200));
  complex<float> sum = complex<float>(1, 2) * 3;
  EXPECT_EQ(sum, complex<float>(3, 6));
}

TEST(C10Complex, FunctionsKeepSmallNumbers) {
  c10::complex<double> tiny(1e-20, 1e-20);
  EXPECT_DOUBLE_EQ(std::expm1(tiny).real(), 1e-20);
  EXPECT_DOUBLE_EQ(std::log1p(tiny).imag(), 1e-20);
  EXPECT_DOUBLE_EQ(std::log1p(tiny).real(), 1e-20);
  // log1p(2x + x^2 + y^2) / 2 in exact fractions, where 2x and y^2 cancel.
  EXPECT_NEAR(std::log1p(c10::complex<double>(-5e-11, 1e-5)).real() / 1.2500063586955257e-21, 1, 1e-12);
  EXPECT_NEAR(std::sqrt(c10::complex<double>(-4, 0)).imag(), 2, 1e-15);
  EXPECT_EQ(std::log2(c10::complex<double>(8, 0)).imag(), 0);
  EXPECT_NEAR(std::pow(c10::complex<float>(0, 1), 2.0f).real(), -1, 1e-6);
  EXPECT_NE(c10::hash<c10::complex<double>>()(tiny), c10::hash<c10::complex<double>>()(c10::complex<double>(1, 2)));
}

TEST(C10NetworkFlow, CutsTheCheapestEdges) {
  c10::NetworkFlowGraph graph;
  graph.add_edge("s", "a", 10);
  graph.add_edge("s", "b", 2);
  graph.add_edge("a", "b", 4);
  graph.add_edge("a", "t", 3);
  graph.add_edge("b", "t", c10::NetworkFlowGraph::INF);
  c10::MinCutResult cut = graph.minimum_cut("s", "t");
  EXPECT_EQ(cut.status, c10::MinCutStatus::SUCCESS);
  EXPECT_EQ(cut.max_flow, 9);
  EXPECT_EQ(cut.reachable, (std::vector<std::string>{"s", "a"}));
  EXPECT_EQ(cut.unreachable, (std::vector<std::string>{"b", "t"}));
  EXPECT_EQ(graph.minimum_cut("s", "x").status, c10::MinCutStatus::INVALID);
}

TEST(C10Enforce, MessagesNameTheOperands) {
  int two = 2;
  std::string text = message<c10::Error>([&] { CAFFE_ENFORCE_EQ(two, 3, "at ", 7); });
  EXPECT_NE(text.find("two == 3. 2 vs 3. at 7"), std::string::npos) << text;
  EXPECT_EQ(message<c10::Error>([&] { CAFFE_ENFORCE_LE(two, 2); }), "(nothing thrown)");
  EXPECT_NE(message<c10::Error>([&] { CAFFE_ENFORCE(two == 3, "no"); }).find("] two == 3. no"), std::string::npos);
}

struct Animal {
  virtual ~Animal() = default;
  virtual std::string name() const = 0;
};
C10_DECLARE_REGISTRY(Animals, Animal, int);
C10_DEFINE_REGISTRY(Animals, Animal, int)
struct Dog : Animal {
  explicit Dog(int age) : age_(age) {}
  std::string name() const override { return "dog" + std::to_string(age_); }
  int age_;
};
C10_REGISTER_CLASS(Animals, dog, Dog);

TEST(C10Registry, CreatesByName) {
  EXPECT_EQ(Animals()->Create("dog", 4)->name(), "dog4");
  EXPECT_EQ(Animals()->Create("cat", 4), nullptr);
  Animals()->SetTerminate(false);
  EXPECT_THROW(Animals()->Register("dog", nullptr), std::runtime_error);
  EXPECT_EQ(Animals()->Keys(), std::vector<std::string>{"dog"});
}

TEST(C10Flags, AreReadFromArguments) {
  std::string words[] = {"program", "--rlt_test_number=12", "file", "--rlt_test_switch", "--other=1"};
  char* arguments[] = {&words[0][0], &words[1][0], &words[2][0], &words[3][0], &words[4][0]};
  int count = 5;
  char** list = arguments;
  EXPECT_TRUE(c10::ParseCommandLineFlags(&count, &list));
  EXPECT_EQ(FLAGS_rlt_test_number, 12);
  EXPECT_TRUE(FLAGS_rlt_test_switch);
  ASSERT_EQ(count, 3);
  EXPECT_STREQ(list[1], "file");
  EXPECT_STREQ(list[2], "--other=1");
  std::string wrong = "--rlt_test_number=many";
  char* second[] = {&words[0][0], &wrong[0]};
  count = 2, list = second;
  EXPECT_FALSE(c10::ParseCommandLineFlags(&count, &list));
  EXPECT_EQ(FLAGS_rlt_test_number, 12);
}

TEST(C10Files, AFolderIsRemoved) {
  std::string name;
  struct stat facts {};
  {
    c10::TempDir folder = c10::make_tempdir("rlt-test-");
    name = folder.name;
    ASSERT_EQ(stat(name.c_str(), &facts), 0);
    EXPECT_TRUE(S_ISDIR(facts.st_mode));
  }
  EXPECT_NE(stat(name.c_str(), &facts), 0);
  EXPECT_EQ(c10::utils::str_error(2), "No such file or directory");
}

struct Plain {
  int value = 42;
};

TEST(C10TypeMeta, DescribesAnyType) {
  caffe2::TypeMeta plain = caffe2::TypeMeta::Make<Plain>();
  EXPECT_FALSE(plain.isScalarType());
  EXPECT_NE(plain.name().find("Plain"), std::string_view::npos);
  EXPECT_TRUE(plain.Match<Plain>() && !plain.Match<int>());
  EXPECT_EQ(plain.itemsize(), sizeof(Plain));
  alignas(Plain) unsigned char memory[2 * sizeof(Plain)];
  plain.placementNew()(memory, 2);
  EXPECT_EQ(reinterpret_cast<Plain*>(memory)[1].value, 42);
  plain.placementDelete()(memory, 2);
  EXPECT_EQ(caffe2::TypeMeta::Make<float>().placementNew(), nullptr);
  EXPECT_EQ(caffe2::TypeMeta::Make<float>().id(), caffe2::TypeMeta::Id<float>());
  EXPECT_NE(plain.id(), caffe2::TypeMeta::Id<float>());
}

}  // namespace
