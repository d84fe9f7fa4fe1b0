// Memory with protected pages around it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <span>

namespace polychron::tests {

/// Bytes at the end of some pages, or at their beginning. A touch of the page behind these, or of
/// the one before them, ends the program.
class Fenced {
 public:
  Fenced(std::span<const std::byte> bytes, bool at_end)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        pages_((bytes.size() + page_ - 1) / page_),
        all_(static_cast<std::byte*>(
            mmap(nullptr, (pages_ + 2) * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    BOOST_REQUIRE(all_ != MAP_FAILED);
    // qemu (7.2) refuses to protect no bytes.
    BOOST_REQUIRE(pages_ == 0 ||
                  mprotect(all_ + page_, pages_ * page_, PROT_READ | PROT_WRITE) == 0);
    std::memset(all_ + page_, mark, pages_ * page_);
    data_ = all_ + page_ + (at_end ? pages_ * page_ - bytes.size() : 0);
    size_ = bytes.size();
    std::ranges::copy(bytes, data_);
  }
  ~Fenced() { munmap(all_, (pages_ + 2) * page_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;

  std::byte* data() const { return data_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// True if the rest of the pages is untouched.
  bool rest_is_untouched() const {
    std::byte* const begin = all_ + page_;
    const auto untouched = [](std::byte b) { return b == std::byte{mark}; };
    return std::all_of(begin, data_, untouched) &&
           std::all_of(data_ + size_, begin + pages_ * page_, untouched);
  }

 private:
  static constexpr int mark = 0xA5;
  std::size_t page_, pages_;
  std::byte* all_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace polychron::tests
