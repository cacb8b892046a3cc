// TensorIterator: element-wise loops over several tensors.
//
// A TensorIteratorConfig names the outputs and inputs. Its iterator broadcasts their shapes, finds the dtype in which the loop
// computes, allocates and resizes outputs, and merges dimensions that are contiguous in every tensor. Dimension 0 is then the one
// with the smallest strides. Loops receive pointers and strides in bytes: outputs first, then inputs.
#pragma once

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/DimVector.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/SmallVector.h>
#include <c10/util/TypeCast.h>

#include <algorithm>
#include <array>
#include <optional>

namespace at {
RLT_NAMESPACE_BEGIN

struct Range {
  Range(int64_t first, int64_t last) : begin(first), end(last) {}
  int64_t size() const { return end - begin; }
  Range operator/(int64_t divisor) const { return Range(begin / divisor, end / divisor); }
  int64_t begin, end;
};

/// A tensor of a loop.
struct OperandInfo {
  using StrideVector = c10::SmallVector<int64_t, 6>;

  const Tensor& tensor() const { return tensor_; }
  /// Of the iterator's dimensions, in bytes. 0 where the tensor is broadcast.
  StrideVector stride_bytes;
  ScalarType target_dtype = ScalarType::Undefined;
  ScalarType current_dtype = ScalarType::Undefined;
  void* data = nullptr;
  bool is_output = false;
  bool will_resize = false;
  bool is_const = false;

  Tensor tensor_;
  /// The tensor of the caller where the loop runs over a converted copy.
  Tensor original_;
};

class TensorIterator;

/// What a TensorIterator iterates over and how it treats dtypes and shapes.
class TensorIteratorConfig {
 public:
  TensorIteratorConfig() = default;
  C10_DISABLE_COPY_AND_ASSIGN(TensorIteratorConfig);

  // The iterator holds the tensors. An undefined output is allocated; the iterator's output() returns it.
  TensorIteratorConfig& add_output(const TensorBase& output) { return add(output, true, false); }
  TensorIteratorConfig& add_owned_output(const TensorBase& output) { return add(output, true, false); }
  TensorIteratorConfig& add_borrowed_output(const TensorBase& output) { return add(output, true, false); }
  TensorIteratorConfig& add_input(const TensorBase& input) { return add(input, false, false); }
  TensorIteratorConfig& add_owned_input(const TensorBase& input) { return add(input, false, false); }
  TensorIteratorConfig& add_borrowed_input(const TensorBase& input) { return add(input, false, false); }
  TensorIteratorConfig& add_const_input(const TensorBase& input) { return add(input, false, true); }
  TensorIteratorConfig& add_owned_const_input(const TensorBase& input) { return add(input, false, true); }
  TensorIteratorConfig& add_borrowed_const_input(const TensorBase& input) { return add(input, false, true); }

#define RLT_SETTING(name, member)                     \
  TensorIteratorConfig& name(bool value) {            \
    member = value;                                   \
    return *this;                                     \
  }
  RLT_SETTING(set_check_mem_overlap, check_overlap_)
  RLT_SETTING(check_all_same_dtype, same_dtype_)
  RLT_SETTING(check_all_same_device, same_device_)
  RLT_SETTING(enforce_safe_casting_to_output, safe_cast_)
  RLT_SETTING(enforce_linear_iteration, linear_)
  RLT_SETTING(is_reduction, reduction_)
  RLT_SETTING(allow_cpu_scalars, cpu_scalars_)
  RLT_SETTING(cast_common_dtype_to_outputs, cast_outputs_)
  RLT_SETTING(resize_outputs, resize_)
#undef RLT_SETTING
  TensorIteratorConfig& enforce_linear_iteration() { return enforce_linear_iteration(true); }
  /// Inputs are converted to the dtype to which all of them are promoted.
  TensorIteratorConfig& promote_inputs_to_common_dtype(bool value) {
    promote_ = value;
    if (value) same_dtype_ = false;
    return *this;
  }
  /// A common dtype of integers becomes the default dtype.
  TensorIteratorConfig& promote_integer_inputs_to_float(bool value) {
    TORCH_CHECK(!value || promote_, "set promote_inputs_to_common_dtype to true before promote_integer_inputs_to_float");
    promote_to_float_ = value;
    return *this;
  }
  TensorIteratorConfig& declare_static_dtype_and_device(ScalarType dtype, Device device) {
    dtype_ = dtype;
    device_ = device;
    return *this;
  }
  TensorIteratorConfig& declare_static_dtype(ScalarType dtype) {
    dtype_ = dtype;
    return *this;
  }
  TensorIteratorConfig& declare_static_device(Device device) {
    device_ = device;
    return *this;
  }
  /// The shape of the loop, instead of the broadcast shape of the tensors. The sizes of squashed dimensions become 1.
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape, IntArrayRef squashed = {}) {
    shape_ = shape.vec();
    for (int64_t dim : squashed) {
      TORCH_CHECK(dim >= 0 && dim < static_cast<int64_t>(shape.size()), "declare_static_shape: dim ", dim, " is out of range");
      if ((*shape_)[static_cast<size_t>(dim)] != 0) (*shape_)[static_cast<size_t>(dim)] = 1;
    }
    return *this;
  }
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape, int64_t squashed) { return declare_static_shape(shape, IntArrayRef(squashed)); }

  inline TensorIterator build();

 private:
  friend class TensorIterator;

  TensorIteratorConfig& add(const TensorBase& tensor, bool output, bool constant) {
    TORCH_INTERNAL_ASSERT(!output || inputs_ == 0, "TensorIteratorConfig: add all outputs before the first input");
    OperandInfo operand;
    operand.tensor_ = Tensor(tensor);
    operand.is_output = output;
    operand.is_const = constant;
    operands_.push_back(std::move(operand));
    ++(output ? outputs_ : inputs_);
    return *this;
  }

  std::vector<OperandInfo> operands_;
  int outputs_ = 0, inputs_ = 0;
  std::optional<std::vector<int64_t>> shape_;
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  bool check_overlap_ = true, same_dtype_ = true, same_device_ = true, safe_cast_ = false, linear_ = false, reduction_ = false,
       cpu_scalars_ = false, cast_outputs_ = false, resize_ = true, promote_ = false, promote_to_float_ = false;
};

class TensorIterator {
 public:
  using StrideVector = OperandInfo::StrideVector;
  using PtrVector = c10::SmallVector<char*, 4>;
  /// data, strides and the number of elements of a row; for loop2d the strides of rows follow, and the number of rows.
  using loop1d_t = c10::function_ref<void(char** data, const int64_t* strides, int64_t size)>;
  using loop2d_t = c10::function_ref<void(char** data, const int64_t* strides, int64_t size0, int64_t size1)>;

  TensorIterator() = default;
  explicit TensorIterator(TensorIteratorConfig& config) { build(config); }
  void build(TensorIteratorConfig& config) {
    operands_ = std::move(config.operands_);
    config.operands_.clear();
    noutputs_ = config.outputs_;
    find_shape(config);
    find_dtypes(config);
    allocate_outputs(config);
    if (config.check_overlap_) check_overlap();
    convert_operands(config);
    find_strides();
    if (!config.linear_) reorder();
    merge_dimensions();
  }

  int ndim() const { return static_cast<int>(shape_.size()); }
  IntArrayRef shape() const { return shape_; }
  int64_t numel() const {
    int64_t count = 1;
    for (int64_t size : shape_) count *= size;
    return count;
  }
  int ntensors() const { return static_cast<int>(operands_.size()); }
  int noutputs() const { return noutputs_; }
  int ninputs() const { return ntensors() - noutputs_; }
  IntArrayRef view_offsets() const { return offsets_; }

  const Tensor& tensor(int arg) const { return operand(arg).tensor_; }
  /// The tensor of the caller; it may have another dtype than the loop until cast_outputs.
  const Tensor& output(int arg = 0) const {
    TORCH_CHECK(arg >= 0 && arg < noutputs_, "TensorIterator has ", noutputs_, " outputs, got index ", arg);
    return original(arg);
  }
  const Tensor& input(int arg = 0) const {
    TORCH_CHECK(arg >= 0 && arg < ninputs(), "TensorIterator has ", ninputs(), " inputs, got index ", arg);
    return tensor(noutputs_ + arg);
  }
  const Tensor& original(int arg) const {
    const OperandInfo& info = operand(arg);
    return info.original_.defined() ? info.original_ : info.tensor_;
  }
  void* data_ptr(int arg) const { return operand(arg).data; }
  IntArrayRef strides(int arg) const { return operand(arg).stride_bytes; }
  ScalarType dtype(int arg = 0) const { return operand(arg).current_dtype; }
  ScalarType input_dtype(int arg = 0) const { return dtype(noutputs_ + arg); }
  ScalarType common_dtype() const {
    TORCH_INTERNAL_ASSERT(common_dtype_ != ScalarType::Undefined, "Queried for invalid common dtype!");
    return common_dtype_;
  }
  Device device(int arg = 0) const { return tensor(arg).device(); }
  DeviceType device_type(int arg = 0) const { return device(arg).type(); }
  int64_t element_size(int arg) const { return static_cast<int64_t>(c10::elementSize(dtype(arg))); }
  bool is_scalar(int arg) const { return original(arg).numel() == 1; }
  bool is_cpu_scalar(int arg) const { return is_scalar(arg) && device(arg).is_cpu(); }
  bool is_contiguous() const {
    if (numel() == 1) return true;
    if (ndim() != 1) return false;
    for (int i = 0; i < ntensors(); ++i) {
      if (strides(i)[0] != element_size(i)) return false;
    }
    return true;
  }
  bool can_use_32bit_indexing() const {
    constexpr int64_t max = 0x7fffffff;
    if (numel() > max) return false;
    for (const OperandInfo& info : operands_) {
      int64_t reach = 1;
      for (size_t d = 0; d < shape_.size(); ++d) reach += (shape_[d] - 1) * info.stride_bytes[d];
      if (reach > max) return false;
    }
    return true;
  }
  bool is_trivial_1d() const { return ndim() == 1; }
  template <class T>
  T scalar_value(int arg) const {
    return c10::convert<T>(*static_cast<const T*>(data_ptr(arg)));
  }
  template <class T>
  T original_scalar_value(int arg) const {
    return original(arg).item().to<T>();
  }

  /// The strides of a loop over 2 dimensions: those of rows follow those of elements.
  StrideVector get_strides() const {
    StrideVector result;
    for (int d = 0; d < 2; ++d) {
      for (const OperandInfo& info : operands_) result.push_back(d < ndim() ? info.stride_bytes[static_cast<size_t>(d)] : 0);
    }
    return result;
  }
  PtrVector get_base_ptrs() const {
    PtrVector result;
    for (const OperandInfo& info : operands_) result.push_back(static_cast<char*>(info.data));
    return result;
  }

  /// Calls the loop for all elements, on several threads if there are more than `grain_size`.
  template <class Loop, std::enable_if_t<std::is_invocable_v<Loop&, char**, const int64_t*, int64_t, int64_t>, bool> = true>
  void for_each(Loop loop, int64_t grain_size = internal::GRAIN_SIZE) const {
    int64_t count = numel();
    if (count == 0) return;
    if (count < grain_size || get_num_threads() == 1) return serial_for_each(loop, {0, count});
    parallel_for(0, count, grain_size, [&](int64_t begin, int64_t end) { serial_for_each(loop, {begin, end}); });
  }
  template <class Loop, std::enable_if_t<std::is_invocable_v<Loop&, char**, const int64_t*, int64_t>, bool> = true>
  void for_each(Loop loop, int64_t grain_size = internal::GRAIN_SIZE) const {
    for_each(by_rows(loop), grain_size);
  }

  /// Calls the loop for the elements of a range of the flattened shape, on this thread.
  template <class Loop, std::enable_if_t<std::is_invocable_v<Loop&, char**, const int64_t*, int64_t, int64_t>, bool> = true>
  void serial_for_each(Loop loop, Range range) const {
    if (range.size() == 0) return;
    StrideVector strides = get_strides();
    int64_t width = ndim() > 0 ? shape_[0] : 1, rows = ndim() > 1 ? shape_[1] : 1;
    for (int64_t position = range.begin; position < range.end;) {
      int64_t column = position % width, row = position / width % rows, left = range.end - position;
      // Whole rows up to the end of the second dimension; otherwise the rest of one row.
      int64_t size0 = std::min(width - column, left), size1 = 1;
      if (size0 == width) size1 = std::min(rows - row, left / width);
      PtrVector pointers = pointers_at(position);
      loop(pointers.data(), strides.data(), size0, size1);
      position += size0 * size1;
    }
  }
  template <class Loop, std::enable_if_t<std::is_invocable_v<Loop&, char**, const int64_t*, int64_t>, bool> = true>
  void serial_for_each(Loop loop, Range range) const {
    serial_for_each(by_rows(loop), range);
  }

  /// Converts the results to the dtypes of the outputs.
  void cast_outputs() {
    for (OperandInfo& info : operands_) {
      if (!info.is_output || !info.original_.defined()) continue;
      info.original_.copy_(info.tensor_);
      info.tensor_ = info.original_;
      info.original_ = Tensor();
      info.current_dtype = info.target_dtype;
    }
  }

  // The iterators of the usual operators: an output `out`, which may be undefined, and inputs.
  static TensorIterator nullary_op(const TensorBase& out) {
    TensorIteratorConfig config;
    return config.resize_outputs(false).add_owned_output(out).build();
  }
  static TensorIterator unary_op(const TensorBase& out, const TensorBase& a) {
    TensorIteratorConfig config;
    return config.add_owned_output(out).add_owned_input(a).build();
  }
  static TensorIterator unary_float_op(const TensorBase& out, const TensorBase& a) { return promoting(true, out, a); }
  static TensorIterator binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b) { return promoting(false, out, a, b); }
  static TensorIterator binary_float_op(const TensorBase& out, const TensorBase& a, const TensorBase& b) { return promoting(true, out, a, b); }
  /// The loop writes bool unless the output is defined and has another dtype.
  static TensorIterator comparison_op(const TensorBase& out, const TensorBase& a, const TensorBase& b) {
    TensorIteratorConfig config;
    config.allow_cpu_scalars(true).promote_inputs_to_common_dtype(true);
    config.add_owned_output(out.defined() ? Tensor(out) : at::empty({0}, TensorOptions(kBool).device(a.device())));
    return config.add_owned_input(a).add_owned_input(b).build();
  }
  static TensorIterator borrowing_nullary_op(const TensorBase& out) { return nullary_op(out); }
  static TensorIterator borrowing_unary_op(const TensorBase& out, const TensorBase& a) { return unary_op(out, a); }
  static TensorIterator borrowing_binary_op(const TensorBase& out, const TensorBase& a, const TensorBase& b) { return binary_op(out, a, b); }

 private:
  template <class... Inputs>
  static TensorIterator promoting(bool to_float, const TensorBase& out, const Inputs&... inputs) {
    TensorIteratorConfig config;
    config.allow_cpu_scalars(true).promote_inputs_to_common_dtype(true).promote_integer_inputs_to_float(to_float);
    config.cast_common_dtype_to_outputs(true).enforce_safe_casting_to_output(true).add_owned_output(out);
    (config.add_owned_input(inputs), ...);
    return config.build();
  }

  const OperandInfo& operand(int arg) const {
    TORCH_CHECK(arg >= 0 && arg < ntensors(), "TensorIterator has ", ntensors(), " tensors, got index ", arg);
    return operands_[static_cast<size_t>(arg)];
  }

  template <class Loop>
  auto by_rows(Loop& loop) const {
    return [this, &loop](char** data, const int64_t* strides, int64_t size0, int64_t size1) {
      PtrVector row(data, data + ntensors());
      for (int64_t i = 0; i < size1; ++i) {
        loop(row.data(), strides, size0);
        for (int t = 0; t < ntensors(); ++t) row[static_cast<size_t>(t)] += strides[ntensors() + t];
      }
    };
  }
  PtrVector pointers_at(int64_t position) const {
    PtrVector result = get_base_ptrs();
    for (size_t d = 0; d < shape_.size(); ++d) {
      int64_t index = position % shape_[d];
      position /= shape_[d];
      for (size_t t = 0; t < operands_.size(); ++t) result[t] += index * operands_[t].stride_bytes[d];
    }
    return result;
  }

  void find_shape(const TensorIteratorConfig& config) {
    std::vector<int64_t> shape;
    bool first = true;
    for (const OperandInfo& info : operands_) {
      // Outputs that may be resized get the shape; others take part in it.
      if (!info.tensor_.defined() || (info.is_output && config.resize_)) continue;
      shape = first ? info.tensor_.sizes().vec() : infer_size(shape, info.tensor_.sizes());
      first = false;
    }
    if (config.shape_) shape = *config.shape_;
    for (OperandInfo& info : operands_) {
      if (!info.is_output || !info.tensor_.defined() || info.tensor_.sizes() == IntArrayRef(shape)) continue;
      if (config.resize_) info.will_resize = true;
      else if (!config.reduction_) {
        TORCH_CHECK(false, "output with shape ", info.tensor_.sizes(), " doesn't match the broadcast shape ", IntArrayRef(shape));
      }
    }
    shape_.assign(shape.begin(), shape.end());
  }

  /// The dtype to which inputs are promoted: dimensions count before 0-dim tensors unless these are of a higher category.
  ScalarType promoted() const {
    ScalarType tensors = ScalarType::Undefined, scalars = ScalarType::Undefined;
    for (const OperandInfo& info : operands_) {
      if (info.is_output || !info.tensor_.defined()) continue;
      ScalarType& kind = info.tensor_.dim() > 0 ? tensors : scalars;
      ScalarType dtype = info.tensor_.scalar_type();
      kind = kind == ScalarType::Undefined ? dtype : c10::promoteTypes(kind, dtype);
    }
    auto category = [](ScalarType dtype) {
      return c10::isComplexType(dtype) ? 3 : c10::isFloatingType(dtype) ? 2 : c10::isIntegralType(dtype, false) ? 1 : 0;
    };
    if (tensors == ScalarType::Undefined) return scalars;
    if (scalars == ScalarType::Undefined || category(scalars) <= category(tensors)) return tensors;
    return c10::promoteTypes(tensors, scalars);
  }
  void find_dtypes(const TensorIteratorConfig& config) {
    if (config.promote_) {
      common_dtype_ = promoted();
      if (config.promote_to_float_ && c10::isIntegralType(common_dtype_, true)) common_dtype_ = get_default_dtype_as_scalartype();
    } else {
      common_dtype_ = same_input_dtype();
    }
    std::optional<Device> device = config.device_;
    for (OperandInfo& info : operands_) {
      if (!info.tensor_.defined()) {
        TORCH_CHECK(info.is_output, "TensorIterator: an input is undefined");
        continue;
      }
      info.current_dtype = info.target_dtype = info.tensor_.scalar_type();
      bool scalar = config.cpu_scalars_ && !info.is_output && info.tensor_.dim() == 0 && info.tensor_.is_cpu();
      if (!device && !scalar) device = info.tensor_.device();
      if (config.same_device_ && !scalar && device) {
        TORCH_CHECK(info.tensor_.device() == *device, "Expected all tensors to be on the same device, but found at least two devices, ", *device,
                    " and ", info.tensor_.device(), "!");
      }
    }
    if (config.same_dtype_) {
      ScalarType expected = config.dtype_.value_or(ScalarType::Undefined);
      for (const OperandInfo& info : operands_) {
        if (!info.tensor_.defined()) continue;
        if (expected == ScalarType::Undefined) expected = info.current_dtype;
        TORCH_CHECK(info.current_dtype == expected, "Found dtype ", info.current_dtype, " but expected ", expected);
      }
    }
    device_ = device.value_or(Device(kCPU));
  }
  /// The dtype of all inputs; Undefined if they have several.
  ScalarType same_input_dtype() const {
    ScalarType found = ScalarType::Undefined;
    for (const OperandInfo& info : operands_) {
      if (info.is_output || !info.tensor_.defined()) continue;
      if (found != ScalarType::Undefined && found != info.tensor_.scalar_type()) return ScalarType::Undefined;
      found = info.tensor_.scalar_type();
    }
    return found;
  }

  /// The strides of an output without memory: in the order of the first input's.
  std::vector<int64_t> output_strides() const {
    std::vector<int64_t> strides(shape_.size());
    std::vector<size_t> order(shape_.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = order.size() - 1 - d;
    for (const OperandInfo& info : operands_) {
      if (info.is_output || info.tensor_.sizes() != shape()) continue;
      IntArrayRef found = info.tensor_.strides();
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return found[a] < found[b]; });
      break;
    }
    int64_t stride = 1;
    for (size_t d : order) {
      strides[d] = stride;
      stride *= std::max<int64_t>(shape_[d], 1);
    }
    return strides;
  }
  void allocate_outputs(const TensorIteratorConfig& config) {
    for (OperandInfo& info : operands_) {
      if (!info.is_output) continue;
      if (info.tensor_.defined()) {
        if (info.will_resize) info.tensor_.resize_(shape());
        continue;
      }
      ScalarType dtype = config.dtype_.value_or(common_dtype_);
      TORCH_CHECK(dtype != ScalarType::Undefined, "TensorIterator: an output is undefined, and the inputs have no common dtype");
      info.tensor_ = at::empty_strided(shape(), output_strides(), TensorOptions(dtype).device(*device_));
      info.current_dtype = info.target_dtype = dtype;
    }
  }
  void check_overlap() const {
    for (const OperandInfo& info : operands_) {
      if (!info.is_output) continue;
      IntArrayRef sizes = info.tensor_.sizes(), strides = info.tensor_.strides();
      for (size_t d = 0; d < sizes.size(); ++d) {
        TORCH_CHECK(sizes[d] < 2 || strides[d] != 0 || info.tensor_.numel() == 0,
                    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
                    "Please clone() the tensor before performing the operation.");
      }
    }
  }
  void convert_operands(const TensorIteratorConfig& config) {
    for (OperandInfo& info : operands_) {
      if (config.promote_ && info.current_dtype != common_dtype_) {
        if (info.is_output) {
          TORCH_CHECK(!config.safe_cast_ || c10::canCast(common_dtype_, info.current_dtype), "result type ", common_dtype_,
                      " can't be cast to the desired output type ", info.current_dtype);
          if (config.cast_outputs_) {
            info.original_ = info.tensor_;
            info.tensor_ = at::empty_like(info.tensor_, TensorOptions(common_dtype_));
            info.current_dtype = common_dtype_;
          }
        } else {
          info.original_ = info.tensor_;
          info.tensor_ = info.tensor_.to(common_dtype_);
          info.current_dtype = info.target_dtype = common_dtype_;
        }
      }
      info.data = info.tensor_.data_ptr();
    }
  }

  void find_strides() {
    for (OperandInfo& info : operands_) {
      IntArrayRef sizes = info.tensor_.sizes(), strides = info.tensor_.strides();
      int64_t size = info.tensor_.element_size();
      info.stride_bytes.assign(shape_.size(), 0);
      for (size_t back = 1; back <= sizes.size() && back <= shape_.size(); ++back) {
        size_t d = shape_.size() - back;
        if (sizes[sizes.size() - back] != 1 || shape_[d] == 1) info.stride_bytes[d] = strides[sizes.size() - back] * size;
      }
    }
    // Dimension 0 is the innermost.
    reverse(shape_);
    for (OperandInfo& info : operands_) reverse(info.stride_bytes);
    offsets_.assign(shape_.size(), 0);
  }
  template <class List>
  static void reverse(List& list) {
    std::reverse(list.begin(), list.end());
  }
  /// Sorts the dimensions by the strides of the first tensor that has them.
  void reorder() {
    std::vector<size_t> order(shape_.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = d;
    // Insertion sort: the comparison is not transitive where tensors disagree.
    for (size_t i = 1; i < order.size(); ++i) {
      for (size_t j = i; j > 0 && is_inner(order[j], order[j - 1]); --j) std::swap(order[j], order[j - 1]);
    }
    auto permute = [&](auto& list) {
      auto before = list;
      for (size_t d = 0; d < order.size(); ++d) list[d] = before[order[d]];
    };
    permute(shape_);
    for (OperandInfo& info : operands_) permute(info.stride_bytes);
  }
  bool is_inner(size_t a, size_t b) const {
    for (const OperandInfo& info : operands_) {
      int64_t x = info.stride_bytes[a], y = info.stride_bytes[b];
      if (x == 0 || y == 0 || x == y) continue;
      return x < y;
    }
    return false;
  }
  void merge_dimensions() {
    size_t last = 0;
    for (size_t d = 1; d < shape_.size(); ++d) {
      if (can_merge(last, d)) {
        if (shape_[last] == 1) copy_strides(last, d);
        shape_[last] *= shape_[d];
      } else {
        ++last;
        shape_[last] = shape_[d];
        copy_strides(last, d);
      }
    }
    if (shape_.empty()) return;
    shape_.resize(last + 1);
    offsets_.resize(last + 1);
    for (OperandInfo& info : operands_) info.stride_bytes.resize(last + 1);
  }
  bool can_merge(size_t a, size_t b) const {
    if (shape_[a] == 1 || shape_[b] == 1) return true;
    return std::all_of(operands_.begin(), operands_.end(),
                       [&](const OperandInfo& info) { return info.stride_bytes[a] * shape_[a] == info.stride_bytes[b]; });
  }
  void copy_strides(size_t to, size_t from) {
    for (OperandInfo& info : operands_) info.stride_bytes[to] = info.stride_bytes[from];
  }

  std::vector<OperandInfo> operands_;
  DimVector shape_, offsets_;
  std::optional<Device> device_;
  ScalarType common_dtype_ = ScalarType::Undefined;
  int noutputs_ = 0;
};

using TensorIteratorBase = TensorIterator;

inline TensorIterator TensorIteratorConfig::build() { return TensorIterator(*this); }

RLT_NAMESPACE_END
}  // namespace at
