// IValue with its containers, objects and types. The strings are those that PyTorch 2.7.1 prints.
#include <gtest/gtest.h>
#include <torch/script.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "messages.h"

namespace {

using torch::jit::IValue;

template <class T>
std::string printed(const T& value) {
  std::ostringstream stream;
  stream << value;
  return stream.str();
}
c10::Dict<std::string, int64_t> dict() {
  c10::Dict<std::string, int64_t> entries;
  entries.insert("k", 1);
  entries.insert("l", 2);
  return entries;
}

TEST(IValue, PrintsAsPyTorchDoes) {
  EXPECT_EQ(printed(IValue(2.0)), "2.");
  EXPECT_EQ(printed(IValue(0.1)), "0.10000000000000001");
  EXPECT_EQ(printed(IValue(-0.0)), "0.");
  EXPECT_EQ(printed(IValue(std::numeric_limits<double>::infinity())), "inf");
  EXPECT_EQ(printed(IValue(c10::complex<double>(1.5, -2))), "1.5-2.j");
  EXPECT_EQ(printed(IValue()), "None");
  EXPECT_EQ(printed(IValue(true)), "True");
  EXPECT_EQ(printed(IValue(std::make_tuple(3))), "(3,)");
  EXPECT_EQ(printed(IValue(std::make_tuple(1, "a", 2.5))), "(1, a, 2.5)");
  EXPECT_EQ(printed(IValue(dict())), "{k: 1, l: 2}");
  EXPECT_EQ(printed(IValue(std::vector<double>{1, 2.5})), "[1., 2.5]");
  EXPECT_EQ(printed(IValue(c10::Device("cpu"))), "cpu");
  std::ostringstream repr;
  IValue(std::make_tuple("a\n\"q\"", 1.0)).repr(repr, [](std::ostream&, const IValue&) { return false; });
  EXPECT_EQ(repr.str(), "(\"a\\n\\\"q\\\"\", 1.)");
}

TEST(IValue, HasTypes) {
  EXPECT_EQ(IValue(dict()).type()->str(), "Dict(str, int)");
  EXPECT_EQ(IValue(dict()).type()->annotation_str(), "Dict[str, int]");
  EXPECT_EQ(IValue(std::make_tuple(1, "a")).type()->str(), "(int, str)");
  EXPECT_EQ(IValue(c10::List<c10::List<int64_t>>()).type()->annotation_str(), "List[List[int]]");
  EXPECT_EQ(IValue(c10::impl::GenericList(c10::StringType::get())).type()->str(), "str[]");
  EXPECT_EQ(IValue(std::vector<at::Tensor>()).tagKind(), "GenericList");
  EXPECT_EQ((c10::getTypePtr<std::tuple<int64_t, std::optional<std::vector<at::Tensor>>>>()->annotation_str()), "Tuple[int, Optional[List[Tensor]]]");
}

TEST(IValue, ReportsTheWrongKind) {
  EXPECT_EQ(message_of([] { IValue(1).toTensor(); }), "Expected Tensor but got Int");
  EXPECT_EQ(message_of([] { IValue(1.0).toInt(); }), "Expected Int but got Double");
  EXPECT_EQ(message_of([] { IValue("a").toDouble(); }), "Expected Double but got String");
  EXPECT_EQ(message_of([] { IValue(1).toGenericDict(); }), "Expected GenericDict but got Int");
  EXPECT_EQ(message_of([] { IValue(std::vector<double>{1}).toIntList(); }), "Expected IntList but got GenericList");
}

TEST(IValue, ConvertsToTypesOfCpp) {
  IValue value(std::make_tuple(7, std::vector<std::string>{"x", "y"}, dict()));
  auto parts = value.to<std::tuple<int64_t, std::vector<std::string>, std::unordered_map<std::string, int64_t>>>();
  EXPECT_EQ(std::get<0>(parts), 7);
  EXPECT_EQ(std::get<1>(parts)[1], "y");
  EXPECT_EQ(std::get<2>(parts)["l"], 2);
  EXPECT_FALSE(IValue().to<std::optional<int64_t>>());
  EXPECT_THROW((value.to<std::tuple<int64_t>>()), c10::Error);
}

TEST(IValue, ComparesValuesAndIdentities) {
  IValue a(std::vector<int64_t>{1, 2}), b(std::vector<int64_t>{1, 2});
  EXPECT_EQ(a, b);
  EXPECT_FALSE(a.is(b));
  EXPECT_TRUE(a.is(IValue(a)));
  EXPECT_NE(IValue("2"), IValue(2));
  IValue x(torch::ones({2})), y(torch::ones({2}));
  EXPECT_TRUE(x.equals(y).toTensor().all().item<bool>());
  EXPECT_FALSE(x.is(y));
  EXPECT_THROW((void)(x == y), c10::Error);
  EXPECT_EQ(IValue("s").hash(), IValue("s").hash());
  EXPECT_THROW((void)a.hash(), c10::Error);
}

TEST(IValue, CopiesKeepWhatIsShared) {
  torch::Tensor t = torch::zeros({2});
  c10::List<at::Tensor> list({t, t});
  IValue copy = IValue(std::make_tuple(list, t)).deepcopy();
  auto items = copy.toTupleRef().elements()[0].toTensorList();
  EXPECT_TRUE(items.get(0).is_same(items.get(1)));
  EXPECT_TRUE(items.get(0).is_same(copy.toTupleRef().elements()[1].toTensor()));
  EXPECT_FALSE(items.get(0).is_same(t));
  IValue::HashAliasedIValues inside;
  IValue(list).getSubValues(inside);
  EXPECT_EQ(inside.size(), 2u);  // the list, and one tensor
}

TEST(IValue, MovesLeaveNone) {
  IValue value(torch::ones({1}));
  torch::Tensor moved = std::move(value).toTensor();
  EXPECT_TRUE(value.isNone());
  EXPECT_EQ(moved.use_count(), 1u);
}

TEST(IValue, FuturesCallBack) {
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::IntType::get());
  int called = 0;
  future->addCallback([&](c10::ivalue::Future& done) { called += static_cast<int>(done.value().toInt()); });
  auto doubled = future->then([](c10::ivalue::Future& done) { return done.value().toInt() * 2; }, c10::IntType::get());
  EXPECT_FALSE(future->completed());
  future->markCompleted(21);
  EXPECT_EQ(called, 21);
  EXPECT_EQ(doubled->value().toInt(), 42);
  auto failing = c10::make_intrusive<c10::ivalue::Future>(c10::IntType::get());
  failing->setError(std::make_exception_ptr(std::runtime_error("foo")));
  EXPECT_EQ(failing->tryRetrieveErrorMessage(), "foo");
  EXPECT_THROW(failing->waitAndThrow(), std::runtime_error);
  EXPECT_THROW(failing->setError(std::make_exception_ptr(std::runtime_error("bar"))), c10::Error);
}

TEST(List, IsSharedByItsCopies) {
  c10::List<int64_t> list({3, 1, 2});
  c10::List<int64_t> same = list, other = list.copy();
  same.push_back(0);
  list[0] = 5;
  EXPECT_EQ(same.vec(), (std::vector<int64_t>{5, 1, 2, 0}));
  EXPECT_EQ(other.vec(), (std::vector<int64_t>{3, 1, 2}));
  other.insert(other.begin() + 1, 9);
  other.erase(other.begin());
  EXPECT_EQ(other.vec(), (std::vector<int64_t>{9, 1, 2}));
  EXPECT_EQ(*(other.end() - 1), int64_t(2));
  EXPECT_THROW(other.get(3), std::out_of_range);
}

TEST(Dict, KeepsTheOrderOfInsertion) {
  auto entries = dict();
  EXPECT_FALSE(entries.insert("k", 9).second);
  entries.insert_or_assign("k", 7);
  entries.insert("a", 3);
  EXPECT_EQ(entries.erase("l"), 1u);
  std::string keys;
  for (const auto& entry : entries) keys += entry.key();
  EXPECT_EQ(keys, "ka");
  EXPECT_EQ(entries.at("k"), 7);
  EXPECT_EQ(entries.find("a")->value(), 3);
  EXPECT_TRUE(entries.find("l") == entries.end());
  EXPECT_THROW(entries.at("l"), std::out_of_range);
}

TEST(Types, AreSubtypes) {
  using namespace c10;
  TypePtr optional = OptionalType::create(IntType::get());
  EXPECT_EQ(optional->str(), "int?");
  EXPECT_TRUE(IntType::get()->isSubtypeOf(*optional));
  EXPECT_TRUE(NoneType::get()->isSubtypeOf(*optional));
  EXPECT_FALSE(optional->isSubtypeOf(*IntType::get()));
  EXPECT_TRUE(optional->cast<OptionalType>());
  EXPECT_FALSE(optional->cast<ListType>());
  EXPECT_TRUE(TupleType::create({IntType::get(), NoneType::get()})->isSubtypeOf(*TupleType::create({optional, optional})));
  EXPECT_EQ(UnionType::create({optional, StringType::get()})->annotation_str(), "Union[int, NoneType, str]");
  EXPECT_EQ(TupleType::createNamed(QualifiedName("__torch__.P"), {"x", "y"}, {IntType::get(), TensorType::get()})->str(), "__torch__.P");
  EXPECT_EQ((*unifyTypes(NoneType::get(), IntType::get()))->str(), "int?");
  EXPECT_THROW(DictType::create(ListType::ofInts(), IntType::get()), c10::Error);
  EXPECT_EQ(parse_type("Optional[Dict[str, List[Tensor]]]")->str(), "Dict(str, Tensor[])?");
  EXPECT_THROW(parse_type("Nothing"), c10::Error);
}

TEST(Schemas, AreRead) {
  auto schema = torch::jit::parseSchema("my::op.out(Tensor(a!) self, int[2] x=3, *, Scalar? y=None, Tensor(b!) out) -> (Tensor(b!), int n)");
  EXPECT_EQ(schema.name(), "my::op");
  EXPECT_EQ(schema.overload_name(), "out");
  EXPECT_EQ(schema.arguments()[1].type()->str(), "int[]");
  EXPECT_EQ(*schema.arguments()[1].N(), 2);
  EXPECT_EQ(schema.arguments()[1].default_value()->toIntVector(), (std::vector<int64_t>{3, 3}));
  EXPECT_TRUE(schema.arguments()[2].kwarg_only());
  EXPECT_TRUE(schema.arguments()[3].is_out());
  EXPECT_EQ(schema.returns()[1].name(), "n");
  EXPECT_TRUE(schema.is_mutable());
  EXPECT_EQ(printed(torch::jit::parseSchema("a::b(str s=\"q\", float f=1.) -> ()")), "a::b(str s=\"q\", float f=1.) -> ()");
  EXPECT_THROW(torch::jit::parseSchema("no schema"), c10::Error);
}

TEST(Pickles, ComeBack) {
  std::vector<at::Tensor> table;
  IValue value(std::make_tuple(dict(), torch::ones({2}), "text"));
  std::vector<char> bytes = torch::jit::pickle(value, &table);
  EXPECT_EQ(table.size(), 1u);
  IValue again = torch::jit::unpickle(bytes.data(), bytes.size(), nullptr, table);
  EXPECT_EQ(again.toTupleRef().elements()[0], IValue(dict()));
  EXPECT_THROW(torch::jit::pickle(value), c10::Error);
  EXPECT_THROW(torch::jit::unpickle("broken", 6), c10::Error);
  IValue loaded = torch::pickle_load(torch::pickle_save(value));
  EXPECT_TRUE(torch::equal(loaded.toTupleRef().elements()[1].toTensor(), torch::ones({2})));
}

}  // namespace
