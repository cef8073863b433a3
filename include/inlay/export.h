// Marks what libinlay.so exports; everything else in it is hidden.
#pragma once
#define INLAY_API __attribute__((visibility("default")))
