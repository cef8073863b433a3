// Counts in closed form: how a kernel says what it asks of memory. Walks where edges follow a pattern; elsewhere the
// requests of a few blocks one by one, counted for all that are like them.
#pragma once
#include <inlay/planner/repeats.h>
#include <inlay/planner/requests.h>
#include <inlay/planner/traffic.h>
#include <inlay/planner/walk.h>
