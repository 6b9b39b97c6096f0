#include <cstdio>
struct uint3 { unsigned x,y,z; };
extern THREAD uint3 idx;
template <int N> __attribute__((noinline)) unsigned k(){ if (idx.x == 0) printf("zero\n"); return idx.y+N; }
int main(){ return k<0>(); }
