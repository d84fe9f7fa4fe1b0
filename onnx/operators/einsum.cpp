#include "onnx/operators/einsum.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "onnx/handlers.hpp"
#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

namespace {

bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// `rest` is the number of dimensions that "..." stands for.
Labels parse_labels(const std::string& text, std::size_t rest) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 3, "...") == 0) {
      for (auto d = rest; d > 0; --d) labels.push_back(-static_cast<int>(d));
      i += 2;
    } else {
      labels.push_back(text[i]);
    }
  }
  return labels;
}

std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return c != '.'; }));
}

/// A tensor whose dimensions have labels.
struct Labelled {
  Term x;
  Labels labels;

  std::uint32_t axis(int label) const {
    return static_cast<std::uint32_t>(std::find(labels.begin(), labels.end(), label) -
                                      labels.begin());
  }
  std::uint32_t length(int label) const { return has(labels, label) ? x.shape()[axis(label)] : 1; }
};

/// A label that occurs twice takes the diagonal: every (n + 1)th of n x n elements.
Labelled without_repetition(Labelled a) {
  for (std::uint32_t i = 0; i < a.labels.size(); ++i)
    for (std::uint32_t j = i + 1; j < a.labels.size(); ++j) {
      if (a.labels[i] != a.labels[j]) continue;
      const auto n = a.x.shape()[i];
      if (a.x.shape()[j] != n) malformed("a label with two different lengths");
      std::vector<std::uint32_t> order(a.labels.size());
      std::iota(order.begin(), order.end(), 0U);
      order.erase(order.begin() + j);
      order.erase(order.begin() + i);
      order.insert(order.end(), {i, j});
      auto x = a.x.transpose(order);
      Shape shape = x.shape();
      shape.pop_back();
      shape.back() = n * n;
      const auto last = static_cast<std::uint32_t>(shape.size() - 1);
      const auto label = a.labels[i];
      a.labels.erase(a.labels.begin() + j);
      a.labels.erase(a.labels.begin() + i);
      a.labels.push_back(label);
      return without_repetition({x.reshape(shape).slice(last, 0, n * n, n + 1), a.labels});
    }
  return a;
}

/// Sums along the labels that are not wanted.
Labelled summed(Labelled a, const Labels& wanted) {
  std::vector<std::uint32_t> axes;
  Labels kept;
  for (std::uint32_t d = 0; d < a.labels.size(); ++d) {
    if (has(wanted, a.labels[d])) {
      kept.push_back(a.labels[d]);
    } else {
      axes.push_back(d);
    }
  }
  return axes.empty() ? a : Labelled{a.x.sum(axes), kept};
}

/// Dimensions in the order of `labels`, with size 1 for missing ones. `labels` contains all of a's
/// labels.
Term arranged(const Labelled& a, const Labels& labels) {
  std::vector<std::uint32_t> order;
  Shape shape;
  for (const auto label : labels) {
    if (has(a.labels, label)) order.push_back(a.axis(label));
    shape.push_back(a.length(label));
  }
  return a.x.transpose(order).reshape(shape);
}

std::uint32_t product(const Labelled& a, const Labels& labels) {
  std::uint32_t size = 1;
  for (const auto label : labels) size *= a.length(label);
  return size;
}

/// Shared labels that are still wanted form the batch; the others are summed. For reals this is a
/// product of matrices.
Labelled contracted(const Labelled& a, const Labelled& b, const Labels& wanted) {
  Labels batch, inner, left, right;
  for (const auto label : a.labels) {
    if (!has(b.labels, label)) {
      left.push_back(label);
    } else if (has(wanted, label)) {
      batch.push_back(label);
    } else {
      inner.push_back(label);
    }
  }
  for (const auto label : b.labels)
    if (!has(a.labels, label)) right.push_back(label);
  auto all = batch;
  all.insert(all.end(), left.begin(), left.end());
  all.insert(all.end(), right.begin(), right.end());
  for (const auto label : inner)
    if (a.length(label) != b.length(label)) malformed("a label with two different lengths");
  Shape shape;
  for (const auto label : all) shape.push_back(std::max(a.length(label), b.length(label)));
  const auto join = [](Labels labels, const Labels& more, const Labels& most) {
    labels.insert(labels.end(), more.begin(), more.end());
    labels.insert(labels.end(), most.begin(), most.end());
    return labels;
  };
  const auto flat = [&](const Labelled& t, const Labels& rows, const Labels& columns) {
    Shape to;
    for (const auto label : batch) to.push_back(t.length(label));
    to.insert(to.end(), {product(t, rows), product(t, columns)});
    return arranged(t, join(batch, rows, columns)).reshape(to);
  };
  const auto type = a.x.data_type();
  const auto matrix_a = flat(a, left, inner);
  const auto matrix_b = flat(b, inner, right);
  if (type == DataType::float32 || type == DataType::float16)
    return {matrix_a.matmul(matrix_b).reshape(shape), all};
  const auto last = static_cast<std::uint32_t>(matrix_a.rank());
  const auto products = matrix_a.unsqueeze(last) * matrix_b.unsqueeze(last - 2);
  return {products.sum({last - 1}).reshape(shape), all};
}

void einsum(Node& node) {
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < node.input_count(); ++i) ranks.push_back(node.rank(i));
  const auto equation = parse_equation(node.text("equation", ""), ranks);
  std::optional<Labelled> result;
  for (std::size_t i = 0; i < equation.inputs.size(); ++i) {
    auto wanted = equation.output;
    for (auto later = i + 1; later < equation.inputs.size(); ++later)
      wanted.insert(wanted.end(), equation.inputs[later].begin(), equation.inputs[later].end());
    auto next = without_repetition({term(node, i), equation.inputs[i]});
    auto needed = wanted;
    if (result) needed.insert(needed.end(), result->labels.begin(), result->labels.end());
    next = summed(next, needed);
    if (result) {
      auto theirs = wanted;
      theirs.insert(theirs.end(), next.labels.begin(), next.labels.end());
      result = contracted(summed(*result, theirs), next, wanted);
    } else {
      result = next;
    }
  }
  const auto sum = summed(*result, equation.output);
  node.set(node.builder.identity(arranged(sum, equation.output).operand(), node.label()));
}

}  // namespace

Equation parse_equation(const std::string& text, const std::vector<std::size_t>& ranks) {
  std::string clean;
  for (const char c : text)
    if (c != ' ') clean += c;
  const auto arrow = clean.find("->");
  std::vector<std::string> parts(1);
  for (const char c : clean.substr(0, arrow)) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() != ranks.size()) malformed("equation " + quote(text) + " has not as many terms");
  Equation equation;
  std::size_t rest = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool dots = parts[i].find("...") != std::string::npos;
    const auto named = letters(parts[i]);
    if (named > ranks[i] || (!dots && named != ranks[i]))
      malformed("equation " + quote(text) + " does not fit a rank of " + std::to_string(ranks[i]));
    rest = std::max(rest, ranks[i] - named);
    equation.inputs.push_back(parse_labels(parts[i], ranks[i] - named));
  }
  if (arrow != std::string::npos) {
    equation.output = parse_labels(clean.substr(arrow + 2), rest);
  } else {
    // The labels that occur once: "..." first, then in alphabetical order.
    std::map<int, int> counts;
    for (const auto& labels : equation.inputs)
      for (const auto label : labels) ++counts[label];
    for (const auto& [label, times] : counts)
      if (times == 1 || label < 0) equation.output.push_back(label);
  }
  for (const auto label : equation.output) {
    bool known = false;
    for (const auto& labels : equation.inputs) known = known || has(labels, label);
    if (!known || std::count(equation.output.begin(), equation.output.end(), label) > 1)
      malformed("equation " + quote(text) + " has an output of its own");
  }
  return equation;
}

std::span<const Row> einsum_rows() noexcept {
  static constexpr std::array rows{Row{"Einsum", einsum}};
  return rows;
}

}  // namespace polychron::onnx::detail
