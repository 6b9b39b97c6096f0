// Ctrl-C where a run may take minutes and what it has found so far is worth having.
#pragma once

namespace harness {

// From now on the first Ctrl-C only sets interrupted(), and says that it waits; the second ends the
// program as ever.
void catch_interrupt();
bool interrupted();

}  // namespace harness
