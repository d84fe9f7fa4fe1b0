// The command line of polychron-server, and its file.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "codes/built_in.hpp"
#include "core/service.hpp"
#include "http/options.hpp"
#include "models/config.hpp"

namespace polychron::server {

struct ServerOptions {
  std::string models;
  HttpOptions http;
  std::uint16_t grpc_port = 8001;
  bool grpc = false;
  ServiceOptions service;
  std::string tokens;  ///< the file of service.tokens; empty: none
  ModelConfig model;
  EngineMakers engines =
      built_in_engines();  ///< models made of code; an embedding program adds its own
  std::chrono::milliseconds poll{1000};
  std::chrono::seconds drain{30};    ///< the longest time that SIGTERM waits for requests
  std::chrono::seconds notice{0};    ///< not ready, but still serving, before that
  std::string log;                   ///< AccessLog's file
  bool quiet = false;                ///< no lines about the server
  std::uint64_t record_bytes = 0;    ///< 0: no recording
  std::string viewer = "polychron";  ///< the program that makes pages of recordings
  int io_threads = 2;
  bool help = false;
  bool print_version = false;
};

/// Throws Error (bad_data) with one line that names the option.
ServerOptions parse_options(const std::vector<std::string>& arguments);

/// The text of --help.
std::string help_text();

}  // namespace polychron::server
