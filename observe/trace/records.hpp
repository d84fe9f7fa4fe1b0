// The records of a recording, all pieces of it together, by kind and in order of time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "observe/recording/file.hpp"

namespace polychron::trace {

struct ObjectKey {
  std::uint64_t context = 0;
  bool graph = false;
  std::uint64_t id = 0;
  auto operator<=>(const ObjectKey&) const = default;
};
struct ObjectName {
  std::string label;
  std::uint64_t actor = 0, bytes = 0;
};

template <class R>
struct OfThread {
  std::uint64_t thread = 0;
  R record;
};

struct Records {
  struct Context {
    std::string label;
    std::uint32_t lanes = 1;
  };
  std::map<std::uint64_t, Context> contexts;
  std::map<std::uint64_t, std::string> threads;  ///< names of those that have one
  std::map<ObjectKey, ObjectName> objects;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<std::string>> plans;
  std::vector<recording::ActorBegan> began;
  std::vector<recording::ActorEnded> ended;
  std::vector<OfThread<recording::Sent>> sent;
  std::vector<recording::Handled> handled;
  std::vector<recording::Carried> carried;
  std::vector<recording::StepsTaken> steps;
  std::vector<recording::Called> called;  ///< of each context in the order in which it took them
  std::vector<recording::Answered> answered;
  std::vector<recording::GivenBack> given_back;
  std::vector<recording::Rejected> rejected;
  std::vector<recording::Lost> lost;
  std::vector<recording::Unheard> unheard;
  std::vector<OfThread<recording::CallerWaited>> caller_waits;
  /// By this library's numbers (observe/recording/kinds.hpp); behind its own what only the file
  /// has.
  std::vector<std::string> messages, receivers, calls, operations, outcomes;
  std::vector<std::string> operators;  ///< by the file's numbers
  std::vector<std::string> unknown;    ///< kinds that this library does not have
  std::uint64_t dropped = 0;
  bool gaps = false;  ///< a context was left out at times
  std::int64_t first = 0, taken = 0;
};

/// Texts in the records lie in `bytes`. Throws bad_data.
Records read_records(std::span<const std::byte> bytes);

/// "dispatch" of number 1, which the file's tables know; "" of 0.
inline const std::string& name_in(const std::vector<std::string>& table, std::size_t number) {
  static const std::string none;
  return number == 0 || number > table.size() ? none : table[number - 1];
}

}  // namespace polychron::trace
