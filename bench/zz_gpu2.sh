mkdir -p build/c/bin; tar -C build/c/bin -xJf build/carry/bins.tar.xz
export LD_LIBRARY_PATH=$PWD/build/c/bin:/usr/local/cuda/lib64
timeout 60 build/c/bin/epilogues
