#include "observe/recording/file.hpp"

#include <string>

#include "observe/recording/codec.hpp"
#include "observe/recording/names.hpp"

namespace polychron::recording {

namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += name + '\n';
  return text;
}

template <class T>
void append(std::vector<std::byte>& bytes, const T& value) {
  const auto before = bytes.size();
  bytes.resize(before + most_bytes(value));
  Encoder encoder(bytes.data() + before);
  encoder(value);
  bytes.resize(static_cast<std::size_t>(encoder.end() - bytes.data()));
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::vector<std::byte> file_of(const Store::Contents& contents, Time taken) {
  const auto& tables = names();
  const auto messages = joined(tables.messages), receivers = joined(tables.receivers),
             calls = joined(tables.calls), operations = joined(tables.operations),
             outcomes = joined(tables.outcomes), operators = joined(tables.operators);
  std::vector<std::byte> bytes;
  for (const char c : magic) bytes.push_back(static_cast<std::byte>(c));
  append(bytes, version);
  append(bytes, FileHead{contents.dropped, taken, messages, receivers, calls, operations, outcomes,
                         operators});
  for (const auto& [block, published] : contents.blocks)
    if (!published.empty()) append(bytes, FileBlock{block->thread, text_of(published)});
  return bytes;
}

std::optional<std::uint64_t> version_of(std::span<const std::byte> bytes) {
  if (bytes.size() < magic.size() || text_of(bytes.first(magic.size())) != magic)
    return std::nullopt;
  Decoder decoder(bytes.subspan(magic.size()));
  std::uint64_t its_version = 0;
  return decoder.read(its_version) ? std::optional(its_version) : std::nullopt;
}

std::optional<File> read_file(std::span<const std::byte> bytes) {
  if (version_of(bytes) != version) return std::nullopt;
  Decoder decoder(bytes.subspan(magic.size()));
  std::uint64_t its_version = 0;
  File file;
  if (!decoder.read(its_version) || !decoder.read(file.head)) return std::nullopt;
  while (!decoder.at_end())
    if (!decoder.read(file.blocks.emplace_back())) return std::nullopt;
  return file;
}

}  // namespace polychron::recording
