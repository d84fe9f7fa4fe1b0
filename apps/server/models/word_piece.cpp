#include "models/word_piece.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <boost/json/parse.hpp>
#include <optional>

#include "protocol/refusal.hpp"

namespace polychron::server {

namespace {

namespace json = boost::json;

constexpr std::int64_t most_token_number = 1 << 24;
constexpr std::size_t most_added = 1024, longest_added = 256, most_characters = 1000;

[[noreturn]] void unsupported_tokenizer(const std::string& what) {
  throw Error(ErrorKind::not_supported, "tokenizer.json: " + what + " is not supported");
}

std::string view_text(const json::string& text) { return {text.data(), text.size()}; }

/// A member; null where it is absent or null, or `value` is no object.
const json::value* member(const json::value* value, std::string_view name) {
  const auto* object = value ? value->if_object() : nullptr;
  const auto* found =
      object ? object->if_contains(json::string_view(name.data(), name.size())) : nullptr;
  return found && !found->is_null() ? found : nullptr;
}

std::string string_member(const json::value* value, std::string_view name) {
  const auto* found = member(value, name);
  const auto* text = found ? found->if_string() : nullptr;
  return text ? view_text(*text) : std::string();
}

bool flag_member(const json::value* value, std::string_view name, bool absent) {
  const auto* found = member(value, name);
  const auto* flag = found ? found->if_bool() : nullptr;
  return flag ? *flag : absent;
}

std::uint32_t token_number(const json::value& value) {
  const auto* number = value.if_int64();
  if (!number || *number < 0 || *number >= most_token_number)
    bad_data("tokenizer.json: a token's number is not from 0 to " +
             std::to_string(most_token_number - 1));
  return static_cast<std::uint32_t>(*number);
}

/// Throws unless the part is of this type.
void expect_type(const json::value* part, const char* name, std::string_view expected) {
  const auto type = string_member(part, "type");
  if (type != expected) unsupported_tokenizer(std::string(name) + " '" + printable(type, 40) + "'");
}

/// Unicode's White_Space.
bool is_white(std::int32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13);
  const auto category = utf8proc_category(code);
  return code == 0x85 || category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool is_punctuation(std::int32_t code) {
  if (code < 0x80)
    return (code >= '!' && code <= '/') || (code >= ':' && code <= '@') ||
           (code >= '[' && code <= '`') || (code >= '{' && code <= '~');
  const auto category = utf8proc_category(code);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

/// Characters that are left out: those that nobody sees.
bool is_control(std::int32_t code) {
  if (code == '\t' || code == '\n' || code == '\r') return false;
  if (code < 0x80) return code < 0x20 || code == 0x7f;
  const auto category = utf8proc_category(code);
  return code == 0xfffd || category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CO;
}

/// The blocks that BERT's own tokenizer lists: each character is a word.
bool is_chinese(std::int32_t code) {
  constexpr std::pair<std::int32_t, std::int32_t> blocks[] = {
      {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},   {0x20000, 0x2a6df},
      {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};
  return code >= 0x3400 && std::ranges::any_of(blocks, [&](const auto& block) {
           return code >= block.first && code <= block.second;
         });
}

}  // namespace

// -- the file ---------------------------------------------------------------------------------

class WordPiece::Reader {
 public:
  Reader(WordPiece& made, const json::value& root) : made_(made), root_(&root) {}

  void read() {
    read_normalizer();
    expect_type(member(root_, "pre_tokenizer"), "the pre_tokenizer", "BertPreTokenizer");
    read_vocabulary();
    read_added();
    read_ends();
    if (const auto* most = member(member(root_, "truncation"), "max_length"))
      made_.longest_ = token_number(*most);
  }

 private:
  void read_normalizer() {
    const auto* normalizer = member(root_, "normalizer");
    expect_type(normalizer, "the normalizer", "BertNormalizer");
    made_.cleans_ = flag_member(normalizer, "clean_text", true);
    made_.cuts_chinese_ = flag_member(normalizer, "handle_chinese_chars", true);
    made_.lowers_ = flag_member(normalizer, "lowercase", true);
    made_.strips_accents_ = flag_member(normalizer, "strip_accents", made_.lowers_);
  }

  void read_vocabulary() {
    const auto* model = member(root_, "model");
    expect_type(model, "the model", "WordPiece");
    const auto* all = member(model, "vocab");
    const auto* vocabulary = all ? all->if_object() : nullptr;
    if (!vocabulary || vocabulary->empty()) bad_data("tokenizer.json: it has no vocabulary");
    const auto prefix = string_member(model, "continuing_subword_prefix");
    if (prefix.empty()) unsupported_tokenizer("a model without continuing_subword_prefix");
    if (const auto* most = member(model, "max_input_chars_per_word"))
      made_.longest_word_ = token_number(*most);
    if (made_.longest_word_ > most_characters)
      unsupported_tokenizer("words of " + std::to_string(made_.longest_word_) + " characters");
    for (const auto& [key, value] : *vocabulary) {
      const std::string_view name(key.data(), key.size());
      const auto number = token_number(value);
      made_.size_ = std::max(made_.size_, number + 1);
      made_.longest_piece_ = std::max(made_.longest_piece_, name.size());
      // A word may begin with the prefix's characters, too.
      made_.beginnings_.emplace(name, number);
      if (name.starts_with(prefix))
        made_.continuations_.emplace(name.substr(prefix.size()), number);
    }
    made_.unknown_ = named(string_member(model, "unk_token"));
    const auto padding = made_.beginnings_.find("[PAD]");
    made_.padding_ = padding == made_.beginnings_.end() ? 0 : padding->second;
  }

  void read_added() {
    const auto* all = member(root_, "added_tokens");
    const auto* list = all ? all->if_array() : nullptr;
    if (!list) return;
    if (list->size() > most_added)
      unsupported_tokenizer("a number of " + std::to_string(list->size()) + " added_tokens");
    for (const auto& each : *list) {
      const auto name = string_member(&each, "content");
      const auto* id = member(&each, "id");
      if (name.empty() || name.size() > longest_added || !id)
        bad_data("tokenizer.json: an added token needs an id, and a content of at most " +
                 std::to_string(longest_added) + " bytes");
      for (const auto* const flag : {"single_word", "lstrip", "rstrip", "normalized"})
        if (flag_member(&each, flag, false))
          unsupported_tokenizer("the added token '" + printable(name, 40) + "' with '" + flag +
                                "'");
      const auto number = token_number(*id);
      made_.size_ = std::max(made_.size_, number + 1);
      made_.longest_added_ = std::max(made_.longest_added_, name.size());
      made_.added_.emplace(name, number);
      made_.added_begin_ += name.front();
    }
  }

  /// What stands around each text.
  void read_ends() {
    const auto* ends = member(root_, "post_processor");
    if (!ends) return;
    if (string_member(ends, "type") == "BertProcessing") {
      made_.first_ = {pair_member(ends, "cls")};
      made_.last_ = {pair_member(ends, "sep")};
      return;
    }
    expect_type(ends, "the post_processor", "TemplateProcessing");
    const auto* single = member(ends, "single");
    const auto* list = single ? single->if_array() : nullptr;
    if (!list || list->size() > most_added)
      bad_data("tokenizer.json: the post_processor has no template of one text");
    bool is_behind = false;
    for (const auto& each : *list) {
      if (member(&each, "Sequence")) {
        if (is_behind) unsupported_tokenizer("a template with the text twice");
        is_behind = true;
        continue;
      }
      const auto name = string_member(member(&each, "SpecialToken"), "id");
      const auto* ids = member(member(member(ends, "special_tokens"), name), "ids");
      const auto* numbers = ids ? ids->if_array() : nullptr;
      if (!numbers || numbers->size() != 1)
        bad_data("tokenizer.json: the template's token '" + printable(name, 40) +
                 "' has no number");
      (is_behind ? made_.last_ : made_.first_).push_back(checked(numbers->front()));
    }
  }

  /// ["[SEP]", 102]
  std::uint32_t pair_member(const json::value* value, std::string_view name) const {
    const auto* found = member(value, name);
    const auto* pair = found ? found->if_array() : nullptr;
    if (!pair || pair->size() != 2)
      bad_data("tokenizer.json: '" + std::string(name) + "' is no pair of a name and a number");
    return checked(pair->back());
  }
  std::uint32_t checked(const json::value& value) const {
    const auto number = token_number(value);
    if (number >= made_.size_)
      bad_data("tokenizer.json: " + std::to_string(number) + " is no token");
    return number;
  }
  std::uint32_t named(const std::string& name) const {
    const auto found = made_.beginnings_.find(name);
    if (found == made_.beginnings_.end())
      bad_data("tokenizer.json: the unk_token '" + printable(name, 40) +
               "' is not in the vocabulary");
    return found->second;
  }

  WordPiece& made_;
  const json::value* root_;
};

WordPiece::WordPiece(std::string_view text) {
  json::error_code failed;
  const auto root = json::parse({text.data(), text.size()}, failed);
  if (failed) bad_data("tokenizer.json: not JSON: " + failed.message());
  Reader(*this, root).read();
}

// -- texts ------------------------------------------------------------------------------------

/// Takes characters one by one, so that a text takes no memory besides its tokens and a word.
class WordPiece::Writer {
 public:
  Writer(const WordPiece& of, std::size_t most) : of_(of), most_(most) {}

  bool full() const { return tokens_.size() >= most_; }
  void add_token(std::uint32_t token) {
    if (!full()) tokens_.push_back(token);
  }
  void add_text(std::string_view text) {
    while (!text.empty() && !full()) {
      std::int32_t code = 0;
      const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
      auto size = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &code);
      if (size < 1) {
        code = 0xfffd;
        size = 1;
      }
      text.remove_prefix(static_cast<std::size_t>(size));
      add(code);
    }
    end_word();
  }
  TokenIds take() { return std::move(tokens_); }

 private:
  void add(std::int32_t code) {
    if (of_.cleans_ && (code == 0xfffd || is_control(code))) return;
    const bool is_word = of_.cuts_chinese_ && is_chinese(code);
    if (is_word) end_word();
    if (!of_.strips_accents_ || code < 0x80)
      add_lower(code);
    else
      add_stripped(code);
    if (is_word) end_word();
  }
  /// Its canonical decomposition, without the marks that combine with a letter.
  void add_stripped(std::int32_t code) {
    std::array<utf8proc_int32_t, 8> parts{};
    int last_class = UTF8PROC_BOUNDCLASS_START;
    const auto size =
        utf8proc_decompose_char(code, parts.data(), parts.size(), UTF8PROC_DECOMPOSE, &last_class);
    for (std::size_t i = 0; i < parts.size() && std::cmp_less(i, size); ++i)
      if (utf8proc_category(parts[i]) != UTF8PROC_CATEGORY_MN) add_lower(parts[i]);
  }
  void add_lower(std::int32_t code) {
    if (!of_.lowers_) return add_normal(code);
    if (code != 0x130) return add_normal(utf8proc_tolower(code));
    add_normal('i');  // the one character whose small form is two
    add_normal(0x307);
  }
  void add_normal(std::int32_t code) {
    if (is_white(code)) return end_word();
    const bool is_word = is_punctuation(code);
    if (is_word) end_word();
    std::array<utf8proc_uint8_t, 4> bytes{};
    const auto size = utf8proc_encode_char(code, bytes.data());
    // The characters of a word that is too long are only counted.
    if (characters_++ < of_.longest_word_)
      word_.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(size));
    if (is_word) end_word();
  }

  /// The longest piece that fits, again and again. A word with a part that is in no piece is
  /// unknown as a whole.
  void end_word() {
    if (characters_ == 0) return;
    const auto before = tokens_.size();
    std::string_view rest = word_;
    bool known = characters_ <= of_.longest_word_;
    while (known && !rest.empty()) {
      const auto& pieces = rest.size() == word_.size() ? of_.beginnings_ : of_.continuations_;
      auto size = std::min(rest.size(), of_.longest_piece_);
      auto piece = pieces.end();
      for (; size > 0 && piece == pieces.end(); --size) piece = pieces.find(rest.substr(0, size));
      known = piece != pieces.end();
      if (!known) break;
      tokens_.push_back(piece->second);
      rest.remove_prefix(size + 1);
    }
    if (!known) {
      tokens_.resize(before);
      tokens_.push_back(of_.unknown_);
    }
    if (tokens_.size() > most_) tokens_.resize(most_);
    word_.clear();
    characters_ = 0;
  }

  const WordPiece& of_;
  const std::size_t most_;
  TokenIds tokens_;
  std::string word_;
  std::size_t characters_ = 0;
};

TokenIds WordPiece::encode(std::string_view text, std::size_t most) const {
  const auto around = first_.size() + last_.size();
  Writer writer(*this, most - std::min(most, around));
  std::size_t begin = 0;  // of the text since the last added token
  for (std::size_t at = 0; !writer.full();) {
    at = text.find_first_of(added_begin_, at);
    if (at == std::string_view::npos) break;
    auto size = std::min(longest_added_, text.size() - at);
    auto found = added_.end();
    for (; size > 0 && found == added_.end(); --size) found = added_.find(text.substr(at, size));
    if (found == added_.end()) {
      ++at;
      continue;
    }
    writer.add_text(text.substr(begin, at - begin));
    writer.add_token(found->second);
    begin = at += size + 1;
  }
  writer.add_text(text.substr(begin));
  auto tokens = writer.take();
  tokens.insert(tokens.begin(), first_.begin(), first_.end());
  tokens.insert(tokens.end(), last_.begin(), last_.end());
  return tokens;
}

}  // namespace polychron::server
