#include "apps/tool/report.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <new>
#include <utility>

#include "apps/tool/printable.hpp"
#include "polychron/error.hpp"

namespace tool {
namespace {

std::string program_name = "polychron";

ExitCode code_of(polychron::ErrorKind kind) {
  switch (kind) {
    case polychron::ErrorKind::type_error:
    case polychron::ErrorKind::not_supported:
    case polychron::ErrorKind::bad_data:
      return users_mistake;
    default:
      return internal_failure;
  }
}

std::pair<std::string, ExitCode> describe_exception() {
  try {
    throw;
  } catch (const UserError& error) {
    return {error.what(), users_mistake};
  } catch (const polychron::Error& error) {
    return {error.what(), code_of(error.root().kind())};
  } catch (const std::filesystem::filesystem_error& error) {
    return {"'" + error.path1().string() + "': " + error.code().message(), users_mistake};
  } catch (const std::bad_alloc&) {
    return {"out of memory", internal_failure};
  } catch (const std::exception& error) {
    return {std::string("internal error: ") + error.what(), internal_failure};
  }
}

}  // namespace

void name_program(const std::string& name) { program_name = name; }

void warn(std::string message) {
  constexpr std::size_t longest = 800, kept = 300;
  std::replace(message.begin(), message.end(), '\n', ' ');
  // Cut the middle: the end of the message says what is wrong.
  if (message.size() > longest) message.replace(kept, message.size() - 2 * kept, " [...] ");
  std::cerr << program_name << ": " << printable(message) << '\n';
}

ExitCode report(std::string message, ExitCode code) {
  warn(std::move(message));
  return code;
}

ExitCode report_exception(const std::string& about) {
  const auto [message, code] = describe_exception();
  return report(about + message, code);
}

std::string message_of_exception() { return describe_exception().first; }

}  // namespace tool
