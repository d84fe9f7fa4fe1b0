// What the library has to tell besides the errors of calls: to one callback, and nowhere else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace polychron {

enum class LogLevel : std::uint8_t {
  info,     ///< contexts come and go, graphs are compiled
  warning,  ///< something is not quite as was asked: what the importer warns of; a callback threw
  error     ///< a context is lost; an error that no error scope took
};

/// "info", "warning", "error".
std::string_view to_string(LogLevel level) noexcept;

struct LogRecord {
  LogLevel level = LogLevel::info;
  std::string source;   ///< "context 'main'", "runtime"
  std::string message;  ///< one line; names in it may come from files
};

}  // namespace polychron
