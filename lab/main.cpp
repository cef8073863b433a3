#include "run.h"

int main(int argc, char** argv) { return inlay::lab::run(argc, argv); }
