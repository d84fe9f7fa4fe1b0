// Writes copies of sources with switches: make_switches FROM TO FILE... Every statement that may be
// left out, and every operand of a conjunction or disjunction, has a switch that takes it away. The
// text, which is clang-format's, shows where they are: a new rule has its switches without further
// work.
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

/// `text` with blanks for what comments and literals say.
std::string code_of(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0)
      while (i < text.size() && text[i] != '\n') text[i++] = ' ';
    else if (text[i] == '"')
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') text[i++] = ' ';
        text[i] = ' ';
      }
  }
  return text;
}

class Copy {
 public:
  Copy(std::string file, std::string text, std::vector<std::string>& switches)
      : file_(std::move(file)),
        text_(std::move(text)),
        code_(code_of(text_)),
        switches_(switches) {}

  std::string run() {
    statements();
    operands();
    returns();
    std::string copy = "#include \"tests/rules/switches/switches.hpp\"\n";
    std::size_t at = 0;
    for (const auto& [place, inserted] : inserted_) {
      copy += text_.substr(at, place - at) + inserted;
      at = place;
    }
    return copy + text_.substr(at);
  }

 private:
  std::string next_switch(std::size_t place, const std::string& what) {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<long>(place), '\n');
    switches_.push_back(file_ + ":" + std::to_string(line) + ": " + what);
    return "::polychron::rules::off == " + std::to_string(switches_.size());
  }
  std::string rest_of_line(std::size_t place) const {
    return text_.substr(place, text_.find('\n', place) - place);
  }

  /// Lines that begin a statement, after one that ends another: not such as declare something, and
  /// of those that return only what returns nothing.
  void statements() {
    static const std::regex expression(
        R"(^(\+\+)?[a-z_]\w*(::\w+)*((\.|->)\w+|\[[^\]]*\]|\(\))*(\(| (\||\+)?= |;).*)");
    static const std::regex returns_nothing(R"(^return \w+\(made.*)");
    char last = ';';
    for (std::size_t begin = 0; begin < code_.size();) {
      const auto end = std::min(code_.find('\n', begin), code_.size());
      auto line = code_.substr(begin, end - begin);
      const auto indent = std::min(line.find_first_not_of(' '), line.size());
      line = line.substr(indent);
      const auto place = begin + indent;
      begin = end + 1;
      if (line.empty() || line.front() == '#') continue;
      const bool starts = std::string(";{}:").find(last) != std::string::npos;
      const auto stop = line.find_last_not_of(' ');
      last = stop == std::string::npos ? last : line[stop];
      if (indent < 2 || !starts) continue;
      const bool chained = line.starts_with("else if (");
      const bool known = line.starts_with("if (") || line.starts_with("for (") || chained ||
                         std::regex_match(line, returns_nothing) ||
                         (std::regex_match(line, expression) && !line.starts_with("return") &&
                          !line.starts_with("break") && !line.starts_with("continue"));
      if (!known) continue;
      const std::size_t skipped = chained ? 5 : 0;
      const auto number = next_switch(place, "without `" + rest_of_line(place) + "`");
      inserted_[place + skipped] += "if (" + number + ") {} else ";
    }
  }

  /// The place where the first operand of a conjunction or disjunction begins, whose operator is at
  /// `place`; npos if another operator comes before.
  std::size_t first_operand(std::size_t place) const {
    int depth = 0;
    std::size_t i = place;
    while (i > 0) {
      const char c = code_[--i];
      if (c == ')' || c == ']') ++depth;
      if (c == '}') ++depth;
      if ((c == '(' || c == '[' || c == '{') && depth-- == 0) break;
      if (depth > 0) continue;
      const std::string two = code_.substr(i - 1, 2);
      if (two == "&&" || two == "||") return std::string::npos;
      if (c == ';' || c == ',' || c == '?') break;
      if (c == '=' && std::string("=!<>").find(code_[i - 1]) == std::string::npos &&
          code_[i + 1] != '=')
        break;
      if (code_.compare(i, 7, "return ") == 0) {
        i += 6;
        break;
      }
    }
    return code_.find_first_not_of(" \n", i + 1);
  }

  void operands() {
    for (std::size_t i = 1; i + 2 < code_.size(); ++i) {
      const auto two = code_.substr(i, 2);
      if ((two != "&&" && two != "||") || code_[i - 1] != ' ') continue;
      const auto second = code_.find_first_not_of(" \n", i + 2);
      take_away(second, two);
      const auto first = first_operand(i);
      if (first == std::string::npos) continue;
      // The second operand relies on the first.
      const auto name = code_.substr(first, i - 1 - first);
      const auto rest = code_.substr(i, code_.find(';', i) - i);
      if (rest.find(name + "->") == std::string::npos && rest.find("*" + name) == std::string::npos)
        take_away(first, two);
    }
  }
  void take_away(std::size_t place, const std::string& two) {
    const auto number = next_switch(place, "without the operand `" + rest_of_line(place) + "`");
    inserted_[place] += two == "&&" ? "::polychron::rules::TrueIf{" + number + "} | "
                                    : "::polychron::rules::FalseIf{" + number + "} & ";
  }

  /// Conditions of one operand.
  void returns() {
    static const std::regex one(R"(return ([^;&|]*( [=!]= |\.contains\(|told_\.\w+\()[^;&|]*);)");
    for (std::sregex_iterator it(code_.begin(), code_.end(), one), end; it != end; ++it) {
      if (it->str(1).find("(made") != std::string::npos) continue;  // a statement
      const auto place = static_cast<std::size_t>(it->position(1));
      const auto number = next_switch(place, "always true: `" + rest_of_line(place) + "`");
      inserted_[place] += "::polychron::rules::TrueIf{" + number + "} | ";
    }
  }

  const std::string file_, text_, code_;
  std::vector<std::string>& switches_;
  std::map<std::size_t, std::string> inserted_;
};

}  // namespace

int main(int count, char** arguments) {
  const std::string from = arguments[1], to = arguments[2];
  std::vector<std::string> switches;
  for (int i = 3; i < count; ++i) {
    std::ifstream in(from + "/" + arguments[i]);
    std::stringstream text;
    text << in.rdbuf();
    const auto name = std::string(arguments[i]);
    std::ofstream(to + "/" + name.substr(name.rfind('/') + 1))
        << Copy(name, text.str(), switches).run();
  }
  std::ofstream names(to + "/switches.cpp");
  names << "#include \"tests/rules/switches/switches.hpp\"\n\n"
           "const char* const polychron::rules::switches[] = {\n    nullptr,\n";
  for (const auto& text : switches) names << "    R\"~(" << text << ")~\",\n";
  names << "    nullptr};\n";
  return switches.empty() || !names ? 1 : 0;
}
