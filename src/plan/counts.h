// Counts in closed form: how a kernel says what it asks of memory. Walks where edges follow a pattern; elsewhere the
// requests of a few blocks one by one, counted for all that are like them.
#pragma once
#include <inlay/plan/repeats.h>
#include <inlay/plan/requests.h>
#include <inlay/plan/traffic.h>
#include <inlay/plan/walk.h>
