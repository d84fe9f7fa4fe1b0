#include "attributes.hpp"

#include <array>
#include <initializer_list>
#include <map>
#include <type_traits>

namespace webnn {

using namespace polychron;

namespace {

// WebNN's words for each enumeration, in the order of the C++ enumerators.
template <class E>
struct Words;
#define WEBNN_WORDS(type, ...)                                                          \
  template <>                                                                           \
  struct Words<type> {                                                                  \
    static constexpr std::array words = std::to_array<std::string_view>({__VA_ARGS__}); \
  }
WEBNN_WORDS(InputOperandLayout, "nchw", "nhwc");
WEBNN_WORDS(Conv2dFilterOperandLayout, "oihw", "hwio", "ohwi", "ihwo");
WEBNN_WORDS(ConvTranspose2dFilterOperandLayout, "iohw", "hwoi", "ohwi");
WEBNN_WORDS(RoundingType, "floor", "ceil");
WEBNN_WORDS(InterpolationMode, "nearest-neighbor", "linear");
WEBNN_WORDS(PaddingMode, "constant", "edge", "reflection");
WEBNN_WORDS(GruWeightLayout, "zrn", "rzn");
WEBNN_WORDS(LstmWeightLayout, "iofg", "ifgo");
WEBNN_WORDS(RecurrentNetworkActivation, "relu", "sigmoid", "tanh");
WEBNN_WORDS(RecurrentNetworkDirection, "forward", "backward", "both");
#undef WEBNN_WORDS

/// Reads members of a JavaScript object into the fields of a struct.
class Reader {
 public:
  Reader(napi_env env, const Value& members) : env_(env), members_(members) {}

  /// Leaves `field` alone if there is no member of that name.
  template <class T>
  Reader& operator()(const char* name, T& field) {
    if (const auto value = members_[name]; value.present()) read(value, field);
    return *this;
  }

 private:
  void read(const Value& v, bool& field) const { field = v.boolean(); }
  void read(const Value& v, std::uint32_t& field) const { field = v.uint32(); }
  void read(const Value& v, std::int32_t& field) const { field = v.int32(); }
  void read(const Value& v, double& field) const { field = v.number(); }
  void read(const Value& v, float& field) const { field = static_cast<float>(v.number()); }
  void read(const Value& v, Number& field) const { field = number(env_, v); }
  void read(const Value& v, DataType& field) const { field = v.data_type(); }
  template <class E>
  requires std::is_enum_v<E>
  void read(const Value& v, E& field) const {
    const auto text = v.text();
    for (std::size_t i = 0; i < Words<E>::words.size(); ++i)
      if (Words<E>::words[i] == text) return void(field = static_cast<E>(i));
    throw Refused{};
  }
  template <class T>
  void read(const Value& v, std::vector<T>& field) const {
    field = v.list([this](const Value& element) {
      T one{};
      read(element, one);
      return one;
    });
  }
  template <class T>
  void read(const Value& v, std::optional<T>& field) const {
    read(v, field.emplace());
  }

  napi_env env_;
  Value members_;
};

// A function for each struct of attributes: the members that it reads.
void fill(Reader& r, ArgMinMaxAttributes& a) {
  r("axis", a.axis)("keepDimensions", a.keep_dimensions)("outputDataType", a.output_data_type);
}
void fill(Reader& r, BatchNormalizationAttributes& a) { r("axis", a.axis)("epsilon", a.epsilon); }
void fill(Reader& r, CastAttributes& a) { r("dataType", a.data_type); }
void fill(Reader& r, ClampAttributes& a) { r("minValue", a.min_value)("maxValue", a.max_value); }
void fill(Reader& r, ConcatAttributes& a) { r("axis", a.axis); }
void fill(Reader& r, Conv2dAttributes& a) {
  r("padding", a.padding)("strides", a.strides)("dilations", a.dilations)("groups", a.groups);
  r("inputLayout", a.input_layout)("filterLayout", a.filter_layout);
}
void fill(Reader& r, ConvTranspose2dAttributes& a) {
  r("padding", a.padding)("strides", a.strides)("dilations", a.dilations)("groups", a.groups);
  r("outputPadding", a.output_padding)("outputSizes", a.output_sizes);
  r("inputLayout", a.input_layout)("filterLayout", a.filter_layout);
}
void fill(Reader& r, CumulativeSumAttributes& a) {
  r("axis", a.axis)("exclusive", a.exclusive)("reversed", a.reversed);
}
void fill(Reader& r, EluAttributes& a) { r("alpha", a.alpha); }
void fill(Reader& r, ExpandAttributes& a) { r("newShape", a.new_shape); }
void fill(Reader& r, GatherAttributes& a) { r("axis", a.axis); }
void fill(Reader& r, GemmAttributes& a) {
  r("alpha", a.alpha)("beta", a.beta);
  r("aTranspose", a.a_transpose)("bTranspose", a.b_transpose);
}
void fill(Reader& r, GruCellAttributes& a) {
  r("hiddenSize", a.hidden_size)("resetAfter", a.reset_after);
  r("layout", a.layout)("activations", a.activations);
}
void fill(Reader& r, GruAttributes& a) {
  r("steps", a.steps)("hiddenSize", a.hidden_size)("resetAfter", a.reset_after);
  r("layout", a.layout)("activations", a.activations);
  r("returnSequence", a.return_sequence)("direction", a.direction);
}
void fill(Reader& r, HardSigmoidAttributes& a) { r("alpha", a.alpha)("beta", a.beta); }
void fill(Reader& r, InstanceNormalizationAttributes& a) {
  r("epsilon", a.epsilon)("layout", a.layout);
}
void fill(Reader& r, LayerNormalizationAttributes& a) { r("axes", a.axes)("epsilon", a.epsilon); }
void fill(Reader& r, LeakyReluAttributes& a) { r("alpha", a.alpha); }
void fill(Reader& r, LinearAttributes& a) { r("alpha", a.alpha)("beta", a.beta); }
void fill(Reader& r, LstmCellAttributes& a) {
  r("hiddenSize", a.hidden_size)("layout", a.layout)("activations", a.activations);
}
void fill(Reader& r, LstmAttributes& a) {
  r("steps", a.steps)("hiddenSize", a.hidden_size);
  r("layout", a.layout)("activations", a.activations);
  r("returnSequence", a.return_sequence)("direction", a.direction);
}
void fill(Reader& r, PadAttributes& a) {
  r("beginningPadding", a.beginning_padding)("endingPadding", a.ending_padding);
  r("mode", a.mode)("value", a.value);
}
void fill(Reader& r, Pool2dAttributes& a) {
  r("windowDimensions", a.window_dimensions)("padding", a.padding)("strides", a.strides);
  r("dilations", a.dilations)("layout", a.layout);
  r("outputShapeRounding", a.output_shape_rounding)("outputSizes", a.output_sizes);
}
void fill(Reader& r, ReduceAttributes& a) {
  r("axes", a.axes)("keepDimensions", a.keep_dimensions);
}
void fill(Reader& r, Resample2dAttributes& a) {
  r("mode", a.mode)("scales", a.scales)("sizes", a.sizes)("axes", a.axes);
}
void fill(Reader& r, ReshapeAttributes& a) { r("newShape", a.new_shape); }
void fill(Reader& r, ReverseAttributes& a) { r("axes", a.axes); }
void fill(Reader& r, ScatterAttributes& a) { r("axis", a.axis); }
void fill(Reader& r, SliceAttributes& a) {
  r("starts", a.starts)("sizes", a.sizes)("strides", a.strides);
}
void fill(Reader& r, SoftmaxAttributes& a) { r("axis", a.axis); }
void fill(Reader& r, SplitAttributes& a) {
  // A number alone is a number of equal parts: lib/ passes it by a name of its own.
  std::optional<std::uint32_t> parts;
  r("splits", a.splits)("equalParts", parts)("axis", a.axis);
  if (!parts) return;
  a.splits = {*parts};
  a.equal_parts = true;
}
void fill(Reader& r, TileAttributes& a) { r("repetitions", a.repetitions); }
void fill(Reader& r, TransposeAttributes& a) { r("permutation", a.permutation); }
void fill(Reader& r, TriangularAttributes& a) { r("upper", a.upper)("diagonal", a.diagonal); }

using Fill = Attributes (*)(Reader&);
template <class A>
Attributes filled(Reader& reader) {
  A result;
  fill(reader, result);
  return result;
}

/// Operators that have attributes.
const std::map<std::string_view, Fill>& table() {
  static const auto rows = [] {
    std::map<std::string_view, Fill> all;
    const auto add = [&](Fill fill, std::initializer_list<std::string_view> names) {
      for (const auto name : names) all.emplace(name, fill);
    };
    add(filled<ArgMinMaxAttributes>, {"argMin", "argMax"});
    add(filled<BatchNormalizationAttributes>, {"batchNormalization"});
    add(filled<CastAttributes>, {"cast"});
    add(filled<ClampAttributes>, {"clamp"});
    add(filled<ConcatAttributes>, {"concat"});
    add(filled<Conv2dAttributes>, {"conv2d"});
    add(filled<ConvTranspose2dAttributes>, {"convTranspose2d"});
    add(filled<CumulativeSumAttributes>, {"cumulativeSum"});
    add(filled<EluAttributes>, {"elu"});
    add(filled<ExpandAttributes>, {"expand"});
    add(filled<GatherAttributes>, {"gather", "gatherElements"});
    add(filled<GemmAttributes>, {"gemm"});
    add(filled<GruAttributes>, {"gru"});
    add(filled<GruCellAttributes>, {"gruCell"});
    add(filled<HardSigmoidAttributes>, {"hardSigmoid"});
    add(filled<InstanceNormalizationAttributes>, {"instanceNormalization"});
    add(filled<LayerNormalizationAttributes>, {"layerNormalization"});
    add(filled<LeakyReluAttributes>, {"leakyRelu"});
    add(filled<LinearAttributes>, {"linear"});
    add(filled<LstmAttributes>, {"lstm"});
    add(filled<LstmCellAttributes>, {"lstmCell"});
    add(filled<PadAttributes>, {"pad"});
    add(filled<Pool2dAttributes>, {"averagePool2d", "l2Pool2d", "maxPool2d"});
    add(filled<ReduceAttributes>,
        {"reduceL1", "reduceL2", "reduceLogSum", "reduceLogSumExp", "reduceMax", "reduceMean",
         "reduceMin", "reduceProduct", "reduceSum", "reduceSumSquare"});
    add(filled<Resample2dAttributes>, {"resample2d"});
    add(filled<ReshapeAttributes>, {"reshape"});
    add(filled<ReverseAttributes>, {"reverse"});
    add(filled<ScatterAttributes>, {"scatterElements"});
    add(filled<SliceAttributes>, {"slice"});
    add(filled<SoftmaxAttributes>, {"softmax"});
    add(filled<SplitAttributes>, {"split"});
    add(filled<TileAttributes>, {"tile"});
    add(filled<TransposeAttributes>, {"transpose"});
    add(filled<TriangularAttributes>, {"triangular"});
    return all;
  }();
  return rows;
}

}  // namespace

Number number(napi_env env, const Value& value) {
  if (value.type() != napi_bigint) return value.number();
  std::int64_t with_sign = 0;
  std::uint64_t without = 0;
  bool exact = false;
  check(napi_get_value_bigint_int64(env, value.raw(), &with_sign, &exact));
  if (exact) return with_sign;
  check(napi_get_value_bigint_uint64(env, value.raw(), &without, &exact));
  if (!exact) throw Refused{};  // lib/ passes larger ones as numbers
  return without;
}

Attributes attributes(napi_env env, std::string_view operation, const Value& members) {
  const auto row = table().find(operation);
  if (row == table().end()) return {};
  Reader reader(env, members);
  return row->second(reader);
}

}  // namespace webnn
