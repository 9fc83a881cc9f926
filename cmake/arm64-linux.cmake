# Builds for 64-bit ARM on another Debian machine, and runs the programs with qemu. Used by the preset arm64. Needed are
# g++-aarch64-linux-gnu, qemu-user-static, and the libraries of the architecture arm64, as tests/arm64.sh installs them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
