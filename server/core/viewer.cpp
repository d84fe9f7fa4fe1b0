#include "core/viewer.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

namespace polychron::server {

namespace {

/// A page takes seconds. A program that hangs ends.
constexpr rlim_t most_cpu_seconds = 120;

/// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : file_(::memfd_create(name, MFD_CLOEXEC)) {
    if (file_ < 0) throw Refusal(Status::unavailable, "no file for the page of the recording", 1);
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int number() const { return file_; }
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) throw Refusal(Status::unavailable, "no memory for the recording", 1);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    ::lseek(file_, 0, SEEK_SET);
  }
  /// All of it, without a copy.
  Buffer content() const {
    struct stat about {};
    if (::fstat(file_, &about) != 0 || about.st_size == 0) return {};
    const auto size = static_cast<std::size_t>(about.st_size);
    auto* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file_, 0);
    if (at == MAP_FAILED) throw Refusal(Status::unavailable, "no memory for the page", 1);
    return Buffer::adopt(static_cast<std::byte*>(at), size,
                         [](std::byte* data, std::size_t length) { ::munmap(data, length); });
  }

 private:
  const int file_;
};

std::string text_of(const MemoryFile& file) {
  const auto bytes = file.content();
  if (bytes.size() == 0) return "it said nothing";
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return printable(text.substr(0, text.find('\n')), 500);
}

}  // namespace

Viewer::~Viewer() { stop(); }

void Viewer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (pid_ > 0) ::kill(pid_, SIGKILL);
  }
  thread_.join();
}

Future<Viewer::Page> Viewer::page(std::function<std::vector<std::byte>()> recording) {
  Promise<Page> promise;
  auto future = promise.future();
  const std::lock_guard lock(mutex_);
  if (busy_ || stopped_) {
    promise.resolve(Refusal(Status::unavailable, "another page of the recording is being made", 1));
    return future;
  }
  busy_ = true;
  boost::asio::post(thread_, [this, promise, recording = std::move(recording)] {
    Page page = Refusal(Status::unavailable, "out of memory", 1);
    try {
      page = make(recording());
    } catch (const Refusal& refusal) {
      page = refusal;
    } catch (const std::exception& error) {
      page = Refusal(Status::unavailable, std::string("the recording: ") + error.what(), 1);
    }
    {
      const std::lock_guard free(mutex_);
      busy_ = false;
    }
    promise.resolve(std::move(page));
  });
  return future;
}

Viewer::Page Viewer::make(const std::vector<std::byte>& recording) {
  MemoryFile input("recording"), output("page"), errors("errors");
  input.write(recording);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.number(), 0);
  posix_spawn_file_actions_adddup2(&actions, output.number(), 1);
  posix_spawn_file_actions_adddup2(&actions, errors.number(), 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);  // connections are not its business
  std::array<std::string, 4> words{program_, "trace", "view", "-"};
  std::array<char*, 5> arguments{words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                                 nullptr};
  pid_t pid = 0;
  const int failed =
      ::posix_spawnp(&pid, program_.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return Refusal(Status::unsupported,
                   "the program '" + printable(program_) + "' cannot be started (" +
                       std::strerror(failed) +
                       "): install it, or name it by --viewer; /recording has the recording");
  const rlimit limit{most_cpu_seconds, most_cpu_seconds};
  ::prlimit(pid, RLIMIT_CPU, &limit, nullptr);
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(pid), 10);  // requests come first
  const int code = wait(pid);
  auto page = output.content();
  if (code == 0 && page.size() > 0) return page;
  return Refusal(Status::internal,
                 "'" + printable(program_) + " trace view' failed: " + text_of(errors));
}

int Viewer::wait(int pid) {
  {
    const std::lock_guard lock(mutex_);
    pid_ = pid;
    if (stopped_) ::kill(pid, SIGKILL);
  }
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  // Its number is not given to another process before this.
  const std::lock_guard lock(mutex_);
  pid_ = 0;
  int status = -1;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace polychron::server
