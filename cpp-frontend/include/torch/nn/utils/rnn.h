// Sequences of different lengths: padded into one tensor, or packed step by step for the recurrent layers.
#pragma once

#include <torch/types.h>

#include <string_view>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {
namespace utils {
namespace rnn {

/// Inverse permutation: index_select with the result undoes index_select with `permutation`.
RLT_LAZY Tensor invert_permutation(const Tensor& permutation) {
  if (!permutation.defined()) return {};
  Tensor output = torch::empty_like(permutation);
  output.scatter_(0, permutation, torch::arange(permutation.numel(), TensorOptions(permutation.device()).dtype(kLong)));
  return output;
}

/// The steps of sequences one after the other, each with the sequences that are long enough; longest sequence first.
class PackedSequence {
 public:
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {}, Tensor unsorted_indices = {})
      : data_(std::move(data)), batch_sizes_(std::move(batch_sizes)), sorted_indices_(std::move(sorted_indices)),
        unsorted_indices_(unsorted_indices.defined() ? std::move(unsorted_indices) : invert_permutation(sorted_indices_)) {
    if (!batch_sizes_.is_cpu()) {
      rlt::raise<Error>(
          "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They should be instantiated "
          "by functions like pack_sequence and pack_padded_sequences in nn::utils::rnn. "
          "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence");
    }
  }

  const Tensor& data() const { return data_; }
  /// Number of sequences at each step.
  const Tensor& batch_sizes() const { return batch_sizes_; }
  /// The order in which the sequences are stored; undefined if they were already sorted.
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }

  /// Converts the data; returns this object if nothing changes.
  RLT_LAZY PackedSequence to(TensorOptions options) const {
    Tensor data = data_.to(options);
    if (data.is_same(data_)) return *this;
    auto follow = [&](const Tensor& indices) {
      return indices.defined() ? indices.to(TensorOptions(data.device()).dtype(indices.scalar_type())) : Tensor();
    };
    return PackedSequence(data, batch_sizes_, follow(sorted_indices_), follow(unsorted_indices_));
  }
  RLT_LAZY PackedSequence cuda() const { return to(kCUDA); }
  RLT_LAZY PackedSequence cpu() const { return to(kCPU); }
  RLT_LAZY PackedSequence pin_memory() const {
    auto pinned = [](const Tensor& tensor) { return tensor.defined() ? tensor.pin_memory() : Tensor(); };
    return PackedSequence(pinned(data_), batch_sizes_, pinned(sorted_indices_), pinned(unsorted_indices_));
  }
  bool is_cuda() const { return data_.is_cuda(); }
  bool is_pinned() const { return data_.is_pinned(); }

 private:
  Tensor data_;
  Tensor batch_sizes_;
  Tensor sorted_indices_;
  Tensor unsorted_indices_;
};

/// Packs padded sequences. `lengths` must be in decreasing order, unless `enforce_sorted` is false.
RLT_LAZY PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first = false, bool enforce_sorted = true) {
  lengths = lengths.to(kLong);
  Tensor sorted_indices;
  if (!enforce_sorted) {
    std::tie(lengths, sorted_indices) = torch::sort(lengths, -1, /*descending=*/true);
    sorted_indices = sorted_indices.to(TensorOptions(input.device()));
    input = input.index_select(batch_first ? 0 : 1, sorted_indices);
  }
  auto [data, batch_sizes] = torch::_pack_padded_sequence(input, lengths, batch_first);
  return PackedSequence(data, batch_sizes, sorted_indices);
}

/// Padded sequences and their lengths.
RLT_LAZY std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first = false, double padding_value = 0.0,
                                                        std::optional<int64_t> total_length = std::nullopt) {
  int64_t longest = sequence.batch_sizes().size(0);
  TORCH_CHECK(!total_length || *total_length >= longest, "Expected total_length to be at least the length of the longest sequence in input, but got total_length=",
              *total_length, " and max sequence length being ", longest);
  auto [padded, lengths] =
      torch::_pad_packed_sequence(sequence.data(), sequence.batch_sizes(), batch_first, padding_value, total_length.value_or(longest));
  const Tensor& order = sequence.unsorted_indices();
  if (!order.defined()) return {padded, lengths};
  return {padded.index_select(batch_first ? 0 : 1, order), lengths.index_select(0, order.cpu())};
}

/// Sequences of (step, ...) stacked in one tensor, padded to the longest length.
RLT_LAZY Tensor pad_sequence(ArrayRef<Tensor> sequences, bool batch_first = false, double padding_value = 0, std::string_view padding_side = "right") {
  return torch::pad_sequence(sequences, batch_first, padding_value, padding_side);
}

/// Packs sequences of (step, ...).
RLT_LAZY PackedSequence pack_sequence(ArrayRef<Tensor> sequences, bool enforce_sorted = true) {
  std::vector<int64_t> lengths;
  lengths.reserve(sequences.size());
  for (const Tensor& sequence : sequences) lengths.push_back(sequence.size(0));
  return pack_padded_sequence(pad_sequence(sequences), torch::tensor(lengths, TensorOptions(kLong)), /*batch_first=*/false, enforce_sorted);
}

}  // namespace rnn
}  // namespace utils
}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
