// The page of a recording. tests/page.test.mjs opens it in a browser.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "core/viewer.hpp"
#include "rig.hpp"

namespace polychron::server::tests {

namespace {

/// A program for --viewer that does this.
std::string script(Folder& folder, const std::string& text) {
  folder.write("viewer.sh", "#!/bin/sh\n" + text + "\n");
  const auto path = (folder.path() / "viewer.sh").string();
  ::chmod(path.c_str(), 0755);
  return path;
}

Rig rig_with(const std::string& viewer) {
  return Rig({"simple"}, [&](auto& options) {
    options.record_bytes = 1 << 20;
    options.viewer = viewer;
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(viewing)

BOOST_AUTO_TEST_CASE(the_program_gets_the_recording_and_gives_the_page) {
  Folder folder;
  const auto rig = rig_with(script(folder, "echo \"$@\"; wc -c; ls /proc/self/fd | wc -l"));
  Client client(rig.port());
  const auto page = client.get("/recording/view", "Accept-Encoding: gzip\r\n");
  BOOST_TEST(page.status == 200);
  BOOST_TEST(page.headers.at("content-type") == "text/html; charset=utf-8");
  BOOST_TEST(page.body.find("trace view -\n") == 0U);
  BOOST_TEST(std::stoul(page.body.substr(13)) > 1000U);  // bytes
  // Standard input, output and error, and the folder that ls reads: no connection.
  BOOST_TEST(page.body.substr(page.body.size() - 3) == "\n4\n", page.body);
}

BOOST_AUTO_TEST_CASE(programs_that_are_not_there_or_fail) {
  Folder folder;
  const auto missing = rig_with("/nowhere/polychron");
  Client client(missing.port());
  const auto refused = client.get("/recording/view");
  BOOST_TEST(refused.status == 501);
  BOOST_TEST(refused.body.find("'polychron' cannot be started (No such file or directory)") !=
             std::string::npos);
  const auto failing = rig_with(script(folder, "echo it hurts >&2; exit 1"));
  Client other(failing.port());
  const auto failed = other.get("/recording/view");
  BOOST_TEST(failed.status == 500);
  BOOST_TEST(failed.body.find("\"'viewer.sh trace view' failed: it hurts\"}") != std::string::npos,
             failed.body);
  const auto killed = rig_with(script(folder, "kill -9 $$"));
  Client third(killed.port());
  BOOST_TEST(third.get("/recording/view").status == 500);
  const Rig none({"simple"});
  Client fourth(none.port());
  BOOST_TEST(fourth.get("/recording/view").status == 404);
}

BOOST_AUTO_TEST_CASE(one_page_at_a_time_and_the_end_at_any_time) {
  Folder folder;
  std::unique_ptr<Client> waits;
  {
    const auto rig = rig_with(
        script(folder, "touch " + (folder.path() / "begun").string() + "; exec sleep 1000"));
    waits = std::make_unique<Client>(rig.port());
    waits->send("GET /recording/view HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until([&] { return std::filesystem::exists(folder.path() / "begun"); });
    Client second(rig.port());
    const auto refused = second.get("/recording/view");
    BOOST_TEST(refused.status == 503);
    BOOST_TEST(refused.headers.count("retry-after") == 1U);
    BOOST_TEST(second.post("/v2/models/simple/infer", simple_request()).status == 200);
  }
  // The server has ended, and the program with it.
  const auto last = waits->receive();
  BOOST_TEST((!last || last->status == 500));
}

BOOST_AUTO_TEST_CASE(a_program_that_hangs_ends_with_what_it_started) {
  Folder folder;
  const auto fifo = (folder.path() / "fifo").string();
  BOOST_REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const int reads = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  Viewer viewer(script(folder, "sleep 1000 > " + fifo + " & sleep 1000"),
                std::chrono::milliseconds(300));
  auto page = viewer.page([] { return std::vector<std::byte>(10); }).get();
  BOOST_TEST(std::get<Refusal>(page).message() ==
             "'viewer.sh trace view' failed: it took longer than 300 ms");
  // The end of the file: nobody can write to it any more.
  char byte = 0;
  until([&] { return ::read(reads, &byte, 1) == 0; });
  ::close(reads);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
