// LBFGS: quasi-Newton steps from a short history of gradients (Nocedal 1980), optionally with a line search that
// satisfies the strong Wolfe conditions.
#pragma once

#include <torch/optim/optimizer.h>

#include <cmath>
#include <deque>
#include <optional>

namespace torch {
RLT_NAMESPACE_BEGIN
namespace optim {

struct LBFGSOptions : public OptimizerCloneableOptions<LBFGSOptions> {
  RLT_LAZY LBFGSOptions(double lr = 1) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1;
  TORCH_ARG(int64_t, max_iter) = 20;
  TORCH_ARG(std::optional<int64_t>, max_eval) = std::nullopt;
  TORCH_ARG(double, tolerance_grad) = 1e-7;
  TORCH_ARG(double, tolerance_change) = 1e-9;
  TORCH_ARG(int64_t, history_size) = 100;
  TORCH_ARG(std::optional<std::string>, line_search_fn) = std::nullopt;

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("lr", self.lr_);
    visit("max_iter", self.max_iter_);
    visit("max_eval", self.max_eval_);
    visit("tolerance_grad", self.tolerance_grad_);
    visit("tolerance_change", self.tolerance_change_);
    visit("history_size", self.history_size_);
    visit("line_search_fn", self.line_search_fn_);
  }
};

namespace detail {

/// LBFGSParamState. (A template, so that only programs that use one compile its lists.)
template <class Tensor>
struct LBFGSParamStateOf : public OptimizerCloneableParamState<LBFGSParamStateOf<Tensor>> {
  TORCH_ARG(int64_t, func_evals) = 0;
  TORCH_ARG(int64_t, n_iter) = 0;
  TORCH_ARG(double, t) = 0;
  TORCH_ARG(double, prev_loss) = 0;
  TORCH_ARG(Tensor, d) = {};
  TORCH_ARG(Tensor, H_diag) = {};
  TORCH_ARG(Tensor, prev_flat_grad) = {};
  TORCH_ARG(std::deque<Tensor>, old_dirs);
  TORCH_ARG(std::deque<Tensor>, old_stps);
  TORCH_ARG(std::deque<Tensor>, ro);
  TORCH_ARG(std::optional<std::vector<Tensor>>, al) = std::nullopt;

 public:
  template <class Self, class Visit>
  static void fields(Self& self, const Visit& visit) {
    visit("func_evals", self.func_evals_);
    visit("n_iter", self.n_iter_);
    visit("t", self.t_);
    visit("prev_loss", self.prev_loss_);
    visit("d", self.d_);
    visit("H_diag", self.H_diag_);
    visit("prev_flat_grad", self.prev_flat_grad_);
    visit("old_dirs", self.old_dirs_);
    visit("old_stps", self.old_stps_);
    visit("ro", self.ro_);
    visit("al", self.al_);
  }
};

}  // namespace detail

using LBFGSParamState = detail::LBFGSParamStateOf<Tensor>;

namespace detail {

/// The minimum of the cubic through two points with derivatives, within bounds.
inline double cubic_minimum(double x1, double f1, double g1, double x2, double f2, double g2, double least, double most) {
  const double d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2), square = d1 * d1 - g1 * g2;
  if (!(square >= 0)) return (least + most) / 2;
  const double d2 = std::sqrt(square);
  const double place = x1 <= x2 ? x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2)) : x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2));
  return std::min(std::max(place, least), most);
}

/// LBFGS. (A template, so that only programs that instantiate one compile it.)
template <class Options, class State = LBFGSParamState>
class LBFGSOf : public Optimizer {
 public:
  explicit LBFGSOf(const std::vector<OptimizerParamGroup>& param_groups, Options defaults = {})
      : Optimizer(param_groups, as_options(new Options(defaults))) {
    TORCH_CHECK(param_groups_.size() == 1, "LBFGS doesn't support per-parameter options (parameter groups)");
    if (!defaults.max_eval()) {
      const int64_t most = defaults.max_iter() * 5 / 4;
      static_cast<Options&>(param_groups_[0].options()).max_eval(most);
      static_cast<Options&>(*defaults_).max_eval(most);
    }
  }
  explicit LBFGSOf(std::vector<Tensor> params, Options defaults = {}) : LBFGSOf({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  /// Up to max_iter iterations; each evaluation calls the closure, which computes the loss and its gradients.
  Tensor step(LossClosure closure) override {
    c10::NoGradGuard guard;
    TORCH_CHECK(closure != nullptr, "LBFGS requires a closure function");
    const Options& options = static_cast<const Options&>(param_groups_[0].options());
    // The state covers all parameters; it is stored with the first.
    State& state = state_of<State>(param_groups_[0].params().at(0));
    Tensor first_loss = evaluate(closure);
    double loss = number(first_loss);
    int64_t evaluations = 1;
    state.func_evals(state.func_evals() + 1);
    Tensor gradient = flat_gradient();
    bool optimal = most(gradient) <= options.tolerance_grad();
    if (optimal) return first_loss;

    Tensor d = state.d(), H_diag = state.H_diag(), prev_gradient = state.prev_flat_grad();
    double t = state.t(), prev_loss = state.prev_loss();
    auto& old_dirs = state.old_dirs();
    auto& old_stps = state.old_stps();
    auto& ro = state.ro();
    for (int64_t iteration = 1; iteration <= options.max_iter(); ++iteration) {
      state.n_iter(state.n_iter() + 1);
      if (state.n_iter() == 1) {
        d = gradient.neg();
        H_diag = torch::tensor(1);
        old_dirs.clear(), old_stps.clear(), ro.clear();
      } else {
        Tensor y = gradient.sub(prev_gradient), s = d.mul(t), ys = y.dot(s);
        if (number(ys) > 1e-10) {
          if (static_cast<int64_t>(old_dirs.size()) == options.history_size()) old_dirs.pop_front(), old_stps.pop_front(), ro.pop_front();
          old_dirs.push_back(y);
          old_stps.push_back(s);
          ro.push_back(ys.reciprocal());
          H_diag = ys / y.dot(y);
        }
        d = direction(state, gradient, H_diag, options.history_size());
      }
      if (prev_gradient.defined()) {
        prev_gradient.copy_(gradient);
      } else {
        prev_gradient = gradient.clone();
      }
      prev_loss = loss;

      t = state.n_iter() == 1 ? std::min(1.0, 1.0 / number(gradient.abs().sum())) * options.lr() : options.lr();
      const double slope = number(gradient.dot(d));
      if (slope > -options.tolerance_change()) break;

      int64_t searched = 0;
      if (options.line_search_fn()) {
        TORCH_CHECK(*options.line_search_fn() == "strong_wolfe", "only 'strong_wolfe' is supported");
        LinePoint found = strong_wolfe(closure, LinePoint{0, loss, gradient, slope}, t, d, searched);
        t = found.t, loss = found.loss, gradient = found.gradient;
        move(t, d);
        optimal = most(gradient) <= options.tolerance_grad();
      } else {
        move(t, d);
        // The loss after the last iteration is not needed.
        if (iteration != options.max_iter()) {
          loss = number(evaluate(closure));
          gradient = flat_gradient();
          optimal = most(gradient) <= options.tolerance_grad();
          searched = 1;
        }
      }
      evaluations += searched;
      state.func_evals(state.func_evals() + searched);
      if (evaluations >= *options.max_eval() || optimal) break;
      if (most(d.mul(t)) <= options.tolerance_change() || std::abs(loss - prev_loss) < options.tolerance_change()) break;
    }
    state.d(d).t(t).H_diag(H_diag).prev_flat_grad(prev_gradient).prev_loss(prev_loss);
    return first_loss;
  }

 protected:
  OptimizerParamState* new_state() const override { return new State; }
  void load_old(serialize::InputArchive& archive) override {
    warn_of_old_format("LBFGS",
                       "The func_evals and n_iter value in state will be set to 0, ro will be set to an empty deque and al will be set to "
                       "std::nullopt because the old LBFGS optimizer didn't save these values.");
    Tensor d, t, H_diag, prev_flat_grad, prev_loss;
    archive.read("d", d, true);
    archive.read("t", t, true);
    archive.read("H_diag", H_diag, true);
    archive.read("prev_flat_grad", prev_flat_grad, true);
    archive.read("prev_loss", prev_loss, true);
    auto& state = state_of<State>(param_groups_[0].params().at(0));
    state.d(d).t(number(t)).H_diag(H_diag).prev_flat_grad(prev_flat_grad).prev_loss(number(prev_loss));
    using Steps = std::decay_t<decltype(state.old_dirs())>;
    state.old_dirs(this->template read_old<Steps>(archive, "old_dirs"));
    state.old_stps(this->template read_old<Steps>(archive, "old_stps"));
  }

 private:
  /// A step along a direction: its length, and loss, gradient and slope there.
  struct LinePoint {
    double t = 0, loss = 0;
    Tensor gradient;
    double slope = 0;
  };

  static double number(const Tensor& tensor) { return tensor.item<double>(); }
  static double most(const Tensor& tensor) { return number(tensor.abs().max()); }
  Tensor evaluate(const LossClosure& closure) {
    c10::AutoGradMode recording(true);
    return closure();
  }
  Tensor flat_gradient() const {
    std::vector<Tensor> parts;
    for (const Tensor& param : param_groups_[0].params()) {
      Tensor gradient = param.grad();
      parts.push_back((gradient.defined() ? gradient : torch::zeros_like(param)).reshape({-1}));
    }
    return torch::cat(parts);
  }
  // Adds `t` times a direction to the parameters.
  void move(double t, const Tensor& d) {
    int64_t offset = 0;
    for (Tensor& param : param_groups_[0].params()) {
      const int64_t count = param.numel();
      param.add_(d.narrow(0, offset, count).view_as(param), t);
      offset += count;
    }
  }
  // The approximate inverse Hessian times the negative gradient, from the history (two-loop recursion).
  static Tensor direction(State& state, const Tensor& gradient, const Tensor& H_diag, int64_t history_size) {
    const auto &dirs = state.old_dirs(), &steps = state.old_stps(), &ro = state.ro();
    if (!state.al()) state.al(std::vector<Tensor>(static_cast<size_t>(history_size)));
    std::vector<Tensor>& al = *state.al();
    Tensor q = gradient.neg();
    for (size_t i = dirs.size(); i-- > 0;) {
      al[i] = steps[i].dot(q) * ro[i];
      q.add_(dirs[i], -number(al[i]));
    }
    Tensor r = torch::mul(q, H_diag);
    for (size_t i = 0; i < dirs.size(); ++i) r.add_(steps[i], number(al[i] - dirs[i].dot(r) * ro[i]));
    return r;
  }
  // The loss and its derivatives at t along d; the parameters are restored.
  LinePoint look(const LossClosure& closure, const std::vector<Tensor>& start, double t, const Tensor& d) {
    move(t, d);
    LinePoint point;
    point.t = t;
    point.loss = number(evaluate(closure));
    point.gradient = flat_gradient();
    point.slope = number(point.gradient.dot(d));
    std::vector<Tensor>& params = param_groups_[0].params();
    for (size_t i = 0; i < params.size(); ++i) params[i].copy_(start[i]);
    return point;
  }
  // Brackets a step that satisfies the strong Wolfe conditions, then narrows the bracket (Nocedal & Wright, 3.5 and
  // 3.6).
  LinePoint strong_wolfe(const LossClosure& closure, const LinePoint& start, double t, const Tensor& d, int64_t& evaluations) {
    constexpr double c1 = 1e-4, c2 = 0.9, tolerance_change = 1e-9;
    constexpr int64_t most_looks = 25;
    std::vector<Tensor> params;
    for (const Tensor& param : param_groups_[0].params()) params.push_back(param.clone());
    const double d_norm = most(d);
    auto too_high = [&](const LinePoint& point) { return point.loss > start.loss + c1 * point.t * start.slope; };
    auto flat_enough = [&](const LinePoint& point) { return std::abs(point.slope) <= -c2 * start.slope; };

    LinePoint before = start, now = look(closure, params, t, d);
    std::vector<LinePoint> bracket;
    bool done = false;
    int64_t looks = 0;
    evaluations = 1;
    for (; looks < most_looks; ++looks) {
      if (too_high(now) || (looks > 1 && now.loss >= before.loss)) {
        bracket = {before, now};
        break;
      }
      if (flat_enough(now)) {
        bracket = {now};
        done = true;
        break;
      }
      if (now.slope >= 0) {
        bracket = {before, now};
        break;
      }
      const double next = cubic_minimum(before.t, before.loss, before.slope, now.t, now.loss, now.slope, now.t + 0.01 * (now.t - before.t), now.t * 10);
      before = now;
      now = look(closure, params, next, d);
      ++evaluations;
    }
    if (looks == most_looks) bracket = {start, now};

    bool stuck = false;
    size_t low = bracket.front().loss <= bracket.back().loss ? 0 : 1, high = 1 - low;
    while (!done && looks < most_looks) {
      const double a = std::min(bracket[0].t, bracket[1].t), b = std::max(bracket[0].t, bracket[1].t);
      if ((b - a) * d_norm < tolerance_change) break;
      double next = cubic_minimum(bracket[0].t, bracket[0].loss, bracket[0].slope, bracket[1].t, bracket[1].loss, bracket[1].slope, a, b);
      // Close to an end twice, or at it: a tenth of the bracket away from it.
      const double margin = 0.1 * (b - a);
      if (std::min(b - next, next - a) < margin) {
        if (stuck || next >= b || next <= a) {
          next = std::abs(next - b) < std::abs(next - a) ? b - margin : a + margin;
          stuck = false;
        } else {
          stuck = true;
        }
      } else {
        stuck = false;
      }
      now = look(closure, params, next, d);
      ++evaluations;
      ++looks;
      if (too_high(now) || now.loss >= bracket[low].loss) {
        bracket[high] = now;
        low = bracket[0].loss <= bracket[1].loss ? 0 : 1;
        high = 1 - low;
      } else {
        if (flat_enough(now)) {
          done = true;
        } else if (now.slope * (bracket[high].t - bracket[low].t) >= 0) {
          bracket[high] = bracket[low];
        }
        bracket[low] = now;
      }
    }
    return bracket[bracket.size() == 1 ? 0 : low];
  }
};

}  // namespace detail

class LBFGS : public detail::LBFGSOf<LBFGSOptions> {
 public:
  using LBFGSOf::LBFGSOf;
};

}  // namespace optim
RLT_NAMESPACE_END
}  // namespace torch
