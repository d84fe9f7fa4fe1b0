// Damaged GGUF files through the reader, the tokenizer and the sizes of a decoder: tensors that lie
// in the file, tokens that exist, or a reason. Weights are not read: their sizes are checked here.
#include "apps/text/gguf.hpp"

#include <span>
#include <string_view>

#include "apps/text/tokenizer.hpp"
#include "apps/text/weights.hpp"
#include "polychron/error.hpp"
#include "tests/fuzz/site.hpp"

using namespace polychron::text::detail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  try {
    const auto file = Gguf::parse(std::as_bytes(std::span(bytes, count)), count);
    for (const auto& [name, tensor] : file.tensors)
      if (tensor.offset > count || tensor.bytes > count - tensor.offset || tensor.weights() == 0)
        fuzz::finding("a tensor behind the end of the file");
    const Tokenizer tokenizer(file);
    for (const auto token :
         tokenizer.encode({{"Hello  world's 12 \xe4\xb8\xad <|im_end|>", true}, {"<|im_end|>"}}))
      if (token >= tokenizer.size()) fuzz::finding("a token that does not exist");
    static_cast<void>(DecoderSizes(file));
  } catch (const polychron::Error& refusal) {
    if (std::string_view(refusal.what()).find('\n') != std::string_view::npos)
      fuzz::finding("a refusal of several lines");
    if (refusal.kind() == polychron::ErrorKind::internal) fuzz::finding("a broken invariant");
  }
  return 0;
}
