#include "onnx/mapped_file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace polychron::onnx::detail {

namespace {

constexpr timespec between_looks{.tv_sec = 0, .tv_nsec = 500'000'000};

FileState state_in(const struct stat& status) {
  return {static_cast<std::uint64_t>(status.st_size), status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec};
}

/// Leases tell of writers on this machine only. So other file systems, such as NFS, are left out.
bool is_local(int descriptor) {
  // ext4, XFS, Btrfs, F2FS, tmpfs, overlayfs, SquashFS, EROFS: linux/magic.h has most of them.
  constexpr std::array<std::uint32_t, 8> local{0xef53,     0x58465342, 0x9123683e, 0xf2f52010,
                                               0x01021994, 0x794c7630, 0x73717368, 0xe0f5e1e2};
  struct statfs system {};
  return ::fstatfs(descriptor, &system) == 0 &&
         std::ranges::find(local, static_cast<std::uint32_t>(system.f_type)) != local.end();
}

std::byte* mapped(std::size_t size, int protection, int flags, int descriptor) {
  void* const data = ::mmap(nullptr, size, protection, flags, descriptor, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

/// Calls madvise() for the whole pages within `bytes`; with `outwards` for all that they touch.
bool advise(std::span<const std::byte> bytes, int advice, bool outwards) noexcept {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const auto end = begin + bytes.size();
  const auto first = (outwards ? begin : begin + page - 1) / page * page;
  const auto last = (outwards ? end + page - 1 : end) / page * page;
  return first >= last || ::madvise(reinterpret_cast<void*>(first), last - first, advice) == 0;
}

}  // namespace

/// The files that this process has mapped, and the thread that looks after them. The thread exists
/// as long as there are files.
class MappedFiles {
 public:
  /// Never destroyed, as constants may outlive any static.
  static MappedFiles& all() {
    static MappedFiles& files = *new MappedFiles;
    return files;
  }

  std::mutex mutex;

  /// With the lock. True if the lease is ours, and the file is looked after from now on.
  bool add(MappedFile& file) {
    if (files_.size() >= MappedFile::most_files) return false;
    files_.reserve(MappedFile::most_files);
    // The system signals a waiting writer to the owner: SIGIO, which would end the process. The
    // thread blocks it, and looks by itself: to wait for the signal could take one from others.
    const f_owner_ex owner{F_OWNER_TID, thread()};
    if (owner.pid == 0 || ::fcntl(file.descriptor_, F_SETOWN_EX, &owner) != 0 ||
        ::fcntl(file.descriptor_, F_SETLEASE, F_RDLCK) != 0)
      return false;
    files_.push_back(&file);
    return true;
  }
  /// With the lock.
  void remove(MappedFile& file) noexcept {
    std::erase(files_, &file);
    file.give_back_lease();
  }

  /// In a forked child, with the lock. Only the parent holds the leases, and only it has the
  /// thread: a descriptor here would keep a lease that nobody gives back.
  void forget() noexcept {
    for (auto* const file : files_) ::close(std::exchange(file->descriptor_, -1));
    files_.clear();
    thread_ = 0;
  }

 private:
  /// With the lock. The number of the thread, which starts if there is none; 0 if it cannot.
  pid_t thread() {
    if (thread_ != 0) return thread_;
    std::promise<pid_t> started;
    auto number = started.get_future();
    sigset_t blocked, before;
    ::sigfillset(&blocked);
    ::pthread_sigmask(SIG_SETMASK, &blocked, &before);
    try {
      std::thread([this, number_of = std::move(started)]() mutable {
        number_of.set_value(::gettid());
        look_after_files();
      }).detach();
      thread_ = number.get();
    } catch (const std::exception&) {  // no thread, or no memory
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread_;
  }

  void look_after_files() {
    sigset_t lease_breaks;
    ::sigemptyset(&lease_breaks);
    ::sigaddset(&lease_breaks, SIGIO);
    for (;;) {
      // The system says by SIGIO that a program waits for a lease. This thread blocks all signals.
      ::sigtimedwait(&lease_breaks, nullptr, &between_looks);
      const std::lock_guard lock(mutex);
      std::erase_if(files_, [](MappedFile* file) { return file->copied_for_writers(); });
      if (!files_.empty()) continue;
      thread_ = 0;
      return;
    }
  }

  std::vector<MappedFile*> files_;
  pid_t thread_ = 0;
};

namespace {

/// Registered when the library is loaded. A fork waits until no thread holds the lock.
[[maybe_unused]] const int registered = [] {
  static MappedFiles& files = MappedFiles::all();
  return ::pthread_atfork([] { files.mutex.lock(); }, [] { files.mutex.unlock(); },
                          [] { files.forget(), files.mutex.unlock(); });
}();

}  // namespace

std::optional<FileState> state_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return state_in(status);
}

std::shared_ptr<const MappedFile> MappedFile::map(const std::filesystem::path& path,
                                                  const FileState& expected) {
  if (expected.size < least_bytes) return nullptr;
  const std::shared_ptr<MappedFile> file(new MappedFile);
  file->descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file->descriptor_ < 0 || !is_local(file->descriptor_)) return nullptr;
  const std::lock_guard lock(MappedFiles::all().mutex);
  if (!MappedFiles::all().add(*file)) return nullptr;
  // From here on it does not change.
  struct stat status {};
  if (::fstat(file->descriptor_, &status) != 0 || state_in(status) != expected) return nullptr;
  const auto size = static_cast<std::size_t>(expected.size);
  file->data_ = mapped(size, PROT_READ, MAP_PRIVATE, file->descriptor_);
  file->size_ = size;
  file->room_ = mapped(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  return file->data_ != nullptr && file->room_ != nullptr ? file : nullptr;
}

MappedFile::~MappedFile() {
  {
    const std::lock_guard lock(MappedFiles::all().mutex);
    MappedFiles::all().remove(*this);
  }
  if (data_ != nullptr) ::munmap(data_, size_);
  if (room_ != nullptr) ::munmap(room_, size_);
}

void MappedFile::give_back_lease() noexcept {
  if (descriptor_ < 0) return;
  ::fcntl(descriptor_, F_SETLEASE, F_UNLCK);  // a copy of the descriptor may be in another process
  ::close(std::exchange(descriptor_, -1));
}

bool MappedFile::copied_for_writers() noexcept {
  if (::fcntl(descriptor_, F_GETLEASE) == F_RDLCK) return false;
  // By pread(), which reports what would end a process that reads a mapping.
  for (std::size_t at = 0; at < size_;) {
    const auto got = ::pread(descriptor_, room_ + at, size_ - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;  // the writer waits on, as long as the system lets it
    at += static_cast<std::size_t>(got);
  }
  // Readers meanwhile find one or the other, or wait in the system for the new one.
  if (::mremap(room_, size_, size_, MREMAP_MAYMOVE | MREMAP_FIXED, data_) == MAP_FAILED)
    return false;
  ::mprotect(data_, size_, PROT_READ);
  room_ = nullptr;
  give_back_lease();
  return true;
}

bool MappedFile::is_ours() const {
  const std::lock_guard lock(MappedFiles::all().mutex);
  return descriptor_ >= 0 || room_ == nullptr;
}

bool MappedFile::populate(std::span<const std::byte> bytes) const noexcept {
#ifdef MADV_POPULATE_READ
  return advise(bytes, MADV_POPULATE_READ, true) || errno == EINVAL;
#else
  return advise(bytes, MADV_WILLNEED, true);
#endif
}

void MappedFile::release(std::span<const std::byte> bytes) const noexcept {
  const std::unique_lock lock(MappedFiles::all().mutex, std::try_to_lock);
  // A copy would be lost.
  if (lock.owns_lock() && descriptor_ >= 0) static_cast<void>(advise(bytes, MADV_DONTNEED, false));
}

std::shared_ptr<const Buffer> bytes_of(std::shared_ptr<const MappedFile> file, std::uint64_t offset,
                                       std::uint64_t length) {
  if (file == nullptr) return nullptr;
  const auto bytes =
      file->bytes().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
  if (!file->populate(bytes)) return nullptr;
  auto* const data = const_cast<std::byte*>(bytes.data());  // for Buffer's interface
  return std::make_shared<const Buffer>(Buffer::adopt(
      data, bytes.size(), [file = std::move(file)](std::byte* first, std::size_t size) {
        file->release({first, size});
      }));
}

}  // namespace polychron::onnx::detail
