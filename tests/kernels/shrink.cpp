#include "tests/kernels/shrink.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "apps/tool/conformance/case_writer.hpp"
#include "ops/number.hpp"
#include "polychron/attribute_fields.hpp"
#include "tests/kernels/comparison.hpp"

namespace polychron::tests {

namespace {

using Size = std::uint32_t;
using Sizes = std::vector<Size>;

/// The operand cropped to `shape`, which has as many dimensions or the same elements.
GeneratedOperand cropped(const GeneratedOperand& from, const Shape& shape) {
  GeneratedOperand to = from;
  to.descriptor.shape = shape;
  const Shape& old = from.descriptor.shape;
  if (old.size() != shape.size() || !from.present) return to;
  const auto type = from.descriptor.data_type;
  to.bytes.assign(*byte_length(to.descriptor), std::byte{});
  const auto count = *element_count(shape);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t rest = i, at = 0, stride = 1;
    for (std::size_t k = shape.size(); k-- > 0; rest /= shape[k], stride *= old[k])
      at += rest % shape[k] % old[k] * stride;
    if (is_packed(type)) {
      const auto nibble = from.bytes[at / 2] >> at % 2 * 4 & std::byte{0x0f};
      to.bytes[i / 2] |= nibble << i % 2 * 4;
    } else {
      const auto size = byte_size(type);
      std::memcpy(to.bytes.data() + i * size, from.bytes.data() + at * size, size);
    }
  }
  return to;
}

/// Calls `visit(name, field)` for each field of the attributes that the specification names.
template <class V>
void each_field(Attributes& attributes, V visit) {
  std::visit([&](auto& alternative) { for_each_field(alternative, visit); }, attributes);
}
/// The same for each list of numbers: sizes, paddings, axes, ...
template <class V>
void each_list(Attributes& attributes, V visit) {
  each_field(attributes, [&](std::string_view name, auto& field) {
    using T = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<T, Sizes>) visit(name, field);
    if constexpr (std::is_same_v<T, std::optional<Sizes>>)
      if (field) visit(name, *field);
  });
}

class Shrinker {
 public:
  Shrinker(GeneratedCall call, const Fails& fails, int tries)
      : call_(std::move(call)), fails_(fails), tries_(tries) {}

  GeneratedCall run() {
    bool smaller = true;
    while (smaller && tries_ > 0) {
      smaller = false;
      smaller |= simplify_operands();
      smaller |= default_attributes();
      smaller |= shrink_dimensions();
      smaller |= shrink_lists();
      smaller |= drop_dimensions();
      smaller |= simplify_numbers();
    }
    return std::move(call_);
  }

 private:
  /// Takes `candidate` if it is a call, and fails.
  bool attempt(GeneratedCall candidate) {
    if (tries_ <= 0 || !candidate.infer()) return false;
    --tries_;
    if (!fails_(candidate)) return false;
    call_ = std::move(candidate);
    return true;
  }

  bool simplify_operands() {
    bool any = false;
    for (std::size_t i = 0; i < call_.operands.size(); ++i) {
      const auto rules = call_.row->operands();
      if (call_.row->call.variadic()) {
        auto fewer = call_;
        fewer.operands.erase(fewer.operands.begin() + static_cast<std::ptrdiff_t>(i));
        if (!fewer.operands.empty() && attempt(std::move(fewer))) return true;
      } else if (rules[i].optional && call_.operands[i].present) {
        auto without = call_;
        without.operands[i].present = without.operands[i].constant = false;
        any |= attempt(std::move(without));
      }
      if (call_.operands[i].constant) {
        auto unknown = call_;
        unknown.operands[i].constant = false;
        any |= attempt(std::move(unknown));
      }
    }
    return any;
  }

  bool default_attributes() {
    bool any = false;
    std::set<std::string_view> names;
    each_field(call_.attributes, [&](std::string_view name, const auto&) { names.insert(name); });
    const auto usual = polychron::default_attributes(call_.row->attributes);
    for (const auto name : names) {
      auto candidate = call_;
      auto defaults = usual;
      const auto before = conformance::fields_of(call_.attributes);
      each_field(candidate.attributes, [&]<class T>(std::string_view field_name, T& field) {
        each_field(defaults, [&]<class U>(std::string_view default_name, U& value) {
          if constexpr (std::is_same_v<T, U>)
            if (field_name == name && default_name == name) field = value;
        });
      });
      if (conformance::fields_of(candidate.attributes) != before) any |= attempt(candidate);
    }
    return any;
  }

  /// Every dimension that is `from` becomes `to`, where `where(operand, place)` says so; in the
  /// attributes, too, if `lists`.
  template <class Where>
  bool resize(Size from, Size to, bool lists, Where where) {
    auto candidate = call_;
    bool changed = false;
    for (std::size_t i = 0; i < candidate.operands.size(); ++i) {
      auto shape = candidate.operands[i].descriptor.shape;
      for (std::size_t k = 0; k < shape.size(); ++k)
        if (shape[k] == from && where(i, k)) {
          shape[k] = to;
          changed = true;
        }
      candidate.operands[i] = cropped(candidate.operands[i], shape);
    }
    if (lists) {
      each_list(candidate.attributes,
                [&](std::string_view, Sizes& list) { std::ranges::replace(list, from, to); });
      each_field(candidate.attributes, [&](std::string_view name, auto& field) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, Size>)
          if (name != "axis" && field == from) field = to;
      });
    }
    return changed && attempt(std::move(candidate));
  }

  bool shrink_dimensions() {
    bool any = false;
    std::set<Size, std::greater<>> sizes;
    for (const auto& operand : call_.operands)
      for (const Size size : operand.descriptor.shape)
        if (size > 1) sizes.insert(size);
    for (const Size from : sizes)
      for (const Size to : std::set<Size>{1, from / 2, from - 1}) {
        any |= resize(from, to, true, [](auto, auto) { return true; });
        any |= resize(from, to, false, [](auto, auto) { return true; });
        for (std::size_t place = 0; place < max_rank; ++place)
          any |= resize(from, to, true, [&](auto, std::size_t k) { return k == place; });
        for (std::size_t i = 0; i < call_.operands.size(); ++i)
          for (std::size_t place = 0; place < call_.operands[i].descriptor.shape.size(); ++place)
            any |= resize(from, to, false, [&](std::size_t operand, std::size_t k) {
              return operand == i && k == place;
            });
      }
    return any;
  }

  /// Smaller numbers in lists that are attributes, one by one.
  bool shrink_lists() {
    bool any = false;
    std::size_t lists = 0;
    each_list(call_.attributes, [&](auto, auto&) { ++lists; });
    for (std::size_t chosen = 0; chosen < lists; ++chosen)
      for (std::size_t place = 0; place < 2 * max_rank; ++place)
        for (const Size to : {0U, 1U}) {
          auto candidate = call_;
          std::size_t number = 0;
          bool changed = false;
          each_list(candidate.attributes, [&](auto, Sizes& list) {
            if (number++ != chosen || place >= list.size() || list[place] <= to) return;
            list[place] = to;
            changed = true;
          });
          if (changed) any |= attempt(std::move(candidate));
        }
    return any;
  }

  /// Takes out a dimension of 1: of one operand its first, or the same of all that have it.
  bool drop_dimensions() {
    bool any = false;
    for (std::size_t i = 0; i < call_.operands.size(); ++i) {
      const auto& shape = call_.operands[i].descriptor.shape;
      if (shape.empty() || shape[0] != 1) continue;
      auto candidate = call_;
      candidate.operands[i] = cropped(call_.operands[i], Shape(shape.begin() + 1, shape.end()));
      any |= attempt(std::move(candidate));
    }
    const auto rank = call_.operands[0].descriptor.shape.size();
    for (std::size_t place = rank; place-- > 0;) {
      if (place >= call_.operands[0].descriptor.shape.size()) continue;
      auto candidate = call_;
      for (auto& operand : candidate.operands) {
        auto shape = operand.descriptor.shape;
        if (place >= shape.size() || shape[place] != 1) continue;
        shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(place));
        operand = cropped(operand, shape);
      }
      const auto own = call_.operands[0].descriptor.shape.size();
      if (candidate.operands[0].descriptor.shape.size() == own) continue;
      forget_dimension(candidate.attributes, static_cast<Size>(place), own);
      any |= attempt(std::move(candidate));
    }
    return any;
  }

  static void forget_dimension(Attributes& attributes, Size place, std::size_t rank) {
    each_list(attributes, [&](std::string_view name, Sizes& list) {
      if (name == "axes" || name == "permutation") {
        std::erase(list, place);
        for (Size& axis : list) axis -= axis > place ? 1 : 0;
      } else if (list.size() == rank) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
      }
    });
    each_field(attributes, [&](std::string_view name, auto& field) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, Size>)
        if (name == "axis" && field > place) --field;
    });
  }

  /// Numbers become 0 or 1: all of an operand, then half of them, and so on.
  bool simplify_numbers() {
    bool any = false;
    for (std::size_t i = 0; i < call_.operands.size(); ++i) {
      const auto type = call_.operands[i].descriptor.data_type;  // attempts replace the operands
      if (!call_.operands[i].present || is_packed(type)) continue;
      const auto size = byte_size(type);
      const auto count = call_.operands[i].bytes.size() / size;
      for (std::size_t chunk = count; chunk > 0; chunk /= 2)
        for (std::size_t start = 0; start < count; start += chunk)
          for (const double number : {0.0, 1.0}) {
            auto candidate = call_;
            const auto bytes = ops::element_bytes(number, type);
            auto& all = candidate.operands[i].bytes;
            for (std::size_t at = start; at < std::min(start + chunk, count); ++at)
              std::ranges::copy(bytes, all.begin() + static_cast<std::ptrdiff_t>(at * size));
            // A number that is 0 stays so.
            if (all == call_.operands[i].bytes || (number == 1.0 && is_simple(i, start, chunk)))
              continue;
            any |= attempt(std::move(candidate));
          }
    }
    return any;
  }

  /// Elements `start` to `start` + `chunk` are 0 or 1 each.
  bool is_simple(std::size_t operand, std::size_t start, std::size_t chunk) const {
    const auto& [descriptor, bytes, constant, present] = call_.operands[operand];
    const auto size = byte_size(descriptor.data_type);
    const auto zero = ops::element_bytes(0.0, descriptor.data_type);
    const auto one = ops::element_bytes(1.0, descriptor.data_type);
    for (std::size_t at = start; at < std::min(start + chunk, bytes.size() / size); ++at) {
      const auto element = std::span(bytes).subspan(at * size, size);
      if (!std::ranges::equal(element, zero) && !std::ranges::equal(element, one)) return false;
    }
    return true;
  }

  GeneratedCall call_;
  const Fails& fails_;
  int tries_;
};

std::vector<std::span<const std::byte>> spans(const std::vector<Buffer>& buffers) {
  std::vector<std::span<const std::byte>> list;
  for (const Buffer& buffer : buffers) list.push_back(buffer.bytes());
  return list;
}

}  // namespace

GeneratedCall shrunk(GeneratedCall call, const Fails& fails, int tries) {
  return Shrinker(std::move(call), fails, tries).run();
}

std::string case_text(const ops::Graph& graph, const std::vector<Buffer>& inputs,
                      const std::vector<Buffer>& outputs, const std::string& name,
                      const std::string& metric, double tolerance) {
  conformance::CaseNotes notes{name, "generated", metric, tolerance};
  return "[" + conformance::case_of(graph, spans(inputs), spans(outputs), notes).dump() + "]";
}

std::string case_text(const GeneratedCall& call, const std::string& name) {
  const auto problem = call.problem();
  auto values = call.values();
  const auto expected = reference_results(problem, values);
  std::vector<Buffer> inputs;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (call.operands[i].present && !call.operands[i].constant)
      inputs.push_back(std::move(values[i]));
  const auto& [metric, float32, float16, per_term] = call.row->tolerance;
  const double allowed = (call.results[0].data_type == DataType::float16 ? float16 : float32) *
                         (per_term ? terms_of(problem) : 1);
  const bool places = metric == ops::Tolerance::Metric::ulp;
  return case_text(*call.graph(), inputs, expected, name, places ? "ULP" : "ATOL", allowed);
}

}  // namespace polychron::tests
