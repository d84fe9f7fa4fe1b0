// Random graphs through the public interface: plans with passes, fusion, views and shared memory
// against the same graphs on reference kernels, step by step. POLYCHRON_GRAPHS: how many, from
// POLYCHRON_SEED on.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <random>

#include "kernels/cpu/cpu_backend.hpp"
#include "polychron/polychron.hpp"
#include "runtime/runtime_state.hpp"

namespace polychron {
namespace {

/// Grows a graph operator by operator; every choice comes from the seed, so that two builders get
/// the same graph.
class RandomGraph {
 public:
  RandomGraph(GraphBuilder& builder, std::uint64_t seed) : builder_(builder), random_(seed) {
    const Shape shapes[] = {{2, 8, 4, 6}, {1, 16, 5, 5}, {3, 4, 10}, {6, 12}, {2, 20, 3, 3}};
    for (std::size_t i = 0; i < 2; ++i)
      pool_.push_back(builder_.input("in" + std::to_string(i),
                                     {DataType::float32, shapes[below(std::size(shapes))]}));
    const std::size_t inputs = pool_.size(), count = 4 + below(14);
    while (pool_.size() < inputs + count) grow();
    for (std::size_t i = 0; i < 1 + below(3); ++i) {
      const auto chosen = inputs + below(pool_.size() - inputs);
      outputs_.emplace_back("out" + std::to_string(i), pool_[chosen]);
    }
    outputs_.emplace_back("last", pool_.back());
  }
  const NamedOperands& outputs() const { return outputs_; }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  std::uint32_t pick(std::size_t bound) { return static_cast<std::uint32_t>(below(bound)); }
  /// Later operands more often, so that chains come about.
  const Operand& any() { return pool_[std::max(below(pool_.size()), below(pool_.size()))]; }
  Operand constant(const Shape& shape) {
    std::vector<float> values(*element_count(shape));
    for (float& value : values) value = static_cast<float>(below(2001)) / 1000.0F - 1.0F;
    return builder_.constant({DataType::float32, shape}, values);
  }
  void add(const Operand& operand) {
    if (*element_count(operand.shape()) <= 6000) pool_.push_back(operand);
  }

  void grow() {
    const Operand x = any();
    const Shape shape = x.shape();
    const auto rank = shape.size();
    if (rank == 0) return;
    const std::uint32_t axis = pick(rank);
    switch (below(20)) {
      case 0:
        return add(unary(x));
      case 1:
        return add(unary(x));
      case 2:
        return add(binary(x, second_for(shape)));
      case 3:
        return add(binary(second_for(shape), x));
      case 4:
        return transpose(x);
      case 5:
        return reshape(x);
      case 6:
        return slice(x);
      case 7:
        if (shape[axis] % 2 != 0) return;
        for (const Operand& part : builder_.split(x, 2, {.axis = axis, .label = {}})) add(part);
        return;
      case 8:
        return add(builder_.concat({x, below(2) == 0 ? x : same_shape(shape)}, axis));
      case 9:
        return multiply(x);
      case 10:
        return add(builder_.softmax(x, axis));
      case 11:
        return normalize(x, axis);
      case 12:
      case 13:
        return convolve(x);
      case 14:
        return pool(x);
      case 15:
        return enlarge(x);
      case 16:
        return standardize(x);
      case 17:
        return multiply_matrices(x);
      case 18:
        return pad(x);
      default:
        return spread(x, axis);
    }
  }

  Operand unary(const Operand& x) {
    switch (below(12)) {
      case 0:
        return builder_.relu(x);
      case 1:
        return builder_.sigmoid(x);
      case 2:
        return builder_.tanh(x);
      case 3:
        return builder_.neg(x);
      case 4:
        return builder_.gelu(x);
      case 5:
        return builder_.hard_swish(x);
      case 6:
        return builder_.mul(x, builder_.sigmoid(x));
      case 7:
        return builder_.sin(x);
      case 8:
        return builder_.leaky_relu(x);
      case 9:
        return builder_.softplus(x);
      case 10:
        return builder_.erf(x);
      default: {
        ClampOptions clamp;
        clamp.min_value = -0.5;
        clamp.max_value = 2.0;
        return builder_.clamp(x, clamp);
      }
    }
  }
  Operand binary(const Operand& a, const Operand& b) {
    switch (below(4)) {
      case 0:
        return builder_.add(a, b);
      case 1:
        return builder_.sub(a, b);
      case 2:
        return builder_.mul(a, b);
      default:
        return builder_.max(a, b);
    }
  }
  Operand same_shape(const Shape& shape) {
    for (std::size_t i = 0; i < 4; ++i)
      if (const Operand& other = any(); other.shape() == shape) return other;
    return constant(shape);
  }
  Operand second_for(const Shape& shape) {
    switch (below(4)) {
      case 0:
        return constant({});
      case 1:
        return constant({shape.back()});
      case 2: {
        Shape channel(shape.size(), 1);
        const auto at = below(shape.size());
        channel[at] = shape[at];
        return constant(channel);
      }
      default:
        return same_shape(shape);
    }
  }
  void transpose(const Operand& x) {
    TransposeOptions options;
    std::vector<std::uint32_t> order(x.shape().size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    options.permutation = order;
    add(builder_.transpose(x, options));
  }
  void reshape(const Operand& x) {
    Shape shape = x.shape();
    const auto at = below(shape.size());
    if (at + 1 < shape.size() && below(2) == 0) {
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    } else if (shape.size() < 5 && shape[at] % 2 == 0) {
      shape[at] /= 2;
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), 2);
    } else {
      return;
    }
    add(builder_.reshape(x, shape));
  }
  void slice(const Operand& x) {
    std::vector<std::uint32_t> starts, sizes;
    for (const std::uint32_t extent : x.shape()) {
      const bool whole = below(2) == 0;
      starts.push_back(whole ? 0 : pick(extent));
      sizes.push_back(whole ? extent : 1 + pick(extent - starts.back()));
    }
    add(builder_.slice(x, starts, sizes));
  }
  void multiply(const Operand& x) {
    const Shape& shape = x.shape();
    if (shape.size() < 2) return;
    if (below(2) == 0) return add(builder_.matmul(x, constant({shape.back(), 1 + pick(20)})));
    TransposeOptions swap;
    std::vector<std::uint32_t> order(shape.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    swap.permutation = order;
    const Operand product = builder_.matmul(x, builder_.transpose(x, swap));
    add(builder_.mul(product, builder_.constant(DataType::float32, 0.1)));
  }
  void normalize(const Operand& x, std::uint32_t axis) {
    ReduceOptions options;
    options.axes = {{axis}};
    options.keep_dimensions = true;
    const Operand centred = builder_.sub(x, builder_.reduce_mean(x, options));
    if (below(2) == 0) return add(centred);
    const Operand variance = builder_.reduce_mean(builder_.mul(centred, centred), options);
    const Operand epsilon = builder_.constant(DataType::float32, 0.1);
    add(builder_.div(centred, builder_.sqrt(builder_.add(variance, epsilon))));
  }
  void convolve(const Operand& x) {
    const Shape& shape = x.shape();
    if (shape.size() != 4 || shape[2] < 3 || shape[3] < 3) return;
    const std::uint32_t side = below(2) == 0 ? 1 : 3;
    Conv2dOptions options;
    if (side == 3 && below(2) == 0) options.padding = {1, 1, 1, 1};
    const bool depthwise = below(3) == 0;
    const std::uint32_t outputs = depthwise ? shape[1] : 1 + pick(24);
    if (depthwise) options.groups = shape[1];
    if (below(2) == 0) options.bias = constant({outputs});
    const Operand filter = constant({outputs, depthwise ? 1 : shape[1], side, side});
    const Operand y = builder_.conv2d(x, filter, options);
    add(below(2) == 0 ? unary(y) : y);
  }
  void pool(const Operand& x) {
    const Shape& shape = x.shape();
    if (shape.size() != 4 || shape[2] < 2 || shape[3] < 2) return;
    Pool2dOptions options;
    if (below(2) == 0) {
      options.window_dimensions = {{2, 2}};
      options.strides = {2, 2};
    }
    add(below(2) == 0 ? builder_.average_pool2d(x, options) : builder_.max_pool2d(x, options));
  }

  /// Pictures of twice the size, by a transposed convolution or by resampling.
  void enlarge(const Operand& x) {
    const Shape& shape = x.shape();
    if (shape.size() != 4) return;
    if (below(2) == 0) {
      Resample2dOptions options;
      if (below(2) == 0) options.mode = InterpolationMode::linear;
      options.sizes = {{shape[2] * 2, shape[3] * 2}};
      return add(builder_.resample2d(x, options));
    }
    ConvTranspose2dOptions options;
    options.strides = {2, 2};
    const std::uint32_t outputs = 1 + pick(20);
    if (below(2) == 0) options.bias = constant({outputs});
    const Operand filter = constant({shape[1], outputs, 2, 2});
    add(builder_.conv_transpose2d(x, filter, options));
  }
  void standardize(const Operand& x) {
    const Shape& shape = x.shape();
    if (shape.size() >= 2 && below(2) == 0) {
      const Operand mean = constant({shape[1]});
      const Operand variance =
          builder_.mul(constant({shape[1]}), builder_.constant(DataType::float32, 0.5));
      BatchNormalizationOptions options;
      options.epsilon = 0.1;
      if (below(2) == 0) options.scale = constant({shape[1]});
      const Operand positive = builder_.mul(variance, variance);
      return add(builder_.batch_normalization(x, mean, positive, options));
    }
    LayerNormalizationOptions options;
    const auto last = static_cast<std::uint32_t>(shape.size() - 1);
    options.axes = {{last}};
    options.epsilon = 0.1;
    if (below(2) == 0) options.scale = constant({shape[last]});
    if (below(2) == 0) options.bias = constant({shape[last]});
    add(builder_.layer_normalization(x, options));
  }
  void multiply_matrices(const Operand& x) {
    const Shape& shape = x.shape();
    if (shape.size() != 2) return;
    GemmOptions options;
    options.a_transpose = below(2) == 0;
    options.b_transpose = below(2) == 0;
    options.alpha = 0.5;
    const std::uint32_t inner = shape[options.a_transpose ? 0 : 1], columns = 1 + pick(20);
    if (below(2) == 0) options.c = constant({columns});
    const Operand b = constant(options.b_transpose ? Shape{columns, inner} : Shape{inner, columns});
    add(builder_.gemm(x, b, options));
  }
  void pad(const Operand& x) {
    std::vector<std::uint32_t> before, after;
    for (std::size_t i = 0; i < x.shape().size(); ++i) {
      before.push_back(pick(2));
      after.push_back(pick(2));
    }
    add(builder_.pad(x, before, after));
  }
  /// A sum over an axis, copied along it.
  void spread(const Operand& x, std::uint32_t axis) {
    const Shape shape = x.shape();
    ReduceOptions options;
    options.axes = {{axis}};
    options.keep_dimensions = true;
    const Operand sum =
        below(2) == 0 ? builder_.reduce_sum(x, options) : builder_.reduce_max(x, options);
    add(builder_.expand(sum, shape));
  }

  GraphBuilder& builder_;
  std::mt19937_64 random_;
  std::vector<Operand> pool_;
  NamedOperands outputs_;
};

struct Engine {
  explicit Engine(const kernels::PlanSettings& settings)
      : runtime(detail::RuntimeState::create(
            {}, [settings](const ContextOptions&) -> Result<std::shared_ptr<kernels::Backend>> {
              return kernels::make_cpu_backend(settings);
            })) {}
  /// The outputs of the graph of `seed`, after `runs` runs.
  std::vector<std::vector<float>> outputs(std::uint64_t seed, int runs) {
    GraphBuilder builder(context);
    const RandomGraph made(builder, seed);
    const Graph graph = builder.build(made.outputs()).get();
    std::mt19937 numbers(static_cast<std::uint32_t>(seed));
    NamedTensors in, out;
    for (const auto& [name, descriptor] : graph.inputs()) {
      const auto t = context.create_tensor({descriptor, false, true, {}}).get();
      std::vector<float> values(*element_count(descriptor.shape));
      for (float& value : values) value = static_cast<float>(numbers() % 2001) / 1000.0F - 1.0F;
      context.write_tensor(t, values);
      in.emplace_back(name, t);
    }
    for (const auto& [name, descriptor] : graph.outputs())
      out.emplace_back(name, context.create_tensor({descriptor, true, false, {}}).get());
    for (int i = 0; i < runs; ++i) context.dispatch(graph, in, out);
    std::vector<std::vector<float>> results;
    for (const auto& [name, t] : out) {
      const auto bytes = context.read_tensor(t).get();
      const auto values = bytes.as<float>();
      results.emplace_back(values.begin(), values.end());
    }
    plan = graph.plan();
    return results;
  }

  Runtime runtime;
  Context context = runtime.create_context().get();
  std::vector<std::string> plan;
};

/// What a sum in another order may make of rows that nearly cancel (1 graph in 150,000 was off by
/// 2e-4); mistakes were off by 0.1 and more.
constexpr double tolerance = 1e-3;

/// The largest difference, as a part of the largest value or of 1.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0, scale = 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::fmax(most, std::fabs(static_cast<double>(a[i]) - b[i]));
    if (std::isnan(a[i]) != std::isnan(b[i])) return 1;
    scale = std::fmax(scale, std::fabs(static_cast<double>(b[i])));
  }
  return most / scale;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_graphs)

BOOST_AUTO_TEST_CASE(plans_compute_what_the_reference_computes) {
  const char* given = std::getenv("POLYCHRON_SEED");
  const std::uint64_t first = given == nullptr ? 1 : std::stoull(given);
  const char* many = std::getenv("POLYCHRON_GRAPHS");
  const std::uint64_t count = many == nullptr ? 1000 : std::stoull(many);
  Engine fast({}), plain({.optimize = false, .reference_only = true});
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto actual = fast.outputs(seed, 2), expected = plain.outputs(seed, 1);
    BOOST_REQUIRE_EQUAL(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const double off = difference(actual[i], expected[i]);
      BOOST_TEST(off < tolerance,
                 "POLYCHRON_SEED=" << seed << ": output " << i << " is off by " << off);
      if (!(off < tolerance))
        for (const std::string& step : fast.plan) BOOST_TEST_MESSAGE("  " << step);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron
