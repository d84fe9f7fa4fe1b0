// Steps in a forked process, of which the parent learns the one that fails or hangs.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <functional>
#include <string>

#include "polychron/error.hpp"

namespace polychron::testing {

/// The child's side. Its methods are for the child's only thread.
class Forked {
 public:
  /// Runs `steps` in a child. Returns the step that failed or hung, or "".
  static std::string run(const std::function<void(Forked&)>& steps) {
    void* const shared =
        mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    BOOST_REQUIRE(shared != MAP_FAILED);
    Forked self(static_cast<char*>(shared));
    const auto process = fork();
    BOOST_REQUIRE(process >= 0);
    if (process == 0) {
      alarm(20);  // ends a child that hangs
      int status = 1;
      try {
        steps(self);
        status = 0;
      } catch (const std::exception& error) {
        self.say(std::string("throws ") + error.what());
      } catch (...) {
      }
      _exit(status);
    }
    int status = 0;
    BOOST_REQUIRE(waitpid(process, &status, 0) == process);
    const std::string said(self.said_);
    munmap(shared, most);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
    return said + (WIFEXITED(status) ? "" : " hangs");
  }

  /// Fails unless `holds`, which is looked at in this step.
  template <class Holds>
  void expect(const std::string& step, Holds holds) {
    say(step);
    if (!holds()) _exit(1);
  }
  /// Fails unless `call` throws invalid_state, or returns a reply that is rejected so.
  template <class Call>
  void refuses(const std::string& step, Call call) {
    expect(step, [&] {
      try {
        if constexpr (requires { call().get(); })
          static_cast<void>(call().get());
        else
          call();
      } catch (const Error& error) {
        return error.kind() == ErrorKind::invalid_state;
      }
      return false;
    });
  }

 private:
  static constexpr std::size_t most = 512;
  explicit Forked(char* said) : said_(said) {}
  void say(const std::string& step) { std::strncpy(said_, step.c_str(), most - 1); }

  char* const said_;  ///< shared with the parent
};

}  // namespace polychron::testing
