// The types of values, of C++ types, and of the descriptions that the library returns.
#pragma once

#include <ATen/core/boxing/values.h>
#include <ATen/core/jit_type.h>

#include <mutex>

namespace c10 {
RLT_NAMESPACE_BEGIN
namespace detail {

/// The value that a function of the C interface returns, as an IValue.
template <class Function>
IValue described(const Function& function, const ScriptHandle& program = nullptr) {
  rlt_value value = {};
  rlt::check(function(&value));
  rlt::OwnedValue owned(value);
  ProgramScope scope(program);
  return rlt::Unbox<IValue>(owned.get()).object;
}

/// The one ClassType of a class of a program, as long as it is used.
RLT_LAZY ClassTypePtr class_type(const std::string& name, const ScriptHandle& program) {
  struct Known {
    std::mutex mutex;
    RLT_LATER(std::map<std::pair<int64_t, std::string>, std::weak_ptr<ClassType>>) types;
  };
  static Known* known = new Known;  // used by static objects
  int64_t identity = 0;
  if (program) rlt::check(rlt_script_identity(program.get(), &identity));
  {
    std::lock_guard<std::mutex> lock(known->mutex);
    if (ClassTypePtr type = known->types[{identity, name}].lock()) return type;
  }
  auto created = program ? std::make_shared<ClassTypeOf<RltLazy>>(name, program)
                         : std::make_shared<ClassTypeOf<RltLazy>>(QualifiedName(name), std::shared_ptr<torch::jit::CompilationUnit>(), false);
  std::lock_guard<std::mutex> lock(known->mutex);
  std::weak_ptr<ClassType>& place = known->types[{identity, name}];
  if (ClassTypePtr type = place.lock()) return type;
  place = created;
  return created;
}
/// Classes that torch::class_ registered belong to no program.
RLT_LAZY bool is_custom_name(const std::string& name) { return name.rfind("__torch__.torch.classes.", 0) == 0; }

/// A type without parameters, by its annotation; null for others.
RLT_LAZY TypePtr simple_type(const std::string& kind) {
  static const auto* types = new std::map<std::string, TypePtr>{
      {"Tensor", TensorTypeOf<RltLazy>::get()},
#define RLT_SIMPLE_TYPE(annotation, name) {annotation, SimpleTypeOf<TypeKind::name, RltLazy>::get()},
      RLT_SIMPLE_TYPE("Any", AnyType) RLT_SIMPLE_TYPE("int", IntType) RLT_SIMPLE_TYPE("float", FloatType) RLT_SIMPLE_TYPE("complex", ComplexType)
      RLT_SIMPLE_TYPE("number", NumberType) RLT_SIMPLE_TYPE("Scalar", NumberType) RLT_SIMPLE_TYPE("bool", BoolType) RLT_SIMPLE_TYPE("str", StringType)
      RLT_SIMPLE_TYPE("NoneType", NoneType) RLT_SIMPLE_TYPE("None", NoneType) RLT_SIMPLE_TYPE("Device", DeviceObjType)
      RLT_SIMPLE_TYPE("Generator", GeneratorType) RLT_SIMPLE_TYPE("Stream", StreamObjType) RLT_SIMPLE_TYPE("Capsule", CapsuleType)
      RLT_SIMPLE_TYPE("list", AnyListType) RLT_SIMPLE_TYPE("tuple", AnyTupleType) RLT_SIMPLE_TYPE("Storage", StorageType)
      RLT_SIMPLE_TYPE("AnyEnumType", AnyEnumType) RLT_SIMPLE_TYPE("AnyClassType", AnyClassType)
#undef RLT_SIMPLE_TYPE
  };
  auto found = types->find(kind);
  return found == types->end() ? nullptr : found->second;
}

/// The type of a description: see rlt_type_parse.
RLT_LAZY TypePtr type_of_tree(const IValue& tree, const ScriptHandle& program) {
  const auto& parts = tree.toTupleRef().elements();
  const std::string &kind = parts[0].toStringRef(), &name = parts[1].toStringRef();
  if (TypePtr simple = simple_type(kind)) return simple;
  RLT_LATER(std::vector<TypePtr>) inner;
  for (const IValue& part : parts[2].toTupleRef().elements()) inner.push_back(type_of_tree(part, program));
  if (kind == "List") return ListTypeOf<RltLazy>::create(inner.at(0));
  if (kind == "Optional") return OptionalTypeOf<RltLazy>::create(inner.at(0));
  if (kind == "Future") return FutureTypeOf<RltLazy>::create(inner.at(0));
  if (kind == "RRef") return RRefTypeOf<RltLazy>::create(inner.at(0));
  if (kind == "Await") return AwaitTypeOf<RltLazy>::create(inner.at(0));
  if (kind == "Tuple") return TupleTypeOf<RltLazy>::create(std::move(inner));
  if (kind == "Union") return std::make_shared<UnionTypeOf<RltLazy>>(std::move(inner));
  if (kind == "Dict") return std::make_shared<DictTypeOf<RltLazy>>(inner.at(0), inner.at(1));
  if (kind == "Variable") return VarTypeOf<RltLazy>::create(name);
  if (kind == "NamedTuple") return TupleTypeOf<RltLazy>::createNamed(QualifiedName(name), parts[3].to<std::vector<std::string>>(), inner);
  if (kind == "Interface") return std::make_shared<InterfaceTypeOf<RltLazy>>(name, program);
  if (kind == "Function") return std::make_shared<FunctionTypeOf<RltLazy>>(name);
  if (kind == "Class") return class_type(name, is_custom_name(name) ? nullptr : program);
  if (kind == "Enum") {
    RLT_LATER(std::vector<typename EnumTypeOf<RltLazy>::NameValue>) members;
    if (program) {
      for (const auto& constant : class_data(program, name).constants) members.emplace_back(constant.first, constant.second);
    }
    return EnumTypeOf<RltLazy>::create(QualifiedName(name), inner.at(0), std::move(members));
  }
  rlt::raise<Error>("there is no type of kind '" + kind + "'");
}

template <class RltLazy>
ClassData class_data(const ScriptHandle& program, const std::string& name) {
  ScriptHandle used = program;
  if (!used) {
    rlt_script* none = nullptr;
    rlt::check(rlt_script_new(&none));
    used = adopt_script(none);
  }
  IValue whole = described([&](rlt_value* out) { return rlt_script_class(used.get(), name.c_str(), out); }, used);
  const auto& parts = whole.toTupleRef().elements();
  RLT_LATER(ClassData) data;
  data.kind = parts[0].toStringRef();
  for (const IValue& attribute : parts[2].toTupleRef().elements()) {
    const auto& fields = attribute.toTupleRef().elements();
    int64_t role = fields[2].toInt();
    auto kind = role == 1 ? AttributeKind::PARAMETER : role == 2 ? AttributeKind::BUFFER : AttributeKind::REGULAR_ATTRIBUTE;
    data.attributes.emplace_back(kind, type_of_tree(fields[1], used), fields[0].toStringRef());
  }
  for (const IValue& constant : parts[3].toTupleRef().elements()) {
    const auto& fields = constant.toTupleRef().elements();
    data.constants.emplace_back(fields[0].toStringRef(), fields[2]);
  }
  data.methods = parts[4].to<std::vector<std::string>>();
  data.static_methods = parts[5].to<std::vector<std::string>>();
  return data;
}

template <class RltLazy>
bool class_is_subtype(const Type& type, const Type& other, std::ostream* why) {
  if (type.kind() == TypeKind::ClassType && other.kind() == TypeKind::AnyClassType) return true;
  if (other.kind() != TypeKind::InterfaceType) return false;
  RLT_LATER(std::vector<std::string>) wanted = static_cast<const InterfaceTypeOf<RltLazy>&>(other).method_names();
  RLT_LATER(std::vector<std::string>) methods =
      type.kind() == TypeKind::ClassType ? static_cast<const ClassTypeOf<RltLazy>&>(type).method_names() : static_cast<const InterfaceTypeOf<RltLazy>&>(type).method_names();
  for (const std::string& method : wanted) {
    if (std::find(methods.begin(), methods.end(), method) != methods.end()) continue;
    if (why) *why << type.repr_str() << " does not have method '" << method << "' of interface " << other.repr_str() << '\n';
    return false;
  }
  return true;
}

RLT_LAZY TypePtr type_of_static(const StaticType& type) {
  std::string kind = type.kind;
  if (TypePtr simple = simple_type(kind)) return simple;
  if (kind == "Class") return class_type(type.name(), nullptr);
  if (kind == "List") return ListTypeOf<RltLazy>::create(type_of_static(*type.first));
  if (kind == "Optional") return OptionalTypeOf<RltLazy>::create(type_of_static(*type.first));
  if (kind == "Dict") return DictTypeOf<RltLazy>::create(type_of_static(*type.first), type_of_static(*type.next->first));
  RLT_LATER(std::vector<TypePtr>) elements;
  for (const StaticType* element = type.first; element; element = element->next) elements.push_back(type_of_static(*element->first));
  return TupleTypeOf<RltLazy>::create(std::move(elements));
}

template <class Pointer>
std::string kind_of_type(const Pointer& type) {
  switch (type->kind()) {
    case TypeKind::ListType: return "List";
    case TypeKind::DictType: return "Dict";
    case TypeKind::OptionalType: return "Optional";
    case TypeKind::TupleType: return "Tuple";
    case TypeKind::ClassType: return "Class";
    default: return type->annotation_str();
  }
}
template <class Impl>
TypePtr element_type_of(const Impl& list) {
  return list.element ? list.element : type_of_static(*list.static_element);
}
template <class Impl>
TypePtr key_type_of(const Impl& dict) {
  return dict.key ? dict.key : type_of_static(*dict.static_key);
}
template <class Impl>
TypePtr value_type_of(const Impl& dict) {
  return dict.value ? dict.value : type_of_static(*dict.static_value);
}
template <class Object>
size_t slot_of(const Object& object, const std::string& name) {
  return object.slot_type()->template expectRef<ClassType>().getAttributeSlot(name);
}
template <class Pointer>
std::string class_name_of(const Pointer& type) {
  return type->class_name();
}
template <class Object>
std::vector<IValue> attributes_of(const Object& object) {
  if (!object.handle()) return object.slots();
  std::vector<IValue> values;
  if (object.custom() || !object.program()) return values;
  for (const ClassAttribute& attribute : object.type()->getAttributes()) values.push_back(object.getAttr(attribute.getName()));
  return values;
}
template <class Object, class Copy>
IValue copied_object(const Object& object, const Copy& copy) {
  if (!object.handle()) {
    auto result = make_intrusive<ivalue::Object>(StrongTypePtr(object.slot_unit(), object.slot_type()), object.slots().size());
    for (size_t i = 0; i < object.slots().size(); ++i) result->setSlot(i, copy(object.slots()[i]));
    return result;
  }
  if (!object.program()) rlt::raise<NotImplementedError>("an object of " + object.name() + " cannot be copied");
  rlt_module* copied = nullptr;
  rlt::check(rlt_module_copy(object.module().get(), &copied));
  ModuleHandle module = adopt_module(copied);
  rlt_object* handle = nullptr;
  rlt::check(rlt_module_object(module.get(), &handle));
  auto result = make_intrusive<ivalue::Object>(handle, object.program());
  for (const ClassAttribute& attribute : object.type()->getAttributes()) {
    result->setAttr(attribute.getName(), copy(object.getAttr(attribute.getName())));
  }
  return result;
}

}  // namespace detail

/// The type that an annotation means, with the classes of a program.
template <class RltLazy>
TypePtr parse_type(const std::string& annotation, const detail::ScriptHandle& program) {
  return detail::type_of_tree(detail::described([&](rlt_value* out) { return rlt_type_parse(annotation.c_str(), program.get(), out); }), program);
}

/// The type of a C++ type.
template <class T>
TypePtr getTypePtr() {
  return detail::type_of_static(detail::StaticTypeOf<std::decay_t<T>>::value);
}
template <class T>
TypePtr getTypePtrCopy() {
  return getTypePtr<T>();
}
template <class T>
TypePtr getFakeTypePtr() {
  return getTypePtr<T>();
}
/// The class that torch::class_ registered for T.
template <class T>
ClassTypePtr getCustomClassType() {
  return detail::class_type(detail::registered_class_name<typename T::element_type>(), nullptr);
}

template <class RltLazy>
TypePtr IValue::type() const {
  switch (tag_) {
    case Tag::None: return SimpleTypeOf<TypeKind::NoneType, RltLazy>::get();
    case Tag::Tensor: return TensorTypeOf<RltLazy>::get();
    case Tag::Storage: return SimpleTypeOf<TypeKind::StorageType, RltLazy>::get();
    case Tag::Double: return SimpleTypeOf<TypeKind::FloatType, RltLazy>::get();
    case Tag::ComplexDouble: return SimpleTypeOf<TypeKind::ComplexType, RltLazy>::get();
    case Tag::Int: return SimpleTypeOf<TypeKind::IntType, RltLazy>::get();
    case Tag::Bool: return SimpleTypeOf<TypeKind::BoolType, RltLazy>::get();
    case Tag::String: return SimpleTypeOf<TypeKind::StringType, RltLazy>::get();
    case Tag::Device: return SimpleTypeOf<TypeKind::DeviceObjType, RltLazy>::get();
    case Tag::Stream: return SimpleTypeOf<TypeKind::StreamObjType, RltLazy>::get();
    case Tag::Generator: return SimpleTypeOf<TypeKind::GeneratorType, RltLazy>::get();
    case Tag::Capsule: return SimpleTypeOf<TypeKind::CapsuleType, RltLazy>::get();
    case Tag::GenericList: return ListTypeOf<RltLazy>::create(toList().elementType());
    case Tag::GenericDict: return std::make_shared<DictTypeOf<RltLazy>>(toGenericDict().keyType(), toGenericDict().valueType());
    case Tag::Tuple: return toTupleRef().type();
    case Tag::Future: return FutureTypeOf<RltLazy>::create(toFuture()->elementType() ? toFuture()->elementType() : toFuture()->hasValue() ? toFuture()->constValue().type() : SimpleTypeOf<TypeKind::AnyType, RltLazy>::get());
    case Tag::Enum: return toEnumHolder()->type();
    case Tag::Blob: return SimpleTypeOf<TypeKind::AnyType, RltLazy>::get();
    case Tag::Object: return toObjectRef().type();
  }
  return SimpleTypeOf<TypeKind::AnyType, RltLazy>::get();
}

namespace ivalue {

template <class RltLazy>
TupleTypePtr Tuple::type() const {
  if (type_) return std::static_pointer_cast<TupleTypeOf<RltLazy>>(type_);
  RLT_LATER(std::vector<TypePtr>) types;
  for (const IValue& element : elements_) types.push_back(element.type());
  return TupleTypeOf<RltLazy>::create(std::move(types));
}
template <class RltLazy>
EnumTypePtr EnumHolder::type() const {
  if (type_) return std::static_pointer_cast<EnumTypeOf<RltLazy>>(type_);
  return EnumTypeOf<RltLazy>::create(QualifiedName(class_), value_.type(), {});
}
template <class RltLazy>
ClassTypePtr Object::type() const {
  if (!handle_) return type_->expect<ClassTypeOf<RltLazy>>();
  // The object keeps its class: references into it stay valid.
  RLT_LATER(ClassTypePtr) found = detail::class_type(name(), custom() ? nullptr : program_);
  std::lock_guard<std::mutex> lock(mutex_);
  class_ = found;
  return found;
}
template <class RltLazy>
std::shared_ptr<torch::jit::CompilationUnit> Object::compilation_unit() const {
  if (handle_ && program_) return std::make_shared<torch::jit::CompilationUnit>(program_);
  return unit_;
}
template <class RltLazy>
IValue Object::getAttr(const std::string& name) const {
  if (!handle_) return getSlot(detail::slot_of(*this, name));
  return detail::described([&](rlt_value* out) { return rlt_module_attribute(module().get(), name.c_str(), out); }, program_);
}
template <class RltLazy>
void Object::setAttr(const std::string& name, IValue value) {
  if (!handle_) return setSlot(detail::slot_of(*this, name), std::move(value));
  rlt::Lent<IValue> lent(value);
  rlt::check(rlt_module_set_attribute(module().get(), name.c_str(), &lent.value));
}
template <class RltLazy>
bool Object::hasAttr(const std::string& name) const {
  if (!handle_) return type_->expectRef<ClassTypeOf<RltLazy>>().hasAttribute(name);
  rlt_value value = {};
  bool found = rlt_module_attribute(module().get(), name.c_str(), &value) == RLT_OK;
  rlt_value_free(&value);
  return found;
}

}  // namespace ivalue

template <class RltLazy>
bool IValue::isModule() const {
  return isObject() && !toObjectRef().custom() && toObjectRef().type()->is_module();
}

RLT_NAMESPACE_END
}  // namespace c10
