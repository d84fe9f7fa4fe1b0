// TfIdfVectorizer of numbers: counts each n-gram of a list.
#include <algorithm>
#include <array>

#include "onnx/handlers.hpp"
#include "onnx/operators/term.hpp"

namespace polychron::onnx::detail {

namespace {

using Ints = std::vector<std::int64_t>;

/// The n-grams of one length.
struct Grams {
  std::uint32_t length = 1;
  std::uint32_t count = 0;
  Ints values;  ///< [count, length]
};

std::vector<Grams> read_grams(const Node& node) {
  if (!node.text_list("pool_strings").empty()) unsupported("strings");
  const auto pool = node.integer_list("pool_int64s").value_or(Ints{});
  const auto starts = node.integer_list("ngram_counts").value_or(Ints{});
  std::vector<Grams> list;
  for (std::size_t i = 0; i < starts.size() && i < 16; ++i) {
    const auto size = static_cast<std::int64_t>(pool.size());
    const auto begin = starts[i];
    const auto end = i + 1 < starts.size() ? starts[i + 1] : size;
    const auto length = static_cast<std::int64_t>(i + 1);
    if (begin < 0 || end < begin || end > size || (end - begin) % length != 0)
      malformed("attribute 'ngram_counts'");
    list.push_back({static_cast<std::uint32_t>(length),
                    static_cast<std::uint32_t>((end - begin) / length),
                    {pool.begin() + begin, pool.begin() + end}});
  }
  return list;
}

/// The counts [rows, grams] of each gram in each row of `x` [rows, columns], with `skip` elements
/// left out between those of the gram.
Term occurrences(const Term& x, const Grams& grams, std::uint32_t skip) {
  auto& node = x.node();
  const auto reach = (grams.length - 1) * (skip + 1);
  const auto places = x.shape()[1] - reach;
  std::optional<Term> all;
  for (std::uint32_t k = 0; k < grams.length; ++k) {
    Ints values;
    for (std::uint32_t g = 0; g < grams.count; ++g)
      values.push_back(grams.values[std::size_t{g} * grams.length + k]);
    const auto begin = k * (skip + 1);
    const auto same = x.slice(1, begin, begin + places).unsqueeze(2) ==
                      constant(node, ElementType::int64, {grams.count}, values);
    all = all ? *all && same : same;
  }
  return all->cast(DataType::float32).sum({1});
}

/// Counts the grams of each requested length and number of skips. A product with a matrix moves the
/// counts to their places; all other places stay 0.
void tf_idf(Node& node) {
  auto x = term(node, 0);
  const bool single = x.rank() == 1;
  if (single) x = x.unsqueeze(0);
  if (x.rank() != 2) malformed("an input of shape " + to_string(x.shape()));
  x = x.cast(DataType::int64);
  const auto places = node.integer_list("ngram_indexes").value_or(Ints{});
  const auto weights = node.real_list("weights").value_or(std::vector<double>(places.size(), 1));
  const auto mode = node.text("mode", "");
  const auto skips = unsigned_list({node.integer("max_skip_count", 0)}, "max_skip_count").front();
  std::int64_t width = 0;
  for (const auto place : places) {
    if (place < 0 || place > static_cast<std::int64_t>(max_calculated)) malformed("a place");
    width = std::max(width, place + 1);
  }
  if (weights.size() != places.size() || places.empty()) malformed("attribute 'weights'");
  const auto out = static_cast<std::uint32_t>(width);
  auto result =
      Term(node, node.builder.constant(DataType::float32, 0.0)).expand({x.shape()[0], out});
  std::size_t first = 0;
  for (const auto& grams : read_grams(node)) {
    const auto begin = first;
    first += grams.count;
    if (first > places.size()) malformed("attribute 'ngram_indexes'");
    const bool wanted = grams.length >= node.integer("min_gram_length", 1) &&
                        grams.length <= node.integer("max_gram_length", 1);
    if (!wanted || grams.count == 0) continue;
    if (std::uint64_t{grams.count} * count(x.shape()) > (1U << 24)) unsupported("too many n-grams");
    std::optional<Term> counts;
    for (std::uint32_t skip = 0; skip <= (grams.length == 1 ? 0 : skips); ++skip) {
      if (std::uint64_t{grams.length - 1} * (std::uint64_t{skip} + 1) >= x.shape()[1]) break;
      node.importer.spend(4 * grams.length);
      const auto more = occurrences(x, grams, skip);
      counts = counts ? *counts + more : more;
    }
    if (!counts) continue;
    if (mode == "IDF") counts = (*counts > 0).cast(DataType::float32);
    node.importer.spend_bytes(std::uint64_t{grams.count} * out * sizeof(float));
    Buffer bytes(std::size_t{grams.count} * out * sizeof(float));
    const auto matrix = bytes.as<float>();
    for (std::size_t g = 0; g < grams.count; ++g)
      matrix[g * out + static_cast<std::size_t>(places[begin + g])] =
          mode == "TF" ? 1 : static_cast<float>(weights[begin + g]);
    const auto placed = make_literal(ElementType::float32, {grams.count, out}, std::move(bytes));
    result = result + counts->matmul(Term(node, make_constant(node.importer, placed)));
  }
  node.set(single ? result.reshape({out}).operand() : result.operand(), 0, ElementType::float32);
}

}  // namespace

std::span<const Row> text_rows() noexcept {
  static constexpr std::array rows{Row{"TfIdfVectorizer", tf_idf}};
  return rows;
}

}  // namespace polychron::onnx::detail
