// Damaged tokenizer.json files, with others beside them: a tokenizer whose tokens exist, or a
// reason. The input is the texts of the files, with a byte of zero between them.
#include "apps/text/tokenizer.hpp"

#include <string_view>

#include "apps/text/chat.hpp"
#include "apps/text/side_files.hpp"
#include "polychron/error.hpp"
#include "tests/fuzz/site.hpp"

using namespace polychron::text::detail;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  std::string_view left(reinterpret_cast<const char*>(bytes), count);
  SideTexts texts;
  for (auto* const text : {&texts.tokenizer, &texts.tokenizer_config, &texts.config,
                           &texts.generation_config, &texts.genai_config}) {
    const auto end = left.find('\0');
    *text = left.substr(0, end);
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
  }
  try {
    const auto files = parse_side_files(texts);
    const Tokenizer tokenizer(files.metadata, files.ends);
    static_cast<void>(chat_template(files.metadata, tokenizer));
    for (const auto token :
         tokenizer.encode({{"Hello  world's 12 \xe4\xb8\xad <|im_end|>", true}, {"<|im_end|>"}}))
      if (token >= tokenizer.size()) fuzz::finding("a token that does not exist");
    if (files.context_length == 0) fuzz::finding("a context without tokens");
  } catch (const polychron::Error& refusal) {
    if (std::string_view(refusal.what()).find('\n') != std::string_view::npos)
      fuzz::finding("a refusal of several lines");
    if (refusal.kind() == polychron::ErrorKind::internal) fuzz::finding("a broken invariant");
  }
  return 0;
}
