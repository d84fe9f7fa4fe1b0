// How the parts of calls and outcomes that are no plain values are written: by what they hold.
#pragma once

#include "messages/call.hpp"
#include "messages/wire.hpp"
#include "ops/attributes.hpp"

namespace polychron::msg::wire {

/// Those that the specification spells.
template <class E>
requires(!ops::spellings<E>.empty()) struct Enumeration<E> {
  static constexpr std::size_t count = ops::spellings<E>.size();
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
/// Which operators there are is for whoever compiles the graph.
template <>
struct Enumeration<ops::OpId> {
  static constexpr std::size_t count = std::size_t{1} << 16U;
};

inline void write_bytes(Writer& writer, std::span<const std::byte> bytes) {
  writer(std::uint64_t{bytes.size()});
  writer.raw(bytes.data(), bytes.size());
}
inline std::span<const std::byte> read_bytes(Reader& reader) { return reader.raw(reader.length()); }

/// A payload is its bytes. What is read owns them, and takes nothing of a budget.
template <>
struct Codec<PayloadRef> {
  static void write(Writer& writer, const PayloadRef& payload) {
    writer(payload != nullptr);
    if (payload) write_bytes(writer, payload->view());
  }
  static void read(Reader& reader, PayloadRef& payload) {
    bool there = false;
    reader(there);
    payload = there ? std::make_shared<Payload>(Buffer::copy_of(read_bytes(reader)), Reservation())
                    : nullptr;
  }
};

template <>
struct Codec<ops::ConstantBytes> {
  static void write(Writer& writer, const ops::ConstantBytes& constant) {
    writer(constant != nullptr);
    if (constant) write_bytes(writer, constant->bytes());
  }
  static void read(Reader& reader, ops::ConstantBytes& constant) {
    bool there = false;
    reader(there);
    constant =
        there ? std::make_shared<const Buffer>(Buffer::copy_of(read_bytes(reader))) : nullptr;
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

/// An error is its chain.
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
    constexpr int most = 64;  // of what was written: 17; of what an attacker makes up: no more
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
