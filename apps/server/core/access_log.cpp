#include "core/access_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <polychron/error.hpp>
#include <utility>

#include "protocol/refusal.hpp"

namespace polychron::server {

namespace {

constexpr std::size_t most_lines = 10'000;

/// The bytes that could be written: all of them, unless the disk is full.
std::size_t write_all(int file, std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto written = ::write(file, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    at += static_cast<std::size_t>(written);
  }
  return at;
}

int open_log(const std::string& file) {
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (opened < 0)
    throw Error(ErrorKind::bad_data, "the access log '" + file + "': " + std::strerror(errno));
  return opened;
}

}  // namespace

std::string timestamp() {
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char date[32], text[40];
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof(text), "%s.%03dZ", date, static_cast<int>(ms.count() % 1000));
  return text;
}

AccessLog::AccessLog(const std::string& file, bool quiet) : file_(file), quiet_(quiet) {
  if (file == "-")
    requests_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  else if (!file.empty())
    requests_ = open_log(file);
  worker_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

void AccessLog::open_again() {
  if (file_.empty() || file_ == "-") return;
  const int opened = open_log(file_);
  ::dup3(opened, requests_, O_CLOEXEC);  // under the same number, which lines in the queue have
  ::close(opened);
}

AccessLog::~AccessLog() {
  worker_.request_stop();
  worker_.join();
  if (requests_ >= 0) ::close(requests_);
}

void AccessLog::request(const AccessEntry& entry) {
  if (requests_ < 0) return;
  boost::json::object line;
  line["time"] = timestamp();
  line["method"] = printable(entry.method, 20);
  line["target"] = printable(entry.target);
  line["status"] = entry.status;
  line["us"] = std::chrono::duration_cast<std::chrono::microseconds>(entry.time).count();
  line["received"] = entry.received;
  line["sent"] = entry.sent;
  if (!entry.id.empty()) line["id"] = printable(entry.id, 64);
  if (!entry.trace.empty()) line["traceparent"] = printable(entry.trace, 64);
  if (!entry.error.empty()) line["error"] = printable(entry.error, 1000);
  push(requests_, boost::json::serialize(line));
}

void AccessLog::server(const std::string& line) {
  if (!quiet_) push(STDERR_FILENO, timestamp() + " " + line);
}

void AccessLog::push(int file, std::string line) {
  if (file < 0) return;
  const std::lock_guard lock(mutex_);
  if (lines_.size() >= most_lines) {
    ++dropped_;
    return;
  }
  lines_.push_back({file, std::move(line) + "\n"});
  wake_.notify_one();
}

void AccessLog::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, stop, [&] { return !lines_.empty(); });
    if (lines_.empty()) return;  // stopped
    auto lines = std::exchange(lines_, {});
    lock.unlock();
    for (const auto& [file, text] : lines) write(file, text);
    lock.lock();
  }
}

void AccessLog::write(int file, std::string_view text) {
  // After a line that broke off comes a new line.
  if (torn_.contains(file) && write_all(file, "\n") == 1) torn_.erase(file);
  const auto written = torn_.contains(file) ? 0 : write_all(file, text);
  if (written == text.size()) return;
  ++dropped_;
  if (written > 0) torn_.insert(file);
}

}  // namespace polychron::server
