// The promises of kernels/backend.hpp for storages, asked of every backend.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "tests/backends/asking.hpp"

namespace polychron::testing {
namespace {

constexpr std::size_t sizes[] = {8, 9, 64, 1000, 4096, 100'003};

}  // namespace

BOOST_AUTO_TEST_SUITE(storages)

BOOST_AUTO_TEST_CASE(new_storage_is_zero) {
  each("zeros", [](const Candidate&, Backend& backend) {
    for (const auto size : sizes)
      for (int round = 0; round < 2; ++round) {  // the second time over memory that was used
        const auto storage = backend.allocate(size).value();
        BOOST_TEST(storage->bytes() == size);
        BOOST_TEST(read(backend, *storage) == std::vector<std::byte>(size));
        backend.write(*storage, random_bytes(size)).value();
      }
  });
}

BOOST_AUTO_TEST_CASE(bytes_are_kept_exactly) {
  each("bytes exact", [](const Candidate& candidate, Backend& backend) {
    for (const auto size : sizes) {
      const auto one = backend.allocate(size).value(), other = backend.allocate(size).value();
      const auto a = random_bytes(size), b = random_bytes(size);
      backend.write(*one, a).value();
      backend.write(*other, b).value();
      BOOST_TEST(same(candidate, read(backend, *one), a));
      BOOST_TEST(same(candidate, read(backend, *other), b));
    }
  });
}

BOOST_AUTO_TEST_CASE(sizes_have_to_agree) {
  each(
      "sizes checked",
      [](const Candidate&, Backend& backend) {
        const auto storage = backend.allocate(64).value();
        auto bytes = random_bytes(64);
        backend.write(*storage, bytes).value();
        for (const std::size_t wrong : {0U, 63U, 65U}) {
          std::vector<std::byte> other(wrong);
          BOOST_TEST((backend.write(*storage, other).error().kind() == ErrorKind::internal));
          BOOST_TEST((backend.read(*storage, other).error().kind() == ErrorKind::internal));
        }
        BOOST_TEST(read(backend, *storage) == bytes);
      },
      [](const Candidate& candidate) { return candidate.takes_any_size; });
}

BOOST_AUTO_TEST_CASE(adopted_memory_comes_back) {
  each("adopt, surrender", [](const Candidate& candidate, Backend& backend) {
    for (const auto size : sizes) {
      const auto before = random_bytes(size), after = random_bytes(size);
      Buffer buffer = Buffer::copy_of(before);
      auto storage = backend.adopt(std::move(buffer)).value();
      BOOST_TEST(buffer.detached());
      BOOST_TEST(same(candidate, read(backend, *storage), before));
      backend.write(*storage, after).value();
      const Buffer back = backend.surrender(std::move(storage)).value();
      BOOST_TEST(same(candidate, back.bytes(), after));
    }
  });
}

BOOST_AUTO_TEST_CASE(the_same_buffer_comes_back) {
  each(
      "same buffer",
      [](const Candidate&, Backend& backend) {
        alignas(64) std::byte room[64] = {};
        bool freed = false;
        auto storage =
            backend.adopt(Buffer::adopt(room, sizeof room, [&](auto*, auto) { freed = true; }))
                .value();
        const Buffer back = backend.surrender(std::move(storage)).value();
        BOOST_TEST(!freed);
        BOOST_TEST(back.data() == room);
      },
      [](const Candidate& candidate) { return candidate.copies_adopted; });
}

BOOST_AUTO_TEST_CASE(memory_of_any_address_is_adopted) {
  each("any address", [](const Candidate& candidate, Backend& backend) {
    const auto bytes = random_bytes(64);
    std::vector<std::byte> room(65);
    std::memcpy(room.data() + 1, bytes.data(), 64);
    auto storage = backend.adopt(Buffer::adopt(room.data() + 1, 64, [](auto*, auto) {})).value();
    BOOST_TEST(same(candidate, read(backend, *storage), bytes));
  });
}

BOOST_AUTO_TEST_CASE(a_map_shows_the_storage_or_is_refused) {
  each("map", [](const Candidate& candidate, Backend& backend) {
    const auto storage = backend.allocate(64).value();
    const auto bytes = random_bytes(64);
    backend.write(*storage, bytes).value();
    const auto mapped = backend.map(*storage);
    if (!mapped) {
      BOOST_TEST((mapped.error().kind() == ErrorKind::not_supported));
      return;
    }
    BOOST_TEST(
        std::memcmp(mapped->data(), bytes.data(), std::min<std::size_t>(mapped->size(), 8)) == 0);
    std::memset(mapped->data(), 7, mapped->size());
    BOOST_TEST(same(candidate, read(backend, *storage), std::vector<std::byte>(64, std::byte{7})));
  });
}

BOOST_AUTO_TEST_CASE(too_much_memory_is_an_error) {
  each(
      "out of memory",
      [](const Candidate&, Backend& backend) {
        const auto storage = backend.allocate(std::size_t{1} << 60);
        BOOST_REQUIRE(!storage);
        BOOST_TEST((storage.error().kind() == ErrorKind::out_of_memory), storage.error().what());
        BOOST_TEST(backend.allocate(64).has_value());
      },
      [](const Candidate& candidate) {
#if defined(__SANITIZE_ADDRESS__)
        static_cast<void>(candidate);
        return std::string("the sanitizer ends a program that asks for so much");
#else
        return candidate.takes_any_size;
#endif
      });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::testing
