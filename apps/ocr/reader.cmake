# The library polychron_ocr, page_reader.hpp, for this example and for the server. Sets OCR_MISSING to what it
# lacks; then there is no library.
set(ocr_folder ${CMAKE_CURRENT_LIST_DIR})
# Debian's packages of single OpenCV modules bring no CMake configuration.
find_path(OPENCV_INCLUDE_DIR opencv2/imgproc.hpp PATH_SUFFIXES opencv4)
find_library(OPENCV_core_LIBRARY opencv_core)
find_library(OPENCV_imgproc_LIBRARY opencv_imgproc)
# The formats of pictures: see picture_formats.hpp. libwebp's package brings no CMake configuration.
find_package(PNG)
find_package(JPEG)
find_package(TIFF)
find_path(WEBP_INCLUDE_DIR webp/decode.h)
find_library(WEBP_LIBRARY webp)
set(OCR_MISSING)
foreach(part OPENCV_INCLUDE_DIR OPENCV_core_LIBRARY OPENCV_imgproc_LIBRARY PNG_FOUND JPEG_FOUND TIFF_FOUND
    WEBP_INCLUDE_DIR WEBP_LIBRARY)
  if(NOT ${part})
    list(APPEND OCR_MISSING ${part})
  endif()
endforeach()
if(OCR_MISSING)
  return()
endif()

add_library(polychron_picture_libraries INTERFACE)
target_include_directories(polychron_picture_libraries SYSTEM INTERFACE ${WEBP_INCLUDE_DIR})
target_link_libraries(polychron_picture_libraries
  INTERFACE PNG::PNG JPEG::JPEG TIFF::TIFF ${WEBP_LIBRARY})

file(GLOB ocr_sources CONFIGURE_DEPENDS ${ocr_folder}/*.cpp)
list(REMOVE_ITEM ocr_sources ${ocr_folder}/main.cpp ${ocr_folder}/output.cpp)
add_library(polychron_ocr STATIC ${ocr_sources})
target_include_directories(polychron_ocr PUBLIC ${ocr_folder}/../..)
target_include_directories(polychron_ocr SYSTEM PUBLIC ${OPENCV_INCLUDE_DIR})
target_link_libraries(polychron_ocr PUBLIC polychron::polychron polychron::onnx ${OPENCV_core_LIBRARY}
  ${OPENCV_imgproc_LIBRARY} PRIVATE polychron_picture_libraries)
