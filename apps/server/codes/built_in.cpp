#include "codes/built_in.hpp"

#ifdef POLYCHRON_SERVER_OCR
#include "codes/ocr.hpp"
#endif

namespace polychron::server {

EngineMakers built_in_engines() {
#ifdef POLYCHRON_SERVER_OCR
  return {{"ocr", load_ocr}};
#else
  return {{"ocr", [](const EngineOrigin&, const EngineHost&) -> std::shared_ptr<Engine> {
             throw Error(ErrorKind::not_supported,
                         "this server was built without 'ocr': OpenCV or a library of pictures was "
                         "not there");
           }}};
#endif
}

}  // namespace polychron::server
