// What the library has to tell besides the errors of calls: to one callback, and nowhere else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace polychron {

/// How much a record matters; what RuntimeOptions::log_level compares.
enum class LogLevel : std::uint8_t {
  info,     ///< contexts come and go, graphs are compiled, operations miss their deadlines
  warning,  ///< something is not quite as was asked: what the importer warns of; a callback threw
  error     ///< a context is lost; an error that no error scope took
};

/// "info", "warning", "error".
std::string_view to_string(LogLevel level) noexcept;

/// One thing to tell, as RuntimeOptions::log hears it.
struct LogRecord {
  LogLevel level = LogLevel::info;  ///< at least RuntimeOptions::log_level
  std::string source;               ///< "context 'main'", "runtime"
  std::string message;              ///< one line; names in it may come from files
};

}  // namespace polychron
