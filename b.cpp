struct uint3 { unsigned x,y,z; };
THREAD uint3 idx;
