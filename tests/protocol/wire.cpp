// Calls and outcomes as bytes: every alternative comes back with all its fields, and arbitrary
// bytes give an Error or a value, never more. An alternative without a sample here does not
// compile. A field that its sample leaves at its default fails.
#include <sys/resource.h>

#include <fstream>
#include <random>

#include "messages/call_codec.hpp"
#include "messages/outcome.hpp"
#include "polychron/attribute_fields.hpp"
#include "tests/protocol/fixture.hpp"

using namespace polychron;
using namespace polychron::testing;
using msg::Call;
using msg::Outcome;
using Bytes = std::vector<std::byte>;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// Equality of whatever is written, field by field.
struct Same {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    if constexpr (msg::wire::Scalar<T>)
      return a == b;
    else if constexpr (msg::wire::Sequence<T>)
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), *this);
    else
      return msg::with_fields(a, [&](const auto&... x) {
        return msg::with_fields(b, [&](const auto&... y) { return ((*this)(x, y) && ...); });
      });
  }
  template <class... Ts>
  bool operator()(const std::variant<Ts...>& a, const std::variant<Ts...>& b) const {
    return a.index() == b.index() &&
           std::visit([&]<class T>(const T& x) { return (*this)(x, std::get<T>(b)); }, a);
  }
  bool operator()(std::monostate, std::monostate) const { return true; }
  template <class T>
  bool operator()(const std::optional<T>& a, const std::optional<T>& b) const {
    return a.has_value() == b.has_value() && (!a || (*this)(*a, *b));
  }
  template <class A, class B>
  bool operator()(const std::pair<A, B>& a, const std::pair<A, B>& b) const {
    return (*this)(a.first, b.first) && (*this)(a.second, b.second);
  }
  bool operator()(msg::Clock::time_point a, msg::Clock::time_point b) const { return a == b; }
  template <class T>
  bool operator()(const std::shared_ptr<T>& a, const std::shared_ptr<T>& b) const {
    return (a == nullptr) == (b == nullptr) && (a == nullptr || (*this)(*a, *b));
  }
  bool operator()(const msg::Payload& a, const msg::Payload& b) const {
    return std::ranges::equal(a.view(), b.view());
  }
  bool operator()(const Buffer& a, const Buffer& b) const {
    return std::ranges::equal(a.bytes(), b.bytes());
  }
  bool operator()(const Error& a, const Error& b) const {
    return a.kind() == b.kind() && a.message() == b.message() && a.operation() == b.operation() &&
           a.label() == b.label() && a.ticket() == b.ticket() && a.object() == b.object() &&
           a.ran() == b.ran() && std::string(a.what()) == b.what() &&
           (a.cause() == nullptr) == (b.cause() == nullptr) &&
           (a.cause() == nullptr || (*this)(*a.cause(), *b.cause()));
  }
};
constexpr Same same{};

/// Takes every field of an attribute struct off its default.
struct Change {
  std::uint32_t& turn;
  void operator()(std::uint32_t& x) const { x += 7; }
  void operator()(std::int32_t& x) const { x -= 70'000; }
  void operator()(double& x) const { x -= 0.375; }
  void operator()(float& x) const { x -= 0.375F; }
  void operator()(bool& x) const { x = !x; }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(E& x) const { x = static_cast<E>(static_cast<int>(x) == 0 ? 1 : 0); }
  template <class T>
  void operator()(std::vector<T>& x) const {
    T changed{};
    (*this)(changed);
    x.push_back(changed);
    x.push_back(T{});
  }
  void operator()(Number& x) const {
    switch (turn++ % 3) {
      case 0:
        x = std::uint64_t{0xffff'ffff'ffff'fff0};
        break;
      case 1:
        x = std::int64_t{-9'007'199'254'740'993};
        break;
      default:
        x = -0.1;
    }
  }
  template <class T>
  void operator()(std::optional<T>& x) const {
    (*this)(x.emplace());
  }
  void operator()(std::monostate&) const {}
};

msg::PayloadRef payload(std::string_view text) {
  return std::make_shared<msg::Payload>(Buffer::copy_of(bytes_of(text)), msg::Reservation());
}
msg::Deadline deadline() { return msg::Clock::time_point(std::chrono::nanoseconds(-123'456'789)); }

Error chain(int links) {
  auto error = Error(ErrorKind::out_of_memory, "no memory").with_object("graph 'root'");
  for (int i = 1; i < links; ++i)
    error = Error(ErrorKind::operation_error, "link " + std::to_string(i))
                .with_operation("dispatch", "l" + std::to_string(i), 40U + unsigned(i))
                .with_object("tensor 'x'")
                .not_run()
                .caused_by(error);
  return error;
}

/// Two nodes for each kind of attributes, with the defaults and with none of them.
std::shared_ptr<const ops::Graph> description() {
  auto graph = std::make_shared<ops::Graph>();
  graph->label = "a \"graph\"";
  using Kind = ops::Value::Kind;
  auto constant =
      std::make_shared<const Buffer>(Buffer::copy_of(bytes_of(std::string_view("12\0\xff!", 5))));
  graph->values.push_back({Kind::input, {DataType::float16, {2, 3}}, nullptr, false});
  graph->values.push_back({Kind::constant, {DataType::uint8, {5}}, std::move(constant), true});
  graph->values.push_back({Kind::result, {DataType::int64, {}}, nullptr, false});
  std::uint32_t turn = 0;
  for (std::size_t i = 0; i < std::variant_size_v<Attributes>; ++i) {
    auto attributes = default_attributes(i);
    graph->nodes.push_back({ops::OpId(i + 1), {0, ops::no_value}, {2}, attributes, ""});
    std::visit(
        [&](auto& fields) {
          msg::with_fields(fields, [&](auto&... field) { (Change{turn}(field), ...); });
        },
        attributes);
    graph->nodes.push_back({ops::OpId(i + 1), {0, 1, 2}, {}, attributes, "n" + std::to_string(i)});
  }
  graph->inputs = {{"in", 0}};
  graph->outputs = {{"", 2}, {"again", 2}};
  return graph;
}

// One sample of every alternative, with no field at its default.
using std::type_identity;
auto sample(type_identity<msg::CreateTensor>) {
  return msg::CreateTensor{1, "t", 1ULL << 40U, payload("constant")};
}
auto sample(type_identity<msg::WriteTensor>) {
  return msg::WriteTensor{2, payload(std::string_view("\0payload\xff", 9)), "w", deadline()};
}
auto sample(type_identity<msg::ReadTensor>) { return msg::ReadTensor{3}; }
auto sample(type_identity<msg::QueryError>) { return msg::QueryError{~msg::TensorId{0}}; }
auto sample(type_identity<msg::LendTensor>) { return msg::LendTensor{5, 6, LeaseMode::fail}; }
auto sample(type_identity<msg::ReturnLease>) { return msg::ReturnLease{7, 8}; }
auto sample(type_identity<msg::DestroyTensor>) { return msg::DestroyTensor{9}; }
auto sample(type_identity<msg::Dispatch>) {
  return msg::Dispatch{10, {1, 2, 3, 4, 5, 6}, {7}, "d", deadline(), msg::Report{chain(3)}};
}
auto sample(type_identity<msg::Compute>) { return msg::Compute{11, "c", deadline()}; }
auto sample(type_identity<msg::Build>) { return msg::Build{12, description(), true}; }
auto sample(type_identity<msg::DestroyGraph>) { return msg::DestroyGraph{13}; }
auto sample(type_identity<msg::Report>) { return msg::Report{chain(3)}; }
auto sample(type_identity<msg::PushScope>) { return msg::PushScope{ErrorFilter::internal}; }
auto sample(type_identity<msg::PopScope>) { return msg::PopScope{}; }
auto sample(type_identity<msg::SetErrorHandler>) { return msg::SetErrorHandler{}; }
auto sample(type_identity<msg::AskPending>) { return msg::AskPending{}; }
auto sample(type_identity<msg::DestroyContext>) { return msg::DestroyContext{}; }
auto sample(type_identity<msg::Ready>) { return msg::Ready{}; }
auto sample(type_identity<msg::Errored>) { return msg::Errored{chain(17)}; }
auto sample(type_identity<msg::Invalid>) { return msg::Invalid{chain(1)}; }
auto sample(type_identity<msg::Released>) { return msg::Released{}; }

/// Calls `f` with a sample of each alternative of variant V.
template <class V, class F>
void for_each_sample(F f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f(sample(type_identity<std::variant_alternative_t<I, V>>{})), ...);
  }
  (std::make_index_sequence<std::variant_size_v<V>>{});
}

template <class V>
std::vector<Bytes> all_samples() {
  std::vector<Bytes> written;
  for_each_sample<V>([&](auto value) { written.push_back(msg::wire::to_bytes(V(value))); });
  return written;
}

/// The error in reading V from these bytes: the result must be what they say, or bad_data.
template <class V>
std::string fault_of(const Bytes& bytes) {
  try {
    auto read = msg::wire::from_bytes<V>(bytes);
    if (!read) return read.error().kind() == ErrorKind::bad_data ? "" : read.error().what();
    return msg::wire::to_bytes(*read) == bytes ? "" : "a value that is not what was written";
  } catch (const std::exception& e) {
    return std::string("it throws: ") + e.what();
  }
}

/// While it lives, this process cannot have `more` bytes of memory than it has.
class Ceiling {
 public:
  explicit Ceiling([[maybe_unused]] std::size_t more) {
    getrlimit(RLIMIT_AS, &before_);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, pages * 4096 + more);
    setrlimit(RLIMIT_AS, &limit);
#endif
  }
  ~Ceiling() { setrlimit(RLIMIT_AS, &before_); }
  Ceiling(const Ceiling&) = delete;
  Ceiling& operator=(const Ceiling&) = delete;

 private:
  rlimit before_{};
};
constexpr std::size_t little = 32U << 20U;

template <class V>
void check_every_alternative() {
  for_each_sample<V>([]<class T>(const T& value) {
    BOOST_TEST_CONTEXT(T::name) {
      int field = 0;
      const T usual{};
      const auto differ = [&field](const auto& x, const auto& y) {
        BOOST_TEST(!same(x, y), "field " << field << " of the sample is a default");
        ++field;
      };
      msg::with_fields(value, [&](const auto&... x) {
        msg::with_fields(usual, [&](const auto&... y) {
          static_cast<void>(differ);  // of what has no fields
          (differ(x, y), ...);
        });
      });
      for (const auto& written : {V(value), V(usual)}) {
        auto read = msg::wire::from_bytes<V>(msg::wire::to_bytes(written));
        BOOST_TEST_REQUIRE(read.has_value());
        BOOST_TEST_REQUIRE(std::holds_alternative<T>(*read));
        BOOST_TEST(same(*read, written));
      }
    }
  });
}

template <class V>
void check_truncated() {
  for (const auto& whole : all_samples<V>()) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      auto read = msg::wire::from_bytes<V>(std::span(whole).first(size));
      const bool refused = !read && read.error().kind() == ErrorKind::bad_data;
      BOOST_TEST(refused, "alternative " << int(whole[0]) << " cut after " << size << " bytes");
    }
    auto longer = whole;
    longer.push_back(std::byte{0});
    rejected(ErrorKind::bad_data, msg::wire::from_bytes<V>(longer));
  }
}

template <class V>
void check_flipped_and_random(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::size_t tried = 0, faults = 0;
  const auto check = [&](const Bytes& bytes, const char* what) {
    const auto fault = fault_of<V>(bytes);
    ++tried;
    if (!fault.empty() && ++faults <= 5)
      BOOST_TEST_MESSAGE(what << ", " << bytes.size() << " bytes: " << fault);
  };
  for (const auto& whole : all_samples<V>()) {
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      auto bytes = whole;
      bytes[bit / 8] ^= std::byte(1U << (bit % 8));
      check(bytes, "one bit");
    }
    for (int i = 0; i < 2000; ++i) {
      auto bytes = whole;
      for (auto changes = 1 + random() % 8; changes > 0; --changes)
        bytes[random() % bytes.size()] = std::byte(random());
      check(bytes, "some bytes");
    }
  }
  for (int i = 0; i < 50000; ++i) {
    Bytes bytes(random() % 200);
    // Half of them mostly zeros, which make short lengths and deeper reading.
    for (auto& byte : bytes)
      byte = i % 2 == 0 || random() % 8 == 0 ? std::byte(random()) : std::byte{};
    if (bytes.size() > 1) {
      bytes[0] = std::byte(random() % (std::variant_size_v<V> + 1));
      bytes[1] = std::byte{};
    }
    check(bytes, "random bytes");
  }
  BOOST_TEST(faults == 0U, faults << " of " << tried << " sequences of bytes are misread");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wire)

BOOST_AUTO_TEST_CASE(every_call_comes_back_with_all_its_fields) { check_every_alternative<Call>(); }

BOOST_AUTO_TEST_CASE(every_outcome_comes_back_with_all_its_fields) {
  check_every_alternative<Outcome>();
}

BOOST_AUTO_TEST_CASE(a_payload_without_bytes_is_not_one_that_is_missing) {
  auto read = msg::wire::from_bytes<Call>(
      msg::wire::to_bytes(Call(msg::WriteTensor{1, payload(""), "", std::nullopt})));
  BOOST_REQUIRE(read.has_value());
  BOOST_REQUIRE(std::get<msg::WriteTensor>(*read).payload != nullptr);
  BOOST_TEST(std::get<msg::WriteTensor>(*read).payload->view().empty());
}

BOOST_AUTO_TEST_CASE(what_is_cut_off_or_goes_on_is_bad_data) {
  check_truncated<Call>();
  check_truncated<Outcome>();
}

BOOST_AUTO_TEST_CASE(bytes_that_nobody_wrote_give_an_error_or_what_they_say) {
  const auto seed = seed_of_run();
  BOOST_TEST_MESSAGE("POLYCHRON_SEED=" << seed);
  const Ceiling ceiling(little);
  BOOST_TEST_CONTEXT("again with POLYCHRON_SEED=" << seed) {
    check_flipped_and_random<Call>(seed);
    check_flipped_and_random<Outcome>(seed);
  }
}

BOOST_AUTO_TEST_CASE(a_length_beyond_the_bytes_takes_no_memory) {
  const Ceiling ceiling(little);
  for (const auto length : {~0ULL, 1ULL << 63U, 1ULL << 40U, 1ULL << 32U, 3ULL}) {
    msg::wire::Writer write;
    write(std::uint16_t(Call(msg::WriteTensor{}).index()));
    write(msg::TensorId{1});
    write(true);
    write(std::uint64_t(length));
    write(std::uint16_t{0});
    BOOST_TEST(fault_of<Call>(write.bytes) == "");
    rejected(ErrorKind::bad_data, msg::wire::from_bytes<Call>(write.bytes));
  }
}

BOOST_AUTO_TEST_CASE(a_chain_of_errors_is_read_as_deep_as_one_is_written_and_no_deeper) {
  for (int links = 1; links <= 40; ++links) {
    const auto written = chain(links);
    auto read = msg::wire::from_bytes<Outcome>(msg::wire::to_bytes(Outcome(msg::Errored{written})));
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST(same(std::get<msg::Errored>(*read).error, written), links << " links");
  }
  msg::wire::Writer write;
  write(std::uint16_t(Outcome(msg::Errored{}).index()));
  for (int i = 0; i < 1'000'000; ++i) {
    write(ErrorKind::internal);
    for (int text = 0; text < 3; ++text) write(std::string());
    write(std::uint64_t{0});
    write(std::string());
    write(true);
    write(true);
  }
  rejected(ErrorKind::bad_data, msg::wire::from_bytes<Outcome>(write.bytes));
}

BOOST_AUTO_TEST_SUITE_END()
