// Embedding and EmbeddingBag.
#pragma once

#include <torch/nn/detail/with_options.h>
#include <torch/nn/functional/embedding.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/common.h>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace nn {

namespace detail {
/// The embedding table, and the common options.
template <class Derived, class Options>
class EmbeddingBase : public WithOptions<Derived, Options> {
 public:
  EmbeddingBase(int64_t num_embeddings, int64_t embedding_dim) : EmbeddingBase(Options(num_embeddings, embedding_dim)) {}
  explicit EmbeddingBase(Options options_) : WithOptions<Derived, Options>(std::move(options_)) { EmbeddingBase::reset(); }

  void reset() override {
    Options& own = this->options;
    int64_t rows = own.num_embeddings();
    if (own.padding_idx()) {
      int64_t padding = *own.padding_idx();
      if (padding > 0 && padding >= rows) rlt::raise<Error>("Padding_idx must be within num_embeddings");
      if (padding < -rows) rlt::raise<Error>("Padding_idx must be within num_embedding");
      if (padding < 0) own.padding_idx(rows + padding);
    }
    if (!own._weight().defined()) {
      weight = this->register_parameter("weight", torch::empty({rows, own.embedding_dim()}));
      reset_parameters();
      return;
    }
    if (!own._weight().sizes().equals({rows, own.embedding_dim()})) {
      rlt::raise<Error>("Shape of _weight does not match num_embeddings and embedding_dim");
    }
    weight = this->register_parameter("weight", own._weight());
  }
  void reset_parameters() {
    init::normal_(weight);
    if (!this->options.padding_idx()) return;
    NoGradGuard guard;
    weight.select(0, *this->options.padding_idx()).fill_(0);
  }

  Tensor weight;

 protected:
  /// Sets the common options.
  template <class FuncOptions>
  FuncOptions with() const {
    const Options& own = this->options;
    FuncOptions result;
    result.padding_idx(own.padding_idx()).max_norm(own.max_norm()).norm_type(own.norm_type());
    result.scale_grad_by_freq(own.scale_grad_by_freq()).sparse(own.sparse());
    return result;
  }
  void print_norm(Words& words) const {
    const Options& own = this->options;
    if (own.max_norm()) words.named("max_norm", *own.max_norm());
    if (own.norm_type() != 2) words.named("norm_type", own.norm_type());
    words.flag("scale_grad_by_freq", own.scale_grad_by_freq()).flag("sparse", own.sparse());
  }
};

inline void check_pretrained(const Tensor& embeddings) {
  if (embeddings.dim() != 2) rlt::raise<Error>("Embeddings parameter is expected to be 2-dimensional");
}
}  // namespace detail

/// A table whose rows are looked up.
class EmbeddingImpl : public detail::EmbeddingBase<EmbeddingImpl, EmbeddingOptions> {
 public:
  using detail::EmbeddingBase<EmbeddingImpl, EmbeddingOptions>::EmbeddingBase;
  void pretty_print(std::ostream& stream) const override {
    detail::Words words("torch::nn::Embedding(");
    words.named("num_embeddings", options.num_embeddings()).named("embedding_dim", options.embedding_dim());
    if (options.padding_idx()) words.named("padding_idx", *options.padding_idx());
    print_norm(words);
    words.close(stream);
  }
  Tensor forward(const Tensor& indices) { return functional::embedding(indices, weight, with<functional::EmbeddingFuncOptions>()); }
};

class Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = EmbeddingImpl;
  /// Uses an existing table.
  RLT_LAZY static Embedding from_pretrained(const Tensor& embeddings, const EmbeddingFromPretrainedOptions& options = {}) {
    detail::check_pretrained(embeddings);
    Embedding result(EmbeddingOptions(embeddings.size(0), embeddings.size(1))._weight(embeddings).padding_idx(options.padding_idx())
                         .max_norm(options.max_norm()).norm_type(options.norm_type()).scale_grad_by_freq(options.scale_grad_by_freq())
                         .sparse(options.sparse()));
    result->weight.set_requires_grad(!options.freeze());
    return result;
  }
};

/// Sums, means or maxima of bags of rows.
class EmbeddingBagImpl : public detail::EmbeddingBase<EmbeddingBagImpl, EmbeddingBagOptions> {
 public:
  using detail::EmbeddingBase<EmbeddingBagImpl, EmbeddingBagOptions>::EmbeddingBase;
  void pretty_print(std::ostream& stream) const override {
    detail::Words words("torch::nn::EmbeddingBag(");
    words.named("num_embeddings", options.num_embeddings()).named("embedding_dim", options.embedding_dim());
    print_norm(words);
    if (options.mode().index() != 1) words.named("mode", enumtype::get_enum_name(options.mode()));
    words.flag("include_last_offset", options.include_last_offset());
    if (options.padding_idx()) words.named("padding_idx", *options.padding_idx());
    words.close(stream);
  }
  Tensor forward(const Tensor& input, const Tensor& offsets = {}, const Tensor& per_sample_weights = {}) {
    auto with = this->with<functional::EmbeddingBagFuncOptions>();
    with.offsets(offsets).per_sample_weights(per_sample_weights).mode(options.mode()).include_last_offset(options.include_last_offset());
    return functional::embedding_bag(input, weight, with);
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};

class EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = EmbeddingBagImpl;
  RLT_LAZY static EmbeddingBag from_pretrained(const Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& options = {}) {
    detail::check_pretrained(embeddings);
    EmbeddingBag result(EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))._weight(embeddings).max_norm(options.max_norm())
                            .norm_type(options.norm_type()).scale_grad_by_freq(options.scale_grad_by_freq()).mode(options.mode())
                            .sparse(options.sparse()).include_last_offset(options.include_last_offset()).padding_idx(options.padding_idx()));
    result->weight.set_requires_grad(!options.freeze());
    return result;
  }
};

}  // namespace nn
RLT_NAMESPACE_END
}  // namespace torch
