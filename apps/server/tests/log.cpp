// The access log: files that are full, renamed, or broken off.
#include <sys/resource.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <fstream>
#include <iterator>

#include "core/access_log.hpp"
#include "rig.hpp"

namespace polychron::server::tests {

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

AccessEntry entry(const std::string& target) {
  AccessEntry entry;
  entry.method = "GET";
  entry.target = target;
  return entry;
}

/// Files of this process cannot grow beyond this, until its end.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    auto small = before_;
    small.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int);
};

}  // namespace

BOOST_AUTO_TEST_SUITE(log)

BOOST_AUTO_TEST_CASE(a_full_disk_counts_its_losses) {
  AccessLog log("/dev/full");
  for (int i = 0; i < 3; ++i) log.request(entry("/"));
  until([&] { return log.dropped() == 3; });
}

BOOST_AUTO_TEST_CASE(a_line_that_broke_off_ends_before_the_next) {
  const Folder folder;
  const auto file = folder.path() / "log";
  AccessLog log(file.string());
  {
    const SmallFiles small(20);
    log.request(entry("/broken"));
    until([&] { return log.dropped() == 1; });
    log.request(entry("/lost"));
    until([&] { return log.dropped() == 2; });
  }
  log.request(entry("/whole"));
  until([&] { return text_of(file).ends_with("}\n"); });
  const auto text = text_of(file);
  BOOST_TEST(text.find('\n') == 20U);
  BOOST_TEST(text.substr(21, 9) == R"({"time":")");
  BOOST_TEST(text.find("/whole") != std::string::npos);
  BOOST_TEST(text.find("/lost") == std::string::npos);
  BOOST_TEST(log.dropped() == 2U);
}

BOOST_AUTO_TEST_CASE(a_renamed_file_is_followed_by_a_new_one) {
  const Folder folder;
  const auto file = folder.path() / "log", old = folder.path() / "log.1";
  Rig rig({"simple"}, [&](auto& options) { options.log = file.string(); });
  Client client(rig.port());
  client.get("/v2/health/live");
  until([&] { return text_of(file).ends_with("}\n"); });
  std::filesystem::rename(file, old);
  rig.app->read_again();
  client.get("/v2/health/ready");
  until([&] { return text_of(file).ends_with("}\n"); });
  BOOST_TEST(text_of(old).find("/live") != std::string::npos);
  BOOST_TEST(text_of(file).find("/ready") != std::string::npos);
  BOOST_TEST(text_of(file).find("/live") == std::string::npos);
  // Where no file can be made, the old one goes on.
  const auto before = text_of(file).size();
  std::filesystem::rename(file, old);
  std::filesystem::create_directory(file);
  rig.app->read_again();
  client.get("/v2/models/simple");
  until([&] { return text_of(old).size() > before; });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
