// The model "ocr", with pictures that are drawn here.
#include <cstdio>
// After <cstdio>, which it needs and does not include.
#include <jpeglib.h>

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <list>
#include <opencv2/imgproc.hpp>

#include "apps/ocr/picture_formats.hpp"
#include "protocol/strings.hpp"
#include "rig.hpp"

namespace polychron::server::tests {

namespace {

namespace fs = std::filesystem;

/// False, with the reason, where nobody has installed the models (scripts/setup.sh does).
boost::test_tools::assertion_result has_models(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(fs::exists(SERVER_TEST_OCR_MODELS));
  result.message() << "there are no OCR models in " << SERVER_TEST_OCR_MODELS;
  return result;
}

void add_ocr(const Folder& folder, const std::string& name, const std::string& more = {}) {
  fs::create_directories(folder.path() / name);
  for (const auto& each : fs::directory_iterator(SERVER_TEST_OCR_MODELS))
    fs::create_symlink(each.path(), folder.path() / name / each.path().filename());
  std::ofstream(folder.path() / name / "config.json") << R"({"code": "ocr")" << more << "}";
}

cv::Mat page_with(const std::vector<std::string>& lines) {
  cv::Mat page(80 + 100 * static_cast<int>(lines.size()), 900, CV_8UC3, cv::Scalar::all(255));
  int y = 100;
  for (const auto& line : lines) {
    cv::putText(page, line, {60, y}, cv::FONT_HERSHEY_DUPLEX, 1.6, cv::Scalar::all(0), 2);
    y += 100;
  }
  return page;
}

std::string png_of(const cv::Mat& picture) {
  const auto bytes = ocr::encode_png(picture);
  return {bytes.begin(), bytes.end()};
}

/// Grey, with two scans for each of the coefficients: more than any honest picture has.
std::string jpeg_of_many_scans() {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = jpeg.image_height = 64;
  jpeg.input_components = 1;
  jpeg.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&jpeg);
  std::vector<jpeg_scan_info> scans{{1, {0}, 0, 0, 0, 0}};
  for (int k = 1; k < 64; ++k) scans.push_back({1, {0}, k, k, 0, 1});
  for (int k = 1; k < 64; ++k) scans.push_back({1, {0}, k, k, 1, 0});
  jpeg.scan_info = scans.data();
  jpeg.num_scans = static_cast<int>(scans.size());
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<unsigned char> row(64, 100);
  auto* pointer = row.data();
  while (jpeg.next_scanline < 64) jpeg_write_scanlines(&jpeg, &pointer, 1);
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string made(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  return made;
}

std::string request_of(const std::string& file, const std::string& parameters = {}) {
  std::string bytes;
  append_string(bytes, file);
  const auto json = "{" + parameters +
                    R"("inputs":[{"name":"picture","datatype":"BYTES","shape":[1],)"
                    R"("parameters":{"binary_data_size":)" +
                    std::to_string(bytes.size()) + "}}]}";
  return post_text("/v2/models/ocr/infer", json + bytes,
                   "Inference-Header-Content-Length: " + std::to_string(json.size()) + "\r\n");
}

Response read(Client& client, const std::string& file) {
  client.send(request_of(file));
  return client.receive().value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ocr, *boost::unit_test::precondition(has_models))

BOOST_AUTO_TEST_CASE(lines_boxes_and_confidences) {
  Rig rig({});
  add_ocr(rig.folder, "ocr", R"(, "lanes": 2)");
  rig.look();
  const auto file = png_of(page_with({"The quick brown fox", "jumps over 13 lazy dogs"}));
  std::list<Client> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(rig.port()).send(request_of(file));
  for (auto& client : clients) {
    const auto response = client.receive().value();
    BOOST_TEST_REQUIRE(response.status == 200, response.body);
    const auto outputs = boost::json::parse(response.body).at("outputs");
    BOOST_TEST(outputs.at(0).at("data") ==
               boost::json::parse(R"(["The quick brown fox","jumps over 13 lazy dogs"])"));
    BOOST_TEST(outputs.at(1).at("shape") == boost::json::parse("[2,4,2]"));
    // The second line stands about 100 pixels below the first.
    const auto y = [&](std::size_t line) {
      return outputs.at(1).at("data").at(line * 8 + 1).to_number<double>();
    };
    BOOST_TEST(std::abs(y(1) - y(0) - 100) < 20);
    BOOST_TEST(outputs.at(2).at("data").at(1).to_number<double>() > 0.8);
  }
  const auto blank = read(clients.front(), png_of(page_with({})));
  BOOST_TEST(blank.body.find(R"("name":"text","datatype":"BYTES","shape":[0],"data":[])") !=
                 std::string::npos,
             blank.body);
}

BOOST_AUTO_TEST_CASE(pictures_that_mean_harm) {
  Rig rig({});
  add_ocr(rig.folder, "ocr", R"(, "parameters": {"pixels": 1000000})");
  rig.look();
  Client client(rig.port());
  const auto error = [&](const std::string& file) {
    const auto response = read(client, file);
    return std::to_string(response.status) + " " + response.body;
  };
  const std::string begin = "400 {\"error\":\"model 'ocr', request: input 'picture': ";
  const auto file = png_of(page_with({"whole"}));
  BOOST_TEST(error("") == begin + "expected a PNG or JPEG file, got 0 bytes of something else\"}");
  BOOST_TEST(error("GIF89a").find(begin) == 0U);
  BOOST_TEST(error(file.substr(0, file.size() / 2)).find(begin + "it is damaged or cut off") == 0U,
             error(file.substr(0, file.size() / 2)));
  BOOST_TEST(error(file.substr(0, 8)).find(begin + "it cannot be decoded") == 0U);
  BOOST_TEST(error(png_of(cv::Mat(1001, 1000, CV_8UC3, cv::Scalar()))) ==
             begin + "it has more than 1000000 pixels\"}");
  auto huge = file;
  huge[16] = huge[20] = '\x7f';  // in the header: some 2^31 pixels wide and high
  BOOST_TEST(error(huge).find("more than 1000000 pixels") != std::string::npos, error(huge));
  BOOST_TEST(
      error(jpeg_of_many_scans()).find(begin + "it cannot be decoded (more than 100 scans)\"}") ==
          0U,
      error(jpeg_of_many_scans()));
  BOOST_TEST(error("\xff\xd8\xff").find(begin) == 0U);
  BOOST_TEST(error(png_of(cv::Mat(1, 1, CV_8UC3, cv::Scalar()))).find("200 ") == 0U);
  BOOST_TEST(error(png_of(cv::Mat(1, 20'000, CV_8UC3, cv::Scalar()))).find("200 ") == 0U);
  BOOST_TEST(error(png_of(cv::Mat(20'000, 1, CV_8UC3, cv::Scalar()))).find("200 ") == 0U);
  BOOST_TEST(read(client, file).body.find("whole") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(memory_for_other_sizes_is_found) {
  Rig rig({});
  add_ocr(rig.folder, "ocr", R"(, "memory_limit": 120000000)");
  rig.look();
  Client client(rig.port());
  for (const std::size_t lines : {1, 2, 3, 4, 5, 6, 7}) {
    const auto response =
        read(client, png_of(page_with(std::vector<std::string>(lines, "some words"))));
    BOOST_TEST(response.status == 200, response.body);
  }
}

BOOST_AUTO_TEST_CASE(broken_models_never_serve) {
  Rig rig({});
  add_ocr(rig.folder, "ocr");
  rig.folder.remove("ocr/ppocr_keys_v1.txt");
  rig.look();
  Client client(rig.port());
  BOOST_TEST(read(client, "").body.find("ppocr_keys_v1.txt': there is no such file") !=
             std::string::npos);
  rig.folder.write("ocr/ppocr_keys_v1.txt", "a\nb\n");
  rig.look();
  const auto response = read(client, "");
  BOOST_TEST(response.status == 503);
  BOOST_TEST(response.body.find("the recognizer model") != std::string::npos, response.body);
}

BOOST_AUTO_TEST_CASE(a_deadline_ends_it) {
  Rig rig({});
  add_ocr(rig.folder, "ocr");
  rig.look();
  const auto file = png_of(page_with(std::vector<std::string>(12, "many words in a long line")));
  Client client(rig.port());
  client.send(request_of(file, R"("parameters":{"timeout":1000},)"));
  BOOST_TEST(client.receive().value().status == 504);
  until([&] { return rig.model("ocr")->in_flight() == 0; });
  BOOST_TEST(read(client, file).status == 200);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace polychron::server::tests
