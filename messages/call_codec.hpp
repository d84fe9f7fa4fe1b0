// Serializes the parts of calls and outcomes that are not plain values, by their content.
#pragma once

#include "messages/call.hpp"
#include "messages/wire.hpp"
#include "polychron/attribute_fields.hpp"

namespace polychron::msg::wire {

/// Enumerations that have a name in the specification.
template <class E>
requires(!spellings<E>.empty()) struct Enumeration<E> {
  static constexpr std::size_t count = spellings<E>.size();
};
template <>
struct Enumeration<ErrorFilter> {
  static constexpr std::size_t count = 3;
};
template <>
struct Enumeration<LeaseMode> {
  static constexpr std::size_t count = 2;
};
template <>
struct Enumeration<ErrorKind> {
  static constexpr std::size_t count = 12;
};
template <>
struct Enumeration<ops::Value::Kind> {
  static constexpr std::size_t count = 3;
};
/// The compiler, not the codec, checks that the operator exists.
template <>
struct Enumeration<ops::OpId> {
  static constexpr std::size_t count = std::size_t{1} << 16U;
};

/// The part of contents that is kept.
enum class Kept : std::uint8_t { nothing, bytes, size };
template <>
struct Enumeration<Kept> {
  static constexpr std::size_t count = 3;
};

/// `contents`: nullopt if there are none.
inline void write_contents(Writer& writer, std::optional<std::span<const std::byte>> contents) {
  if (!contents) return writer(Kept::nothing);
  writer(writer.contents ? Kept::bytes : Kept::size);
  writer(std::uint64_t{contents->size()});
  if (writer.contents) writer.raw(contents->data(), contents->size());
}
inline std::optional<Buffer> read_contents(Reader& reader) {
  Kept kept{};
  reader(kept);
  switch (kept) {
    case Kept::nothing:
      return std::nullopt;
    case Kept::bytes:
      return Buffer::copy_of(reader.raw(reader.length()));
    case Kept::size:
      break;
  }
  return Buffer(reader.zeros());
}

/// A payload is written as its bytes. If the caller still owns the bytes, it may leave with them,
/// so only their number is written. A payload that is read owns its bytes, and takes nothing from a
/// budget.
template <>
struct Codec<PayloadRef> {
  static void write(Writer& writer, const PayloadRef& payload) {
    const bool contents = writer.contents;
    if (payload && payload->meeting) writer.contents = false;
    write_contents(writer, payload ? std::optional(payload->view()) : std::nullopt);
    writer.contents = contents;
  }
  static void read(Reader& reader, PayloadRef& payload) {
    auto bytes = read_contents(reader);
    payload = bytes ? std::make_shared<Payload>(std::move(*bytes), Reservation()) : nullptr;
  }
};

template <>
struct Codec<ops::ConstantBytes> {
  static void write(Writer& writer, const ops::ConstantBytes& constant) {
    write_contents(writer, constant ? std::optional(constant->bytes()) : std::nullopt);
  }
  static void read(Reader& reader, ops::ConstantBytes& constant) {
    auto bytes = read_contents(reader);
    constant = bytes ? std::make_shared<const Buffer>(std::move(*bytes)) : nullptr;
  }
};

template <>
struct Codec<std::shared_ptr<const ops::Graph>> {
  static void write(Writer& writer, const std::shared_ptr<const ops::Graph>& graph) {
    writer(graph != nullptr);
    if (graph) writer(*graph);
  }
  static void read(Reader& reader, std::shared_ptr<const ops::Graph>& graph) {
    bool there = false;
    reader(there);
    if (!there) return graph.reset();
    auto description = std::make_shared<ops::Graph>();
    reader(*description);
    graph = std::move(description);
  }
};

/// An error is written as its chain.
template <>
struct Codec<Error> {
  static void write(Writer& writer, const Error& error) {
    writer(error.kind());
    writer(error.message());
    writer(error.operation());
    writer(error.label());
    writer(error.ticket());
    writer(error.object());
    writer(error.ran());
    writer(error.cause() != nullptr);
    if (error.cause() != nullptr) write(writer, *error.cause());
  }
  static void read(Reader& reader, Error& error) { error = read(reader, 0); }

 private:
  static Error read(Reader& reader, int depth) {
    constexpr int most = 64;  // written chains have at most 17; bounds forged ones
    if (depth > most) Reader::malformed();
    ErrorKind kind{};
    std::string message, operation, label, object;
    std::uint64_t ticket = 0;
    bool ran = true, caused = false;
    reader(kind);
    reader(message);
    reader(operation);
    reader(label);
    reader(ticket);
    reader(object);
    reader(ran);
    reader(caused);
    auto error = Error(kind, std::move(message))
                     .with_operation(std::move(operation), std::move(label), ticket)
                     .with_object(std::move(object));
    if (!ran) error = error.not_run();
    return caused ? error.caused_by(read(reader, depth + 1)) : error;
  }
};

}  // namespace polychron::msg::wire
