# Sets HAVE_CUDA: whether there is a CUDA toolkit that can build the kernels. Where there is none,
# or none that will do, no_gpu_part.txt in the build folder says why, in one sentence, and what runs
# on the CPU is built all the same.
set(CUDA_NEEDED 12.5)  # cudaGetDriverEntryPointByVersion

# Sets `reason` to why the toolkit of this machine cannot build the GPU part; leaves it if it can.
# A macro: languages are enabled for the scope that enables them.
macro(find_cuda reason)
  set(nvcc ${CMAKE_CUDA_COMPILER})
  if(NOT nvcc AND NOT "$ENV{CUDACXX}" STREQUAL "")
    get_filename_component(nvcc "$ENV{CUDACXX}" PROGRAM)
  elseif(NOT nvcc)
    find_program(nvcc nvcc NO_CACHE
      PATHS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
  endif()
  set(version_text "")
  if(nvcc)
    execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE version_text ERROR_QUIET)
  endif()
  # enable_language ends in an error where it fails, so that all is tried before.
  if(NOT nvcc AND NOT "$ENV{CUDACXX}" STREQUAL "")
    set(${reason} "CUDACXX is $ENV{CUDACXX}, and there is no such program")
  elseif(NOT nvcc)
    string(CONCAT ${reason} "nvcc was not found: install the CUDA toolkit (${CUDA_NEEDED} or newer), "
      "or set CUDACXX to its nvcc")
  elseif(NOT version_text MATCHES "release ([0-9.]+)")
    set(${reason} "${nvcc} does not work: it tells no version")
  elseif(CMAKE_MATCH_1 VERSION_LESS CUDA_NEEDED)
    string(CONCAT ${reason} "${nvcc} is of CUDA ${CMAKE_MATCH_1}, which is too old: "
      "install ${CUDA_NEEDED} or newer")
  else()
    if(NOT "${NVCC_THAT_WORKS}" STREQUAL "${nvcc}")
      unset(CMAKE_CUDA_COMPILER)
      unset(CMAKE_CUDA_COMPILER CACHE)
      set(ENV{CUDACXX} "${nvcc}")  # check_language takes settings from the environment alone
      if(CMAKE_CUDA_HOST_COMPILER)
        set(ENV{CUDAHOSTCXX} "${CMAKE_CUDA_HOST_COMPILER}")
      endif()
      if(CMAKE_CUDA_FLAGS)
        set(ENV{CUDAFLAGS} "${CMAKE_CUDA_FLAGS}")
      endif()
      check_language(CUDA)
    endif()
    if(NOT CMAKE_CUDA_COMPILER)
      set(${reason} "${nvcc} does not work: see CMakeFiles/CMakeError.log in ${CMAKE_BINARY_DIR}")
    else()
      set(NVCC_THAT_WORKS "${CMAKE_CUDA_COMPILER}" CACHE INTERNAL "The one tried last")
      enable_language(CUDA)
      find_package(CUDAToolkit QUIET)
      if(NOT TARGET CUDA::cublas OR NOT TARGET CUDA::cublasLt)
        string(CONCAT ${reason} "the CUDA toolkit of ${nvcc} has no cuBLAS: install it, "
          "the versions are measured against it")
      endif()
    endif()
  endif()
endmacro()

set(no_gpu_part "")
if(PROJECT_IS_TOP_LEVEL)
  unset(ENV{CUDAARCHS})
  if(DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT CMAKE_CUDA_ARCHITECTURES STREQUAL "90a-real")
    message(FATAL_ERROR
      "CMAKE_CUDA_ARCHITECTURES is '${CMAKE_CUDA_ARCHITECTURES}'; these kernels use instructions "
      "of sm_90a alone (wgmma): set it to 90a-real, or delete the build folder and leave it unset.")
  endif()
endif()
# wgmma and setmaxnreg exist for sm_90a alone, whatever an outer project compiles for. (A variable
# of this folder, not of the cache: what stands outside keeps its own.)
set(CMAKE_CUDA_ARCHITECTURES 90a-real)
set(CMAKE_CUDA_STANDARD 17)

if(NOT PROJECT_IS_TOP_LEVEL)
  # A language is enabled by the outermost project that has targets in it.
  if(NOT CMAKE_CUDA_COMPILER_LOADED)
    string(CONCAT no_gpu_part "CUDA is not enabled: "
      "put it into project(… LANGUAGES CXX CUDA) before this project is added")
  elseif(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS CUDA_NEEDED)
    string(CONCAT no_gpu_part "CUDA ${CMAKE_CUDA_COMPILER_VERSION} is too old: "
      "install ${CUDA_NEEDED} or newer")
  endif()
elseif(GPU_PART)
  include(CheckLanguage)
  find_cuda(no_gpu_part)
else()
  set(no_gpu_part "GPU_PART is OFF")
endif()

if(no_gpu_part STREQUAL "")
  set(HAVE_CUDA ON)
else()
  set(HAVE_CUDA OFF)
  message(STATUS "Only what runs on the CPU is built: ${no_gpu_part}")
endif()
file(WRITE ${PROJECT_BINARY_DIR}/no_gpu_part.txt "${no_gpu_part}")
