// The signal's handler does nothing but what a handler may.
#include <harness/interrupt.h>
#include <signal.h>
#include <unistd.h>

namespace harness {

namespace {

volatile sig_atomic_t g_interrupted = 0;

void on_interrupt(int) {
  g_interrupted = 1;
  constexpr char kText[] = "\nthe kernel that runs is finished first; Ctrl-C again ends at once\n";
  if (write(STDERR_FILENO, kText, sizeof(kText) - 1) < 0) return;  // nobody reads it
}

}  // namespace

void catch_interrupt() {
  // A stack of its own: emulated threads have small ones.
  static char stack_memory[1 << 16];
  stack_t stack = {};
  stack.ss_sp = stack_memory;
  stack.ss_size = sizeof(stack_memory);
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND | SA_RESTART;
  struct sigaction before = {};
  sigaction(SIGINT, nullptr, &before);
  if (before.sa_handler != SIG_DFL || sigaltstack(&stack, nullptr) != 0) return;
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return g_interrupted != 0; }

}  // namespace harness
