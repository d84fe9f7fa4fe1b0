// A GGUF file's network: the decoder of this folder.
#include <cmath>
#include <utility>
#include <vector>

#include "apps/text/decoder.hpp"
#include "apps/text/network.hpp"

namespace polychron::text::detail {

namespace {

class GgufNetwork final : public Network {
 public:
  GgufNetwork(const Context& context, const GgufFile& file, DataType cache_type)
      : sizes_(file.header()),
        cache_type_(cache_type),
        weights_(read_weights(file, sizes_, context)) {}

  CacheSizes cache() const override { return cache_sizes(sizes_, cache_type_); }
  bool joins_chats() const override { return true; }
  Future<Graph> build(const Context& context, const NetworkShape& shape,
                      const std::string& label) const override {
    return build_decoder(context, sizes_, weights_, shape, cache_type_, label);
  }
  void drop_weights() override {
    auto embedding = std::move(weights_.embedding);
    weights_ = {};
    weights_.embedding = std::move(embedding);
  }
  void write(Context context, const NamedTensors& inputs,
             std::span<const StepRow> rows) const override {
    const std::size_t count = rows.size(), width = sizes_.width;
    std::vector<float> embedded(count * width);
    const auto turned = angles_descriptor(sizes_, static_cast<std::uint32_t>(count));
    std::vector<float> turns(*element_count(turned.shape));
    for (std::size_t i = 0; i < count; ++i) {
      weights_.embedding.row(rows[i].token, std::span(embedded).subspan(i * width, width));
      set_angles(turns, i, count, rows[i].position);
    }
    for (const auto& [name, tensor] : inputs)
      if (name == port::embedding)
        context.write_tensor(tensor, embedded);
      else if (name == port::angles)
        context.write_tensor(tensor, turns);
  }

 private:
  /// Cosines of all rows, then sines; of each base.
  void set_angles(std::span<float> to, std::size_t row, std::size_t rows,
                  std::uint32_t position) const {
    const std::size_t half = sizes_.features / 2;
    auto plane = to.subspan(row * half);
    for (const auto base : sizes_.bases)
      for (const bool is_sine : {false, true}) {
        for (std::size_t i = 0; i < half; ++i) {
          const auto angle =
              position * std::pow(base, -2.0 * static_cast<double>(i) / sizes_.features);
          plane[i] = static_cast<float>(is_sine ? std::sin(angle) : std::cos(angle));
        }
        plane = plane.subspan(std::min(plane.size(), rows * half));
      }
  }

  const DecoderSizes sizes_;
  const DataType cache_type_;
  DecoderWeights weights_;
};

}  // namespace

ModelFiles read_gguf_model(const Context& context, const std::filesystem::path& path,
                           std::optional<DataType> cache_type) {
  const GgufFile file(path);
  Tokenizer tokenizer(file.header());
  const auto chat = chat_template(file.header(), tokenizer);
  const auto length = DecoderSizes(file.header()).context;
  return {std::move(tokenizer), chat, length,
          std::make_unique<GgufNetwork>(context, file, cache_type.value_or(DataType::float32))};
}

}  // namespace polychron::text::detail
