// Log records. The library passes them to one callback, RuntimeOptions::log, and prints nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace polychron {

/// The severity of a record, in ascending order, for RuntimeOptions::log_level.
enum class LogLevel : std::uint8_t {
  info,     ///< contexts come and go, graphs are compiled, operations miss their deadlines
  warning,  ///< a deviation: an importer's warning; a callback threw
  error     ///< a context is lost; an error that no scope took
};

/// "info", "warning", "error".
std::string_view to_string(LogLevel level) noexcept;

/// One record, as RuntimeOptions::log receives it.
struct LogRecord {
  LogLevel level = LogLevel::info;  ///< at least RuntimeOptions::log_level
  std::string source;               ///< "context 'main'", "runtime"
  std::string message;              ///< one line; names in it may come from files
};

}  // namespace polychron
