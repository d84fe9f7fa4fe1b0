#include "core/viewer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
extern "C" {
#include <sys/pidfd.h>  // glibc 2.36 does not declare it as C
}

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

namespace polychron::server {

namespace {

/// Of the call of the system that has just failed.
Refusal failure(const char* to_do) {
  return {Status::unavailable,
          std::string("the page of the recording: cannot ") + to_do + ": " + std::strerror(errno),
          1};
}

/// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : file_(::memfd_create(name, MFD_CLOEXEC)) {
    if (file_ < 0) throw failure("make a file in memory");
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int number() const { return file_; }
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) throw failure("write the recording into memory");
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
    if (at == MAP_FAILED) throw failure("map the page");
    return Buffer::adopt(static_cast<std::byte*>(at), size,
                         [](std::byte* data, std::size_t length) { ::munmap(data, length); });
  }

 private:
  const int file_;
};

/// Waits until the process has ended. Returns why it did not.
std::optional<std::string> watch(int pid, std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  pollfd process{::pidfd_open(pid, 0), POLLIN, 0};
  if (process.fd < 0) return std::string("it cannot be watched: ") + std::strerror(errno);
  const auto end = Clock::now() + patience;
  int ended = 0;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    ended = ::poll(&process, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  } while (ended < 0 && errno == EINTR);
  ::close(process.fd);
  if (ended > 0) return std::nullopt;
  return "it took longer than " + std::to_string(patience.count()) + " ms";
}

std::string text_of(const MemoryFile& file) {
  const auto bytes = file.content();
  if (bytes.size() == 0) return "it said nothing";
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return printable(text.substr(0, text.find('\n')), 500);
}

/// Its name without the folder, which clients need not know.
std::string shown(const std::string& program) {
  return printable(program.substr(program.rfind('/') + 1));
}

/// The attributes of the program: a process group of its own, so that all of it can be ended.
class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes_, 0);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace

Viewer::~Viewer() { stop(); }

void Viewer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (pid_ > 0) ::kill(-pid_, SIGKILL);
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
    } catch (...) {
      page = current_refusal("the recording");
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
  const Attributes attributes;
  pid_t pid = 0;
  const int failed =
      ::posix_spawnp(&pid, program_.c_str(), &actions, attributes.get(), arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return Refusal(Status::unsupported,
                   "the program '" + shown(program_) + "' cannot be started (" +
                       std::strerror(failed) +
                       "): install it, or name it by --viewer; /recording has the recording");
  // If this server is killed, nobody watches the program any more.
  const auto seconds =
      static_cast<rlim_t>(std::chrono::ceil<std::chrono::seconds>(patience_).count());
  const rlimit limit{seconds, seconds};
  ::prlimit(pid, RLIMIT_CPU, &limit, nullptr);
  ::setpriority(PRIO_PGRP, static_cast<id_t>(pid), 10);  // requests come first
  const auto failure = wait(pid);
  auto page = output.content();
  if (!failure && page.size() > 0) return page;
  return Refusal(Status::internal, "'" + shown(program_) + " trace view' failed: " +
                                       (failure.value_or("").empty() ? text_of(errors) : *failure));
}

std::optional<std::string> Viewer::wait(int pid) {
  {
    const std::lock_guard lock(mutex_);
    pid_ = pid;
    if (stopped_) ::kill(-pid, SIGKILL);
  }
  auto failure = watch(pid, patience_);
  // What it has started ends with it. Its number is not given to another process before waitpid().
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);  // it may have left its group
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  const std::lock_guard lock(mutex_);
  pid_ = 0;
  int status = -1;
  ::waitpid(pid, &status, 0);
  if (!failure && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) failure.emplace();
  return failure;
}

}  // namespace polychron::server
