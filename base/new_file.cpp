#include "base/new_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>

#include "polychron/error.hpp"

namespace polychron {

namespace fs = std::filesystem;

namespace {

Error failure(int code) {
  return {ErrorKind::operation_error, std::generic_category().message(code)};
}

}  // namespace

NewFile::NewFile(const fs::path& place) : place_(place.string()) {
  std::error_code error;
  const auto status = fs::status(place, error);
  // Refuse these: a rename would replace a device or a pipe.
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw Error(ErrorKind::operation_error, "it is not a regular file");
  if (fs::is_symlink(place, error)) {
    const auto target = fs::canonical(place, error);
    if (!error) place_ = target.string();  // a link that leads nowhere is replaced
  }
  const auto folder = place_.substr(0, place_.rfind('/') + 1);
  // A process with the same number on another machine or in another container may write here too.
  // Its name is then taken, and the loop tries the next one.
  static std::atomic<std::uint64_t> files{0};
  constexpr int tries = 1000;
  for (int i = 0; i < tries && descriptor_ < 0; ++i) {
    path_ = folder + ".polychron." + std::to_string(getpid()) + "." + std::to_string(++files);
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) throw failure(errno);
  there_ = true;
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (there_) ::unlink(path_.c_str());
}

void NewFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw failure(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void NewFile::close() {
  // Some file systems report a full disk only on close.
  if (descriptor_ >= 0 && ::close(std::exchange(descriptor_, -1)) != 0) throw failure(errno);
}

void NewFile::put_in_place() {
  close();
  if (std::rename(path_.c_str(), place_.c_str()) != 0) throw failure(errno);
  there_ = false;
}

}  // namespace polychron
